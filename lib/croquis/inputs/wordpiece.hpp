// BERT's tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace croquis {

using TokenIds = std::vector<std::uint32_t>;

struct WordPieceOptions {
  bool lower_case = false;  ///< for an uncased vocabulary: lower case, without accents
};

/// WordPiece as BERT has it (Devlin et al. 2019; BasicTokenizer and WordpieceTokenizer of its code).
///
/// Guarantees: control characters (all of category C but tab and line ends) and bytes that are not UTF-8 are dropped;
///   white space divides; a CJK ideograph and a punctuation mark (ASCII that is neither letter, digit nor control, and
///   categories P) are words of their own. Lower case is canonical decomposition (NFD), marks (Mn) dropped, then every
///   character's lower case by itself, so a final sigma is an ordinary one, as in Hugging Face's fast tokenizers. A
///   word is cut from its beginning into the longest entries there are, "##" before all but the first; a word that
///   cannot be, or of more than 100 characters, is [UNK]. [PAD], [UNK], [CLS], [SEP] and [MASK] in a text are those
///   entries, wherever they stand.
/// Cost: O(length of the text), a word of m characters up to m^2 / 2 look-ups.
class WordPiece {
 public:
  /// A vocab.txt: one entry a line, the number of a line is the entry's id; of equal lines the last counts.
  /// Throws std::invalid_argument in one line that names the file: cannot be read, empty, not UTF-8, a byte
  /// order mark before the first line, more than 2^24 lines, no [UNK].
  explicit WordPiece(const std::string& path, const WordPieceOptions& options = {});
  /// The same from the bytes of a file; `name` stands in the messages.
  WordPiece(std::string_view bytes, const std::string& name, const WordPieceOptions& options);

  /// Number of lines.
  std::size_t size() const { return entries_.size(); }
  std::optional<std::uint32_t> id(std::string_view entry) const;

  /// The tokens of a text, without [CLS] and [SEP] around them.
  TokenIds encode(std::string_view text) const;

  /// The entries of ids. Throws std::invalid_argument for an id that there is not.
  std::vector<std::string> tokens(const TokenIds& ids) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };

  void append_word(const std::u32string& word, TokenIds& ids) const;

  WordPieceOptions options_;
  std::vector<std::string> entries_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
  std::vector<std::pair<std::string_view, std::uint32_t>> special_;
  std::uint32_t unknown_ = 0;
};

/// The first n tokens of a text as BERT is given them, fewer when the text ends before: pieces of `piece` tokens, each
/// [CLS], piece - 2 tokens of the text and [SEP], one after the other without overlap or padding; the last piece is
/// shorter, [CLS] alone where one token is wanted.
/// Throws std::invalid_argument for n = 0, piece < 3, a vocabulary without [CLS] or [SEP].
TokenIds bert_sequence(const WordPiece& vocabulary, std::string_view text, std::size_t n, std::size_t piece);

}  // namespace croquis
