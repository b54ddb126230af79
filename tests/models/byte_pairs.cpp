// Byte-pair encoding: which pairs are merged, added tokens, and characters that are not in the vocabulary.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/models/byte_pairs.hpp>

#include <string>
#include <vector>

#include "models/tokenizer_json.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

using Words = std::vector<std::string>;

const std::string kByteLevel = R"(,"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true})";

}  // namespace

TEST_CASE("byte pairs: merges go by their rank, not from the left, and stay within words") {
  const BytePairTokenizer tokenizer = tokenizer_of(file_of({"a", "b", "c", "bc", "ab", "\xc4\xa0",
                                                            "\xc4\xa0"
                                                            "a",
                                                            "abc"},
                                                           {"b c", "a b", "\xc4\xa0 a", "ab c"}, kByteLevel));
  CHECK(tokenizer.size() == 8);
  CHECK(tokenizer.encode("abc") == TokenIds{0, 3});  // bc before ab
  CHECK(tokenizer.encode("ab") == TokenIds{4});
  CHECK(tokenizer.encode("ab a") == TokenIds{4, 6});
  CHECK(tokenizer.encode("aab") == TokenIds{0, 4});
  CHECK(tokenizer.encode("bcbc") == TokenIds{3, 3});
  CHECK(tokenizer.id("abc") == 7);
  CHECK(!tokenizer.id("x"));
  // The same merges as lists; a word of the vocabulary as it is where merges are ignored.
  const std::string lists =
      R"({"model":{"type":"BPE","vocab":{"a":0,"b":1,"c":2,"abc":3},"merges":[["a","b"]],"ignore_merges":true}})";
  CHECK(tokenizer_of(lists).encode("abc") == TokenIds{3});
}

TEST_CASE("byte pairs: tokens of merges may have blanks, and a pair that stands there twice has its last rank") {
  // "a " and "b" are a merge, "a" and " b" are none.
  const BytePairTokenizer blanks = tokenizer_of(
      R"({"model":{"type":"BPE","vocab":{"a":0," ":1,"b":2," b":3,"a ":4,"a b":5},"merges":[[" ","b"],["a ","b"]]}})");
  CHECK(blanks.encode("a b") == TokenIds{0, 3});
  const Words words = {"a", "b", "c", "ab", "bc"};
  CHECK(tokenizer_of(file_of(words, {"a b", "b c"}, "")).encode("abc") == TokenIds{3, 2});
  CHECK(tokenizer_of(file_of(words, {"a b", "b c", "a b"}, "")).encode("abc") == TokenIds{0, 4});
}

TEST_CASE("byte pairs: added tokens that are not normalised are searched first, and none is of the vocabulary") {
  // "b" is taken out of the whole text before "ab" is looked for, though "ab" begins earlier.
  const BytePairTokenizer two = tokenizer_of(file_of(
      {"a", "c"}, {},
      R"(,"added_tokens":[{"id":2,"content":"ab","normalized":true},{"id":3,"content":"b","normalized":false}])"));
  CHECK(two.encode("abc") == TokenIds{0, 3, 1});
  // The token b is "_b" in the normalised text; a "b" alone is an unknown character.
  const BytePairTokenizer late = tokenizer_of(file_of({"_", "a", "?"}, {},
                                                      R"(,"normalizer":{"type":"Prepend","prepend":"_"},)"
                                                      R"("added_tokens":[{"id":3,"content":"b","normalized":true}])",
                                                      R"(,"unk_token":"?")"));
  CHECK(late.encode("ab") == TokenIds{0, 1, 2});
  CHECK(late.encode("b") == TokenIds{3});
  CHECK(late.id("b") == 3);
  const BytePairTokenizer gone =
      tokenizer_of(file_of({"a"}, {},
                           R"(,"normalizer":{"type":"Replace","pattern":{"String":"b"},"content":""},)"
                           R"("added_tokens":[{"id":1,"content":"b","normalized":true}])"));
  CHECK(gone.encode("aba") == TokenIds{0, 0});
  // Nothing is put before what is left of "b".
  const BytePairTokenizer empty = tokenizer_of(
      file_of({"a", "_"}, {},
              R"(,"normalizer":{"type":"Sequence","normalizers":[{"type":"Replace","pattern":{"String":"b"},)"
              R"("content":""},{"type":"Prepend","prepend":"_"}]})"));
  CHECK(empty.encode("b").empty());
  CHECK(empty.encode("ba") == TokenIds{1, 0});
}

TEST_CASE("byte pairs: of added tokens the longest is taken, and one that is not special is normalised") {
  const BytePairTokenizer two =
      tokenizer_of(file_of({"a", "b", "c"}, {}, R"(,"added_tokens":[{"id":3,"content":"a"},{"id":4,"content":"ab"}])"));
  CHECK(two.encode("abac") == TokenIds{4, 3, 2});
  CHECK(two.id("a") == 3);  // and not that of the vocabulary
  for (const bool special : {true, false}) {
    const BytePairTokenizer one = tokenizer_of(
        file_of({"a", "_", " "}, {},
                fmt::format(R"(,"normalizer":{{"type":"Replace","pattern":{{"String":" "}},"content":"_"}},)"
                            R"("added_tokens":[{{"id":3,"content":"a a","special":{}}}])",
                            special)));
    CHECK(one.encode("a a") == TokenIds{3});
    CHECK(one.encode("a_a") == (special ? TokenIds{0, 1, 0} : TokenIds{3}));
    CHECK(one.special().contains(3) == special);
  }
}

TEST_CASE("byte pairs: bytes have GPT-2's alphabet") {
  // U+0120 is a space, U+010A a line's end, U+00C3 U+00AF the two bytes of an i with diaeresis, U+0143 byte 173.
  const BytePairTokenizer tokenizer =
      tokenizer_of(file_of({"\xc4\xa0", "\xc4\x8a", "\xc3\x83", "\xc2\xaf", "\xc5\x83", "\xc3\x82"}, {}, kByteLevel));
  CHECK(tokenizer.encode(" \n") == TokenIds{0, 1});
  CHECK(tokenizer.encode("\xc3\xaf") == TokenIds{2, 3});
  CHECK(tokenizer.encode("\xc2\xad") == TokenIds{5, 4});
  CHECK(contains(refusal([&] { tokenizer.encode("x"); }), "has no token for 'x' of the text, and no unk_token"));
}

TEST_CASE("byte pairs: unknown characters in a row are one token where the file says so") {
  for (const bool fused : {false, true}) {
    const BytePairTokenizer tokenizer =
        tokenizer_of(file_of({"a", "?"}, {}, "", fmt::format(R"(,"unk_token":"?","fuse_unk":{})", fused)));
    CHECK(tokenizer.encode("xyaz") == (fused ? TokenIds{1, 0, 1} : TokenIds{1, 1, 0, 1}));
  }
  CHECK(tokenizer_of(file_of({"a", "?"}, {}, "", R"(,"unk_token":"?")")).encode("xy") == TokenIds{1, 1});
}
