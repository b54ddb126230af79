#include <doctest/doctest.h>
#include <croquis/models/wordpiece.hpp>

#include <string>
#include <vector>

#include "support/capture.hpp"
#include "support/files.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

using Words = std::vector<std::string>;

std::string lines(const Words& entries) {
  std::string text;
  for (const std::string& entry : entries) text.append(entry).append(1, '\n');
  return text;
}

const Words kCased = {"[PAD]",    "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un",        "##aff",  "##able", "the",
                      "The",      "T",     "##he",  "run",   "##ning", "##n",       "a",      "##a",    "b",
                      ",",        ".",     "!",     "'",     "$",      "caf\u00e9", "\u4e2d", "\u6587", "\u2014",
                      "##\u00e9", "e",     "[",     "]",     "##1",    "1",         "^"};
const Words kUncased = {"[PAD]", "[UNK]",  "[CLS]",    "[SEP]", "[MASK]", "the",    "cafe",   "##s",      "naive",
                        "i",     "\u03c3", "##\u03c3", "o",     "##o",    "\u4e2d", "\u1100", "##\u1161", "resume",
                        "a",     "[",      "]",        "mask",  ";",      "\u00e9", "straße"};

const WordPiece& cased() {
  static const WordPiece vocabulary(lines(kCased), "cased", {});
  return vocabulary;
}
const WordPiece& uncased() {
  static const WordPiece vocabulary(lines(kUncased), "uncased", {.lower_case = true});
  return vocabulary;
}

Words split(const WordPiece& vocabulary, std::string_view text) {
  return vocabulary.tokens(vocabulary.encode(text));
}

std::string utf8(char32_t c) {
  const auto more = [&](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x10000) return {static_cast<char>(0xe0 | c >> 12), more(6), more(0)};  // from U+0800 on
  return {static_cast<char>(0xf0 | c >> 18), more(12), more(6), more(0)};
}

template <std::size_t n>
std::string_view bytes(const char (&text)[n]) {  // with the NUL bytes in it
  return {text, n - 1};
}

}  // namespace

TEST_CASE("wordpiece: words, the longest pieces first, unknown words, cased") {
  const struct {
    std::string_view text;
    Words tokens;
  } cases[] = {
      {"", {}},
      {" \t\r\n\u00a0\u3000\u2028 ", {}},
      {"the", {"the"}},
      {"The the", {"The", "the"}},
      {"THE", {"[UNK]"}},
      {"unaffable", {"un", "##aff", "##able"}},
      {"unaffablex", {"[UNK]"}},  // not "un ##aff ##able [UNK]"
      {"running", {"run", "##ning"}},
      {"runn", {"run", "##n"}},
      {"runni the", {"[UNK]", "the"}},
      {"able", {"[UNK]"}},  // only inside a word
      {"a\u2028a\u00a0a", {"a", "a", "a"}},
      {"caf\u00e9", {"caf\u00e9"}},
      {"cafe\u0301", {"[UNK]"}},  // not composed: cased text is taken as it is
      {"a\u00e9", {"a", "##\u00e9"}},
  };
  for (const auto& [text, tokens] : cases) {
    CAPTURE_BINDING(text);
    CHECK(split(cased(), text) == tokens);
  }
}

TEST_CASE("wordpiece: punctuation, control characters, ideographs, special tokens, bytes that are not UTF-8") {
  const struct {
    std::string_view text;
    Words tokens;
  } cases[] = {
      {"a,b.", {"a", ",", "b", "."}},
      {"a$b^", {"a", "$", "b", "^"}},  // ASCII symbols count as punctuation
      {"a\u2014b", {"a", "\u2014", "b"}},
      {"...", {".", ".", "."}},
      {"a'b", {"a", "'", "b"}},
      {"\u4e2d\u6587", {"\u4e2d", "\u6587"}},
      {"a\u4e2db", {"a", "\u4e2d", "b"}},
      {"\u3042", {"[UNK]"}},          // kana is no ideograph
      {bytes("a\0a"), {"a", "##a"}},  // dropped, not a space
      {bytes("\0"), {}},
      {"a\x01\x7f\u200b\ufeff\ufffd"
       "a",
       {"a", "##a"}},
      {"a\u00ad\ue000"
       "a",
       {"a", "##a"}},  // soft hyphen, private use
      {"a\u0378"
       "a b",
       {"[UNK]", "b"}},  // no character, but a part of a word
      {"a\ufffe"
       "a b",
       {"[UNK]", "b"}},
      {"a\U0002b81f"
       "a",
       {"a", "[UNK]", "a"}},  // an ideograph
      {"a\U0002b820"
       "a",
       {"[UNK]"}},  // no ideograph to the fast tokenizer, to U+2B91F
      {"a\U0002b91f"
       "a",
       {"[UNK]"}},
      {"a\U0002b920"
       "a",
       {"a", "[UNK]", "a"}},
      {"a\x0b"
       "a",
       {"a", "##a"}},  // vertical tab is a control character
      {"a\xff\xc0"
       "a\xe2\x82",
       {"a", "##a"}},
      {"\xed\xa0\x80", {}},  // half a surrogate pair
      {"[MASK]", {"[MASK]"}},
      {"a[MASK]b[SEP][CLS].[PAD][UNK]", {"a", "[MASK]", "b", "[SEP]", "[CLS]", ".", "[PAD]", "[UNK]"}},
      {"[mask]", {"[", "[UNK]", "]"}},
      {"[MASK", {"[", "[UNK]"}},
      {"[a]", {"[", "a", "]"}},
  };
  for (const auto& [text, tokens] : cases) {
    CAPTURE_BINDING(text);
    CHECK(split(cased(), text) == tokens);
  }
}

TEST_CASE("wordpiece: every ASCII mark and every ideograph is a token by itself, to the ends of their blocks") {
  const auto size = [](char32_t c) { return cased().encode("a" + utf8(c) + "a").size(); };
  for (char32_t c = 0x21; c < 0x7f; ++c) {
    const std::uint32_t code = c;
    CAPTURE(code);
    const bool word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!word) CHECK(size(c) == 3);
  }
  const std::pair<char32_t, char32_t> blocks[] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},
                                                  {0x20000, 0x2a6df}, {0x2a700, 0x2b81f}, {0x2b920, 0x2ceaf},
                                                  {0x2f800, 0x2fa1f}};
  for (const auto& [first, last] : blocks) {
    const std::uint32_t begin = first;
    CAPTURE(begin);
    CHECK(size(first) == 3);
    CHECK(size(last) == 3);
    if (first != 0xf900) CHECK(size(first - 1) == 1);  // U+F8FF is of private use, and dropped
    CHECK(size(last + 1) == 1);
  }
}

TEST_CASE("wordpiece: capitals of a vocabulary and of a text, special tokens apart") {
  CHECK(cased().has_capitals());
  CHECK_FALSE(uncased().has_capitals());
  CHECK(cased().capitals_in("the Run [MASK]"));
  CHECK_FALSE(cased().capitals_in("the run [MASK][SEP]"));
  CHECK(cased().capitals_in("the run [MASKS]"));
}

TEST_CASE("wordpiece: lower case without accents") {
  const struct {
    std::string_view text;
    Words tokens;
  } cases[] = {
      {"THE The the", {"the", "the", "the"}},
      {"Caf\u00c9 cafe\u0301s CAFE\u0301", {"cafe", "cafe", "##s", "cafe"}},
      {"na\u00efve R\u00c9SUM\u00c9", {"naive", "resume"}},
      {"\u0130", {"i"}},                         // capital i with a dot
      {"\u039f\u03a3", {"[UNK]"}},               // omicron is not in the vocabulary
      {"\u03a3\u03a3", {"\u03c3", "##\u03c3"}},  // a final sigma as any other
      {"\u1ed4o", {"o", "##o"}},                 // two accents
      {"\uac00", {"\u1100", "##\u1161"}},        // a Hangul syllable is its letters
      {"\u4e2d\uf900", {"\u4e2d", "[UNK]"}},
      {"a\u0301\u0302", {"a"}},
      {"a\u0903", {"[UNK]"}},  // a mark that takes space stays
      {"\u0301", {}},          // nothing is left
      {"\u037e", {";"}},       // the Greek question mark is a semicolon
      {"STRA\u00dfE", {"straße"}},
      {"[MASK] [Mask]", {"[MASK]", "[", "mask", "]"}},
  };
  for (const auto& [text, tokens] : cases) {
    CAPTURE_BINDING(text);
    CHECK(split(uncased(), text) == tokens);
  }
}

TEST_CASE("wordpiece: a word of 100 characters is cut, one of 101 is unknown; characters, not bytes") {
  const auto repeated = [](const std::string& s, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text.append(s);
    return text;
  };
  CHECK(cased().encode(repeated("a", 100)).size() == 100);
  CHECK(split(cased(), repeated("a", 101)) == Words{"[UNK]"});
  CHECK(split(cased(), repeated("a", 100'000).append(" a")) == Words{"[UNK]", "a"});
  CHECK(cased().encode(std::string("a").append(repeated("\u00e9", 99))).size() == 100);
  CHECK(split(cased(), std::string("a").append(repeated("\u00e9", 100))) == Words{"[UNK]"});
  CHECK(cased().encode(repeated(",", 1000)).size() == 1000);
}

TEST_CASE("wordpiece: ids are line numbers, of equal lines the last; line ends of either kind") {
  CHECK(cased().size() == kCased.size());
  CHECK(cased().encode("the [PAD] caf\u00e9") == TokenIds{8, 0, 23});
  CHECK(cased().id("[UNK]") == 1U);
  CHECK_FALSE(cased().id("none"));
  const WordPiece windows("[UNK]\r\na\r\n\r\na\r\nb", "w", {});
  CHECK(windows.size() == 5);
  CHECK(windows.encode("a b") == TokenIds{3, 4});
  CHECK(contains(refusal([] { cased().tokens({1, 34}); }), "id = 34, size = 34"));
  CHECK(split(WordPiece("[UNK]\na\n", "few", {}), "a[MASK]") == Words{"a", "[UNK]", "[UNK]", "[UNK]"});
}

TEST_CASE("wordpiece: files that are no vocabulary are refused in one line") {
  const auto message = [](std::string_view text) {
    std::string said = refusal([&] { WordPiece(text, "v.txt", {}); });
    CHECK(said.find('\n') == std::string::npos);
    CHECK(said.starts_with("v.txt: "));
    return said;
  };
  CHECK(contains(message(""), "is empty"));
  CHECK(contains(message("a\nb\n"), "there is no line [UNK]"));
  CHECK(contains(message("[UNK]\n\xff\n"), "byte 6 is not UTF-8"));
  CHECK(contains(message("[UNK]\n\xe2\x82"), "byte 6 is not UTF-8"));
  CHECK(contains(message("\ufeff[PAD]\n[UNK]\n"), "begins with a byte order mark"));
  CHECK(contains(message("[UNK]\n" + std::string(1 << 24, '\n')), "has 16777217 lines; at most 16777216 are read"));
  TemporaryFolder folder;
  CHECK(contains(refusal([&] { WordPiece((folder / "none.txt").string()); }), "none.txt: cannot be opened"));
  write_text(folder / "v.txt", lines(kCased));
  CHECK(WordPiece((folder / "v.txt").string()).size() == kCased.size());
}

TEST_CASE("bert sequence: pieces with [CLS] and [SEP], the last as short as it must be") {
  constexpr std::uint32_t cls = 2, sep = 3, a = 15, b = 17;
  const auto sequence = [](std::size_t n, std::size_t piece, const char* text = "a b a b a b") {
    return bert_sequence(cased(), text, n, piece);
  };
  CHECK(sequence(1, 4) == TokenIds{cls});
  CHECK(sequence(2, 4) == TokenIds{cls, sep});
  CHECK(sequence(3, 4) == TokenIds{cls, a, sep});
  CHECK(sequence(4, 4) == TokenIds{cls, a, b, sep});
  CHECK(sequence(5, 4) == TokenIds{cls, a, b, sep, cls});
  CHECK(sequence(7, 4) == TokenIds{cls, a, b, sep, cls, a, sep});
  CHECK(sequence(7, 512) == TokenIds{cls, a, b, a, b, a, sep});
  CHECK(sequence(100, 512) == TokenIds{cls, a, b, a, b, a, b, sep});
  CHECK(sequence(100, 6) == TokenIds{cls, a, b, a, b, sep, cls, a, b, sep});
  CHECK(sequence(100, 5) == TokenIds{cls, a, b, a, sep, cls, b, a, b, sep});  // pieces of an odd number of words
  CHECK(sequence(100, 8) == TokenIds{cls, a, b, a, b, a, b, sep});
  CHECK(sequence(100, 8, "") == TokenIds{cls, sep});
  CHECK(contains(refusal([&] { sequence(0, 8); }), "n >= 1"));
  CHECK(contains(refusal([&] { sequence(8, 2); }), "piece = 2"));
  const WordPiece few("[UNK]\n[CLS]\n", "few", {});
  CHECK(refusal([&] { bert_sequence(few, "a", 4, 8); }) == "few: has no line [SEP], which a BERT reads beside a text");
}
