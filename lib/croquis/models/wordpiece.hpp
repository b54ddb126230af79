// BERT's tokens: WordPiece.
#pragma once

#include <croquis/models/token_windows.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace croquis {

struct WordPieceOptions {
  bool lower_case = false;  ///< for an uncased vocabulary: lower case, without accents
};

/// WordPiece as in BERT (Devlin et al. 2019; BasicTokenizer and WordpieceTokenizer of its code).
///
/// Guarantees: control characters (categories Cc except tab and line ends, Cf and Co) and bytes that are not UTF-8 are
///   dropped. White space divides words. Every CJK ideograph and every punctuation mark (ASCII that is neither letter,
///   digit nor control character, and categories P) is a word of its own. Categories are those of utf8proc's version of
///   Unicode. Characters without a category, and U+2B820 to U+2B91F, are parts of words, as in Hugging Face's fast
///   tokenizers. Lower case means canonical decomposition (NFD), without marks (Mn), and then the lower case of each
///   character by itself. So a final sigma is an ordinary one, as in Hugging Face's fast tokenizers. A word is divided
///   from its beginning into the longest entries of the vocabulary, with "##" before all but the first. A word that
///   cannot be divided, or has more than 100 characters, is [UNK]. [PAD], [UNK], [CLS], [SEP] and [MASK] in a text are
///   those entries, wherever they occur.
/// Cost: O(length of the text), and up to m^2 / 2 look-ups for a word of m characters.
class WordPiece {
 public:
  /// Reads a vocab.txt, with one entry on each line. The number of the line, from 0, is the id of the entry; of equal
  /// lines the last one is used.
  /// Throws: std::invalid_argument, with a message of one line that names the file, if it cannot be read, is empty, is
  ///   not UTF-8, begins with a byte order mark, has more than 2^24 lines, or has no [UNK].
  explicit WordPiece(const std::string& path, const WordPieceOptions& options = {});
  /// The same from the bytes of a file. `name` is used in messages.
  WordPiece(std::string_view bytes, const std::string& name, const WordPieceOptions& options);

  /// The file, for messages.
  const std::string& name() const { return name_; }
  /// The number of lines.
  std::size_t size() const { return entries_.size(); }
  std::optional<std::uint32_t> id(std::string_view entry) const;
  /// Whether an entry has a capital letter of ASCII, apart from those in brackets, as [CLS].
  bool has_capitals() const;
  /// The same of a text, apart from the special entries in it.
  bool capitals_in(std::string_view text) const;

  /// The tokens of a text, without [CLS] and [SEP] around them.
  TokenIds encode(std::string_view text) const;

  /// The entries with these ids. Throws std::invalid_argument for an id that does not exist.
  std::vector<std::string> tokens(const TokenIds& ids) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };

  using Special = std::vector<std::pair<std::string_view, std::uint32_t>>;

  // The special entry with which a text begins, or end().
  Special::const_iterator special_at(std::string_view text) const;
  void append_word(const std::u32string& word, TokenIds& ids) const;

  std::string name_;
  WordPieceOptions options_;
  std::vector<std::string> entries_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
  Special special_;
  std::uint32_t unknown_ = 0;
};

/// The first n tokens of a text as the input of BERT, or fewer if the text is too short: pieces of `piece` tokens, each
/// with [CLS], piece - 2 tokens of the text and [SEP], one after the other without overlap or padding. The last piece
/// is shorter; if only one token is left for it, it is [CLS] alone.
/// Throws: std::invalid_argument for n = 0 and piece < 3, and, with the name of the file, for a vocabulary without
///   [CLS] or [SEP].
TokenIds bert_sequence(const WordPiece& vocabulary, std::string_view text, std::size_t n, std::size_t piece);

}  // namespace croquis
