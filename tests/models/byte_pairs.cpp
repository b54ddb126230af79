#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/models/byte_pairs.hpp>
#include <croquis/random/key.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "support/capture.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

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

const std::string kLower = "\u2581";  // Llama 2's blank

// As that of Llama 2, with few words: <unk>, <s>, </s>, the bytes, characters, and what merges make of them.
struct SmallLlama {
  Words vocabulary = {"<unk>", "<s>", "</s>"};
  Words merges = {kLower + " t", "h e", kLower + "t he", "e r", "t h", "th e", "e e", "a a", "aa aa", kLower + " a"};

  SmallLlama() {
    for (unsigned byte = 0; byte < 256; ++byte) vocabulary.push_back(fmt::format("<0x{:02X}>", byte));
    for (const std::string& character : {kLower, std::string("t"), std::string("h"), std::string("e"), std::string("r"),
                                         std::string("a"), std::string("\u00e9")}) {
      vocabulary.push_back(character);
    }
    for (const std::string& merge : merges) {
      const std::size_t blank = merge.find(' ');
      vocabulary.push_back(merge.substr(0, blank) + merge.substr(blank + 1));
    }
  }

  std::string file(const std::string& normalised = "false") const {
    return file_of(
        vocabulary, merges,
        fmt::format(R"x(,"normalizer":{{"type":"Sequence","normalizers":[{{"type":"Prepend","prepend":"{0}"}},)x"
                    R"x({{"type":"Replace","pattern":{{"String":" "}},"content":"{0}"}}]}},)x"
                    R"x("pre_tokenizer":null,"decoder":{{"type":"Sequence","decoders":[]}},)x"
                    R"x("added_tokens":[{{"id":0,"content":"<unk>","special":true,"normalized":{1}}},)x"
                    R"x({{"id":1,"content":"<s>","special":true,"normalized":{1}}},)x"
                    R"x({{"id":2,"content":"</s>","special":true,"normalized":{1}}}],)x"
                    R"x("post_processor":{{"type":"TemplateProcessing","single":[{{"SpecialToken":)x"
                    R"x({{"id":"<s>"}}}},{{"Sequence":{{"id":"A"}}}}]}})x",
                    kLower, normalised),
        R"(,"unk_token":"<unk>","fuse_unk":true,"byte_fallback":true)");
  }

  std::uint32_t id(const std::string& token) const {
    for (std::uint32_t i = 0; i < vocabulary.size(); ++i) {
      if (vocabulary[i] == token) return i;
    }
    FAIL("no token " << token);
    return 0;
  }

  // From the definition: the text with its blanks replaced, in numbers; then again and again the pair whose merge
  // stands first, by looking through all merges and all places.
  TokenIds encoded(const std::string& text) const {
    if (text.empty()) return {};
    TokenIds ids = {id(kLower)};
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t bytes = static_cast<unsigned char>(text[i]) < 0x80   ? 1
                                : static_cast<unsigned char>(text[i]) < 0xe0 ? 2
                                : static_cast<unsigned char>(text[i]) < 0xf0 ? 3
                                                                             : 4;
      const std::string character = text[i] == ' ' ? kLower : text.substr(i, bytes);
      if (std::find(vocabulary.begin() + 259, vocabulary.end(), character) != vocabulary.end()) {
        ids.push_back(id(character));
      } else {
        for (std::size_t b = i; b < i + bytes; ++b) ids.push_back(3 + static_cast<unsigned char>(text[b]));
      }
      i += bytes;
    }
    for (bool merged = true; merged;) {
      merged = false;
      for (const std::string& merge : merges) {
        const std::size_t blank = merge.find(' ');
        const std::uint32_t left = id(merge.substr(0, blank)), right = id(merge.substr(blank + 1));
        for (std::size_t i = 0; !merged && i + 1 < ids.size(); ++i) {
          if (ids[i] != left || ids[i + 1] != right) continue;
          ids[i] = id(merge.substr(0, blank) + merge.substr(blank + 1));
          ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
          merged = true;
        }
        if (merged) break;
      }
    }
    return ids;
  }
};

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
}

TEST_CASE("byte pairs: an expression that Oniguruma and PCRE2 may read in two ways is refused") {
  const auto reading = [](const std::string& expression) {
    std::string quoted;
    for (const char c : expression) quoted += c == '\\' ? std::string(2, c) : std::string(1, c);
    return refusal([&] {
      tokenizer_of(file_of(
          {"a"}, {},
          R"(,"pre_tokenizer":{"type":"Split","behavior":"Isolated","pattern":{"Regex":")" + quoted + R"("}})"));
    });
  };
  for (const char* expression : {R"(^a)",
                                 R"(a$)",
                                 R"(\w+)",
                                 R"(\W)",
                                 R"(\bx)",
                                 R"(a\B)",
                                 R"(\h)",
                                 R"([\H])",
                                 R"(\v)",
                                 R"(\R)",
                                 R"((?m:.))",
                                 R"((?s:.))",
                                 R"((?x: a))",
                                 R"(a(?i)b|c)",
                                 R"([a-z&&[aeiou]])",
                                 R"([^(\s|[.,!?])]+)",
                                 R"([[:alpha:]]+)",
                                 R"(\p{Han})",
                                 R"(\p{N}{1,3}+)",
                                 R"(a{,2})",
                                 R"((a)\1)",
                                 R"((?<name>a))",
                                 R"((*F)|a)",
                                 R"(\Qa\E)"}) {
    CAPTURE(expression);
    CHECK_MESSAGE(contains(reading(expression), "which is not read: what begins at character "), reading(expression));
  }
  CHECK(contains(reading(R"(ab\wc)"), "what begins at character 3 may mean something else in Oniguruma"));
  // Of GPT-2, Qwen 2, GPT-4o in part, and of SMILES. Llama 3's has a test of its own.
  for (
      const char* expression :
      {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
       R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
       R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t)?|\p{N}{1,3}|\s+)",
       R"((\[[^\]]+]|Br?|Cl?|\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>|\*|\$|\%[0-9]{2}|[0-9]))",
       R"([^\r\n]?+\p{L}++|(?<=a)[\^$&]|(?>a|b)*?|\x{4e2d})"}) {
    CAPTURE(expression);
    CHECK(reading(expression) == "nothing was thrown");
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
  CHECK(tokenizer.special() == std::set<std::uint32_t>{5});  // [CLS] and [SEP] are not said to be special
  CHECK(tokenizer.size() == 9);
  const std::string removed =
      R"(,"pre_tokenizer":{"type":"Split","pattern":{"String":" "},"behavior":"Removed","invert":false})";
  CHECK(tokenizer_of(file_of({"a", "b", "ab"}, {"a b"}, removed)).encode("ab  a b") == TokenIds{2, 0, 1});
}

TEST_CASE("byte pairs: a split cuts at empty matches, and takes nothing away there") {
  const auto split = [](const std::string& expression, const std::string& behaviour) {
    return R"(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":")" + expression + R"("},"behavior":")" + behaviour +
           R"("})";
  };
  const Words words = {"1", "2", "12", "a"};
  for (const std::string behaviour : {"Isolated", "Removed"}) {
    // Thousands, counted from the right: 1|212 and 1|121|212.
    const BytePairTokenizer thousands =
        tokenizer_of(file_of(words, {"1 2"}, split(R"((?=(\\d{3})+(?!\\d)))", behaviour)));
    CHECK(thousands.encode("1212") == TokenIds{0, 1, 2});
    CHECK(thousands.encode("1121212a") == TokenIds{0, 2, 0, 1, 2, 3});
    const BytePairTokenizer digits = tokenizer_of(file_of(words, {"1 2"}, split(R"((?<=\\d)(?=\\d))", behaviour)));
    CHECK(digits.encode("12a12") == TokenIds{0, 1, 3, 0, 1});
  }
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

TEST_CASE("byte pairs: a tokenizer as Llama 2's: blanks replaced, whole texts for words, bytes of unknown characters") {
  const SmallLlama llama;
  const BytePairTokenizer tokenizer = tokenizer_of(llama.file());
  CHECK(tokenizer.before() == TokenIds{1});
  CHECK(tokenizer.after().empty());
  CHECK(tokenizer.special() == std::set<std::uint32_t>{0, 1, 2});
  CHECK(tokenizer.size() == llama.vocabulary.size());
  // By hand, ids 259 to 265 being the characters and 266 to 275 the merges: "_the" is _t, he, _the; then "re".
  CHECK(tokenizer.encode("there") == TokenIds{268, 263, 262});
  CHECK(tokenizer.encode("the the") == TokenIds{268, 268});
  CHECK(tokenizer.encode("z\n") == TokenIds{259, 3 + 'z', 3 + '\n'});
  CHECK(tokenizer.encode("\u00e9\u20ac") == TokenIds{259, 265, 3 + 0xe2, 3 + 0x82, 3 + 0xac});
  CHECK(tokenizer.encode("  ") == TokenIds{259, 259, 259});
  CHECK(tokenizer.encode("").empty());
  // What stands between added tokens is a text of its own.
  CHECK(tokenizer.encode("the</s>the<s>") == TokenIds{268, 2, 268, 1});
  // Texts of all of these, with runs of one pair.
  croquis::Engine engine = croquis::Key(test_seed()).child("llama").engine();
  const Words parts = {"t", "h", "e", "r", "a", "aa", " ", "the", "\u00e9", "\u20ac", "\U0001f600", "z"};
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (std::size_t length = engine() % 60; length > 0; --length) text += parts[engine() % parts.size()];
    CAPTURE(text);
    CHECK(tokenizer.encode(text) == llama.encoded(text));
  }
  // Older files have their tokens after the normalizers, which put a blank before them.
  const BytePairTokenizer old = tokenizer_of(llama.file("true"));
  CHECK(old.encode("<s> the") == TokenIds{1, 268});
  CHECK(old.encode("the </s>") == TokenIds{268, 2});
  CHECK(old.before() == TokenIds{1});
}

TEST_CASE("byte pairs: a long text without words takes a moment") {
  const BytePairTokenizer tokenizer = tokenizer_of(SmallLlama().file());
  CHECK(tokenizer.encode(std::string(200'000, 'a')).size() == 50'001);  // four at a time, behind the blank
}

TEST_CASE("byte pairs: unknown characters in a row are one token where the file says so") {
  for (const bool fused : {false, true}) {
    const BytePairTokenizer tokenizer =
        tokenizer_of(file_of({"a", "?"}, {}, "", fmt::format(R"(,"unk_token":"?","fuse_unk":{})", fused)));
    CHECK(tokenizer.encode("xyaz") == (fused ? TokenIds{1, 0, 1} : TokenIds{1, 1, 0, 1}));
  }
}

TEST_CASE("byte pairs: an expression that never ends is refused, and a long text is no danger") {
  const auto split = [](const std::string& expression) {
    return R"(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":")" + expression + R"("},"behavior":"Isolated"})";
  };
  const std::string many(1'000'000, 'a');
  const BytePairTokenizer greedy = tokenizer_of(file_of({"a", "b"}, {}, split("(?:a|b)")));
  CHECK(greedy.encode(many).size() == many.size());
  const BytePairTokenizer endless = tokenizer_of(file_of({"a", "b"}, {}, split("(a+)+(?:c|d)")));
  const std::string message = refusal([&] { endless.encode(fmt::format("{}b", std::string(60, 'a'))); });
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
  const auto table_of = [](const std::string& table) {
    return R"(,"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"a"}}],)"
           R"("special_tokens":)" +
           table + "}";
  };
  CHECK(tokenizer_of(with(table_of(R"({"a":{"id":"a","ids":[0],"tokens":["a"]},"b":{"ids":[7,8]}})"))).before() ==
        TokenIds{0});
  CHECK(tokenizer_of(with(table_of("{}"))).before() == TokenIds{0});
  const std::pair<std::string, std::string> wrong[] = {
      {"[]", "is no tokenizer.json"},
      {"{}", "has no model"},
      {R"({"model":{"type":"Unigram","vocab":[]}})", "model is 'Unigram'; BPE is read"},
      {R"({"model":{"type":"BPE","merges":[]}})", "has no vocab of ids by token"},
      {R"({"model":{"type":"BPE","vocab":{"a":0}}})", "has no list of merges"},
      {R"({"model":{"type":"BPE","vocab":{"a":-1},"merges":[]}})", "has the id -1"},
      {R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["ab"]}})", "has the merge \"ab\"; pairs are read"},
      {R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["a b c"]}})", "has the merge \"a b c\"; pairs are read"},
      {with("", R"(,"byte_fallback":true)"), "byte_fallback is true, and there is no token <0x00>"},
      {with("", R"(,"fuse_unk":1)"), "fuse_unk is 1; true or false is read"},
      {with("", R"(,"continuing_subword_prefix":"##")"), "continuing_subword_prefix is \"##\"; none is read"},
      {with("", R"(,"dropout":0.1)"), "dropout is not 0"},
      {with(R"(,"normalizer":{"type":"NFC"})"), "normalizer is 'NFC'; Prepend, Replace and a Sequence"},
      {with(R"(,"normalizer":{"type":"Sequence","normalizers":[{"type":"Precompiled"}]})"),
       "normalizer is 'Precompiled'"},
      {with(R"(,"normalizer":{"type":"Prepend"})"), "has no text 'prepend'"},
      {with(R"(,"normalizer":{"type":"Replace","pattern":{"Regex":" +"},"content":"_"})"),
       "the pattern of the normalizer Replace is no String"},
      {with(R"(,"normalizer":{"type":"Replace","pattern":{"String":""},"content":"_"})"),
       "the pattern of the normalizer Replace is empty"},
      {with(R"(,"pre_tokenizer":{"type":"Metaspace"})"),
       "pre_tokenizer is 'Metaspace'; ByteLevel, Split and a Sequence"},
      {with(R"(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"a\\C"},"behavior":"Isolated"})"),
       "the pattern of Split is 'a\\C', which is not read: what begins at character 2"},
      {with(R"x(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"("},"behavior":"Isolated"})x"),
       "the pattern of Split is '(', which is not read: missing closing parenthesis"},
      {with(R"(,"pre_tokenizer":{"type":"Split","pattern":{"String":" "},"behavior":"MergedWithNext"})"),
       "behavior of Split is 'MergedWithNext'"},
      {with(R"(,"post_processor":{"type":"BertProcessing"})"), "post_processor is 'BertProcessing'"},
      {with(R"(,"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}}]})"),
       "has the token '<s>', which is not in the vocabulary"},
      {with(table_of(R"([])")), "special_tokens of TemplateProcessing is []; a table is read"},
      {with(table_of(R"({"a":{"id":"a","ids":[0,0],"tokens":["a","a"]}})")),
       "special_tokens of TemplateProcessing has the ids [0,0] of 'a'; [0] of the vocabulary is read"},
      {with(table_of(R"({"a":{"id":"a","ids":[1],"tokens":["b"]}})")),
       "special_tokens of TemplateProcessing has the ids [1] of 'a'; [0] of the vocabulary is read"},
      {with(table_of(R"({"a":{"id":"a","ids":[]}})")), "has the ids [] of 'a'"},
      {with(table_of(R"({"a":{"id":"a"}})")), "has the ids null of 'a'"},
      {with(table_of(R"({"a":0})")), "has the ids null of 'a'"},
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
