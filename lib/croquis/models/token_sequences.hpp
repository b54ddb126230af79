// Sequences of token ids in files, with what is to be predicted.
#pragma once

#include <croquis/io/npy_integers.hpp>
#include <croquis/models/token_windows.hpp>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

/// A sequence that a model reads, and the token that each position is to predict; none: not counted.
struct LabelledSequence {
  TokenIds ids;
  std::vector<std::optional<std::uint32_t>> labels;  ///< as many as ids
};

/// Sequences of ids.npy (sequences, n), of which row s has lengths.npy[s] tokens (default n), and labels.npy of the
/// same shape as the ids, -100 where a position does not count, as PyTorch's cross entropy has them: the label at a
/// position is what the model is to say there. Without labels, a decoder's are the next tokens: it reads all ids of a
/// sequence but the last, which nothing follows. Rows are read when they are asked for. Thread-safe.
class TokenSequences {
 public:
  struct Files {
    std::string ids, lengths = {}, labels = {};  ///< paths; lengths and labels may be empty
  };

  /// Throws std::invalid_argument, with one line that names the file: as IntegerRows; labels of another shape than the
  /// ids; lengths that are not one a sequence, or not from 1 (for next tokens 2) to n.
  TokenSequences(const Files& files, bool next_tokens);

  arma::uword count() const { return ids_.rows(); }
  /// Tokens that the model reads of a sequence.
  arma::uword length(arma::uword sequence) const;
  bool has_labels() const { return labels_ || next_tokens_; }

  /// Throws std::invalid_argument, naming file, sequence and position, for an id or a label that is not below
  /// `vocabulary` (and is not the -100 of a label).
  TokenIds ids(arma::uword sequence, arma::uword vocabulary) const;
  LabelledSequence labelled(arma::uword sequence, arma::uword vocabulary) const;
  /// Several sequences, each a window of its own.
  TokenWindows joined(const std::vector<arma::uword>& sequences, arma::uword vocabulary) const;

 private:
  IntegerRows ids_;
  std::optional<IntegerRows> labels_;
  std::vector<arma::uword> lengths_;
  bool next_tokens_;
};

}  // namespace croquis
