// How a text is divided into the words within which byte pairs are merged.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/models/byte_pairs.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/tokenizer_json.hpp"
#include "support/capture.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

using Words = std::vector<std::string>;

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
      // As Python's module regex divides them: contractions, white space, numbers and marks beyond ASCII.
      {"they've 're I'd 'VE", {"they", "'ve", " '", "re", " I", "'d", " '", "VE"}},
      {"a\u0085b", {"a", "\u0085", "b"}},
      {"a\u0085 \u0085b", {"a", "\u0085 ", "\u0085", "b"}},
      {"a\u2028b \u2029", {"a", "\u2028", "b", " \u2029"}},
      {"a \u00a0b", {"a", " ", "\u00a0", "b"}},
      {"a \t b", {"a", " \t", " b"}},
      {"a\x1c!", {"a", "\x1c!"}},  // no white space
      {"!\u2028!\u2029!", {"!", "\u2028", "!", "\u2029", "!"}},
      {"1\u00b2\u0661 \u2167", {"1\u00b2\u0661", " \u2167"}},
      {"x\u00b2 \u00bd\u2167", {"x", "\u00b2", " \u00bd\u2167"}},
      {"e\u0301 \u0301a", {"e", "\u0301", " \u0301", "a"}},
      {"\u02b0a \u01c5", {"\u02b0a", " \u01c5"}},
  };
  for (const auto& [text, words] : cases) {
    CAPTURE_BINDING(text);
    CHECK(gpt2_words(text) == words);
  }
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
  const std::string kept =
      R"(,"pre_tokenizer":{"type":"Split","pattern":{"String":"a"},"behavior":"Removed","invert":true})";
  CHECK(tokenizer_of(file_of({"a", "b"}, {}, kept)).encode("abba") == TokenIds{0, 0});
}

TEST_CASE("byte pairs: ByteLevel puts a blank before a text that has none and divides into words, unless it says not") {
  const Words words = {"a", "\u0120", "\u0120a", "\u0120\u0120a"};
  const auto encoded = [&](const std::string& entries, const std::string& text) {
    return tokenizer_of(file_of(words, {"\u0120 a", "\u0120 \u0120a"},
                                R"(,"pre_tokenizer":{"type":"ByteLevel")" + entries + "}"))
        .encode(text);
  };
  CHECK(encoded("", "a") == TokenIds{2});
  CHECK(encoded("", " a") == TokenIds{2});
  CHECK(encoded("", "  a") == TokenIds{1, 2});
  CHECK(encoded(R"(,"add_prefix_space":false)", "a") == TokenIds{0});
  CHECK(encoded(R"(,"use_regex":false)", "  a") == TokenIds{3});
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
