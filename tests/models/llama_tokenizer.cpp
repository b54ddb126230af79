// A tokenizer as that of Llama 2, against the definition of byte-pair encoding.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/models/byte_pairs.hpp>
#include <croquis/random/key.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "models/tokenizer_json.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

using Words = std::vector<std::string>;

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
