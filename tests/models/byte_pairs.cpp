#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/models/byte_pairs.hpp>

#include <string>
#include <vector>

#include "support/capture.hpp"
#include "support/refusal.hpp"

using namespace croquis;

namespace {

using Words = std::vector<std::string>;

// A tokenizer.json with these entries; ids of the vocabulary in the order given.
std::string file_of(const Words& vocabulary, const Words& merges, const std::string& rest,
                    const std::string& model = "") {
  const auto quoted = [](const std::string& text) {
    std::string all = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') all += '\\';
      all += c;
    }
    all += '"';
    return all;
  };
  std::string ids, pairs;
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    if (i > 0) ids += ',';
    ids += fmt::format("{}:{}", quoted(vocabulary[i]), i);
  }
  for (const std::string& merge : merges) {
    if (!pairs.empty()) pairs += ',';
    pairs += quoted(merge);
  }
  return fmt::format(R"({{"model":{{"type":"BPE","vocab":{{{}}},"merges":[{}]{}}}{}}})", ids, pairs, model, rest);
}

const std::string kByteLevel = R"(,"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true})";

BytePairTokenizer tokenizer_of(const std::string& bytes) {
  return {bytes, "tokenizer.json"};
}

}  // namespace

TEST_CASE("byte pairs: GPT-2's pattern divides as its regular expression does") {
  const std::pair<std::string, Words> cases[] = {
      {"", {}},
      {"Hello world", {"Hello", " world"}},
      {"I'm here, we'll see", {"I", "'m", " here", ",", " we", "'ll", " see"}},
      {"can't 'sun", {"can", "'t", " '", "sun"}},  // " '" is punctuation with its space, taken before 's
      {"a  b", {"a", " ", " b"}},
      {"a   ", {"a", "   "}},
      {"a\n\n b", {"a", "\n\n", " b"}},
      {"a\nb", {"a", "\n", "b"}},
      {" \tb", {" ", "\t", "b"}},
      {"x12 34y", {"x", "12", " 34", "y"}},
      {"na\xc3\xafve \xe4\xb8\xad\xe6\x96\x87!?", {"na\xc3\xafve", " \xe4\xb8\xad\xe6\x96\x87", "!?"}},
      {"\xff\xfe", {"\xff\xfe"}},
  };
  for (const auto& [text, words] : cases) {
    CAPTURE_BINDING(text);
    CHECK(gpt2_words(text) == words);
  }
}

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

TEST_CASE("byte pairs: bytes have GPT-2's alphabet") {
  // U+0120 is a space, U+010A a line's end, U+00C3 U+00AF the two bytes of an i with diaeresis, U+0143 byte 173.
  const BytePairTokenizer tokenizer =
      tokenizer_of(file_of({"\xc4\xa0", "\xc4\x8a", "\xc3\x83", "\xc2\xaf", "\xc5\x83", "\xc3\x82"}, {}, kByteLevel));
  CHECK(tokenizer.encode(" \n") == TokenIds{0, 1});
  CHECK(tokenizer.encode("\xc3\xaf") == TokenIds{2, 3});
  CHECK(tokenizer.encode("\xc2\xad") == TokenIds{5, 4});
  CHECK(contains(refusal([&] { tokenizer.encode("x"); }), "has no token for 'x' of the text, and no unk_token"));
}

TEST_CASE("byte pairs: splits of a regular expression, added tokens, templates, unknown characters") {
  const std::string smiles =
      R"x(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(\\[[^\\]]+]|Br?|Cl?|C|c|O|=|\\(|\\))"},)x"
      R"x("behavior":"Isolated","invert":false},"added_tokens":[{"id":7,"content":"[CLS]"},{"id":8,"content":"[SEP]"}],)x"
      R"x("post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"[CLS]"}},)x"
      R"x({"Sequence":{"id":"A"}},{"SpecialToken":{"id":"[SEP]"}}]})x";
  const BytePairTokenizer tokenizer =
      tokenizer_of(file_of({"C", "l", "Cl", "O", "[", "?", "="}, {"C l", "C O"}, smiles, R"(,"unk_token":"?")"));
  CHECK(tokenizer.encode("ClCO=C") == TokenIds{2, 0, 3, 6, 0});  // C O is not merged: another word
  CHECK(tokenizer.encode("C[CLS]l") == TokenIds{0, 7, 1});
  CHECK(tokenizer.encode("CzC") == TokenIds{0, 5, 0});
  CHECK(tokenizer.before() == TokenIds{7});
  CHECK(tokenizer.after() == TokenIds{8});
  CHECK(tokenizer.size() == 9);
  const std::string removed =
      R"(,"pre_tokenizer":{"type":"Split","pattern":{"String":" "},"behavior":"Removed","invert":false})";
  CHECK(tokenizer_of(file_of({"a", "b", "ab"}, {"a b"}, removed)).encode("ab  a b") == TokenIds{2, 0, 1});
}

TEST_CASE("byte pairs: the words of Llama 3's expression, which has properties and flags") {
  const std::string llama3 =
      R"x(,"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":)x"
      R"x("(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|)x"
      R"x(\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},"behavior":"Isolated","invert":false},)x"
      R"x({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}]},)x"
      R"x("post_processor":{"type":"Sequence","processors":[{"type":"ByteLevel","add_prefix_space":true},)x"
      R"x({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"I"}},{"Sequence":{"id":"A"}}]}]})x";
  // Whole words have tokens and there are no merges, so each word must be one of these. In GPT-2's alphabet a blank is
  // \u0120 and a line break \u010a.
  const std::vector<std::string> words = {"I",       "'M",           "\u0120",       "123",
                                          "45",      "\u0120years",  "\u010a\u010a", "\u0120old",
                                          "\u0120(", "\u0120\u0120", "\u00c3\u00a4"};
  const BytePairTokenizer tokenizer = tokenizer_of(file_of(words, {}, llama3, R"(,"ignore_merges":true)"));
  CHECK(tokenizer.encode("I'M 12345 years\n\n old (   old") == TokenIds{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 7});
  CHECK(tokenizer.encode("\xc3\xa4") == TokenIds{10});  // a letter of two bytes
  CHECK(tokenizer.before() == TokenIds{0});
  CHECK(contains(refusal([&] { tokenizer.encode("\xc3"); }), "cannot be applied to this text: UTF-8 error"));
}

TEST_CASE("byte pairs: an expression that never ends is refused, and a long text is no danger") {
  const auto split = [](const std::string& expression) {
    return R"(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":")" + expression + R"("},"behavior":"Isolated"})";
  };
  const std::string many(1'000'000, 'a');
  const BytePairTokenizer greedy = tokenizer_of(file_of({"a", "b"}, {}, split("(?:a|b)")));
  CHECK(greedy.encode(many).size() == many.size());
  const BytePairTokenizer endless = tokenizer_of(file_of({"a", "b"}, {}, split("(a+)+(?:c|d)")));
  const std::string message = refusal([&] { endless.encode(std::string(60, 'a') + "b"); });
  CAPTURE(message);
  CHECK(contains(message, "the pattern of Split cannot be applied to this text: match limit exceeded"));
  // What overflows the stack of a matcher that recurses.
  const BytePairTokenizer deep = tokenizer_of(file_of({"a", "b"}, {}, split("(?:a|b)*c|a")));
  const std::string deep_message = refusal([&] { deep.encode(many); });
  CHECK(contains(deep_message, "limit exceeded"));
}

TEST_CASE("byte pairs: what is not computed is refused by name in one line") {
  const auto with = [](const std::string& rest, const std::string& model = "") {
    return file_of({"a"}, {}, rest, model);
  };
  const std::pair<std::string, std::string> wrong[] = {
      {"[]", "is no tokenizer.json"},
      {"{}", "has no model"},
      {R"({"model":{"type":"Unigram","vocab":[]}})", "model is 'Unigram'; BPE is read"},
      {R"({"model":{"type":"BPE","merges":[]}})", "has no vocab of ids by token"},
      {R"({"model":{"type":"BPE","vocab":{"a":0}}})", "has no list of merges"},
      {R"({"model":{"type":"BPE","vocab":{"a":-1},"merges":[]}})", "has the id -1"},
      {R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["ab"]}})", "has the merge \"ab\"; pairs are read"},
      {with("", R"(,"byte_fallback":true)"), "byte_fallback is true; false is read"},
      {with("", R"(,"continuing_subword_prefix":"##")"), "continuing_subword_prefix is \"##\"; none is read"},
      {with("", R"(,"dropout":0.1)"), "dropout is not 0"},
      {with(R"(,"normalizer":{"type":"NFC"})"), "normalizer is 'NFC'; none is read"},
      {with(R"(,"pre_tokenizer":{"type":"Metaspace"})"),
       "pre_tokenizer is 'Metaspace'; ByteLevel, Split and a Sequence"},
      {with(R"(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"a\\C"},"behavior":"Isolated"})"),
       "the pattern of Split is 'a\\C', no regular expression"},
      {with(R"x(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"("},"behavior":"Isolated"})x"),
       "no regular expression"},
      {with(R"(,"pre_tokenizer":{"type":"Split","pattern":{"String":" "},"behavior":"MergedWithNext"})"),
       "behavior of Split is 'MergedWithNext'"},
      {with(R"(,"post_processor":{"type":"BertProcessing"})"), "post_processor is 'BertProcessing'"},
      {with(R"(,"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}}]})"),
       "has the token '<s>', which is not in the vocabulary"},
      {with(R"(,"added_tokens":[{"id":1,"content":"<s>","lstrip":true}])"), "an added token has lstrip true"},
  };
  for (const auto& [bytes, said] : wrong) {
    CAPTURE_BINDING(bytes);
    const std::string message = refusal([&, &file = bytes] { tokenizer_of(file); });
    CHECK_MESSAGE(contains(message, said), message);
    CHECK(message.starts_with("tokenizer.json: "));
    CHECK(message.find('\n') == std::string::npos);
  }
}
