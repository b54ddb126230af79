// Tokenizers of tokenizer.json: byte-pair encoding.
#pragma once

#include <croquis/models/token_windows.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace croquis {

class RegularExpression;

/// Byte-pair encoding (Sennrich et al. 2016) as in a tokenizer.json of Hugging Face's tokenizers library.
///
/// A text is first divided at the added tokens, wherever they occur. The text between them is changed by the
/// normalizers, in their order: Prepend (nothing, to an empty text) and Replace of a string, as in Llama 2. Added
/// tokens with `normalized` are searched after that, in their normalised form. Then the pre-tokenizers, in their order,
/// divide the text into words: ByteLevel (GPT-2's pattern with use_regex, add_prefix_space), Split (a string, or a
/// regular expression, as in Llama 3; behaviours Isolated and Removed) or a Sequence of these. With ByteLevel the bytes
/// of a word are written in GPT-2's alphabet of 256 characters. The characters of a word are merged pair by pair:
/// always the pair that comes first in the list of merges, and the leftmost of equal pairs. If a pair is in the list
/// twice, its last place counts. A character that is not in the vocabulary becomes the tokens <0x00> ... <0xFF> of its
/// bytes with byte_fallback, otherwise unk_token; with fuse_unk several such characters in a row become a single
/// unk_token. A TemplateProcessing puts its tokens around a sequence, each with its one id of the vocabulary. A decoder
/// is not read.
///
/// Everything else in a file is refused by its name: models other than BPE, other normalizers, prefixes and suffixes of
/// words, dropout, other pre- and post-processors.
class BytePairTokenizer {
 public:
  /// Throws std::invalid_argument, with a message of one line that names the file and the entry.
  explicit BytePairTokenizer(const std::string& path);
  BytePairTokenizer(std::string_view bytes, const std::string& name);

  /// A number that is larger than all ids.
  std::size_t size() const { return size_; }
  std::optional<std::uint32_t> id(const std::string& token) const;
  /// The tokens of a text, without those of the template. Throws std::invalid_argument for a character that is not in
  /// the vocabulary if there is no unk_token.
  TokenIds encode(std::string_view text) const;
  /// The tokens that the template puts before and after a sequence.
  const TokenIds& before() const { return before_; }
  const TokenIds& after() const { return after_; }
  /// unk_token, and the added tokens that are `special`.
  const std::set<std::uint32_t>& special() const { return special_; }

 private:
  struct Reader;  // of the file
  struct Split {
    enum class Kind { byte_level, string, expression } kind = Kind::byte_level;
    bool prefix_space = false, words = true;  ///< byte_level
    std::string text = {};                    ///< string
    std::shared_ptr<const RegularExpression> expression = {};
    bool removed = false, inverted = false;
  };
  struct Normalizer {
    std::string replaced;  ///< empty: `by` is put before the text
    std::string by;
  };
  using Pieces = std::vector<std::string>;
  using Added = std::vector<std::pair<std::string, std::uint32_t>>;  // the longest first

  std::string normalised(std::string text) const;
  Pieces divided(const std::string& text) const;
  static Pieces divided(const Split& split, const std::string& text);
  Pieces symbols_of(const std::string& word) const;
  Pieces merged(Pieces symbols) const;
  void append_word(const std::string& word, TokenIds& ids) const;
  // Tokens are UTF-8, which has no such byte; they may have blanks.
  static std::string pair_key(const std::string& left, const std::string& right) { return left + '\xff' + right; }

  std::string name_;
  std::unordered_map<std::string, std::uint32_t> ids_, added_ids_;  // words are divided into those of ids_ alone
  std::unordered_map<std::string, std::size_t> ranks_;              // of pair_key(left, right)
  Added added_, normalised_added_;                                  // looked for before the normalizers, and after them
  std::vector<Normalizer> normalizers_;
  std::vector<Split> splits_;
  bool byte_level_ = false, whole_words_ = false;  // whole_words_: a word of the vocabulary is not divided
  bool byte_fallback_ = false, fuse_unknown_ = false;
  std::optional<std::uint32_t> unknown_;
  TokenIds before_, after_;
  std::set<std::uint32_t> special_;
  std::size_t size_ = 0;
};

/// The words into which GPT-2's pattern divides a text: contractions; letters, digits or other characters with a space
/// before them; white space. Every byte is in some word. A byte that is not UTF-8 is a character of its own.
std::vector<std::string> gpt2_words(std::string_view text);

}  // namespace croquis
