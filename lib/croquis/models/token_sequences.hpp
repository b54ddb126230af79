// Sequences of token ids from files, with the labels to be predicted.
#pragma once

#include <croquis/io/npy_integers.hpp>
#include <croquis/models/token_windows.hpp>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

/// The input of a model, and for each position the token to be predicted; empty if the position is not counted.
struct LabelledSequence {
  TokenIds ids;
  std::vector<std::optional<std::uint32_t>> labels;  ///< as many as ids
};

/// Sequences from ids.npy (sequences x n), of which row s has lengths.npy[s] tokens (default n), with labels from
/// labels.npy of the same shape. A label is the token to be predicted at its position, or -100 if the position does not
/// count, as in PyTorch's cross entropy. Without labels, those of a decoder are the next tokens: it reads all ids of a
/// sequence but the last, which has no successor. Rows are read on request. Thread-safe.
class TokenSequences {
 public:
  struct Files {
    std::string ids, lengths = {}, labels = {};  ///< paths; lengths and labels may be empty
  };

  /// Throws std::invalid_argument, with a message of one line that names the file, as IntegerRows; if labels and ids
  ///   differ in shape; and unless there is one length for each sequence, from 1 (2 for next tokens) to n.
  TokenSequences(const Files& files, bool next_tokens);

  arma::uword count() const { return ids_.rows(); }
  /// The number of tokens of a sequence that the model reads.
  arma::uword length(arma::uword sequence) const;
  bool has_labels() const { return labels_ || next_tokens_; }
  /// How many of these sequences end with this id, begin with it, or have another id than this one beyond their length.
  struct Padding {
    arma::uword ending = 0, beginning = 0, beyond = 0;
  };
  Padding padding(std::uint32_t token, const std::vector<arma::uword>& sequences) const;
  /// Whether the labels are the ids at the same positions, as Hugging Face has them for decoders, which shift them
  /// later. False if each label is also the next id of its sequence, or if no label has a next id.
  bool labels_are_ids(const std::vector<arma::uword>& sequences) const;

  /// Throws std::invalid_argument, with file, sequence and position, for an id that is not below `vocabulary`, and for
  ///   a label that is neither below `vocabulary` nor -100.
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
