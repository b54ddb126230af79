#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/counted.hpp>
#include <croquis/core/require.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/models/token_sequences.hpp>
#include <iterator>

namespace croquis {
namespace {

constexpr std::int64_t kNotCounted = -100;

std::uint32_t token_of(std::int64_t number, const char* what, const std::string& file, arma::uword sequence,
                       std::size_t position, arma::uword vocabulary) {
  if (number < 0 || static_cast<arma::uword>(number) >= vocabulary) {
    refuse_file(file, fmt::format("{} {} of sequence {} at position {}; the model has word embeddings 0 to {}", what,
                                  number, sequence, position, vocabulary - 1));
  }
  return static_cast<std::uint32_t>(number);
}

}  // namespace

TokenSequences::TokenSequences(const Files& files, bool next_tokens)
    : ids_(files.ids), next_tokens_(next_tokens && files.labels.empty()) {
  if (!files.labels.empty()) {
    labels_.emplace(files.labels);
    if (labels_->rows() != ids_.rows() || labels_->cols() != ids_.cols()) {
      refuse_file(labels_->name(),
                  fmt::format("has shape ({}, {}) where {} has ({}, {}); a label for each id is read", labels_->rows(),
                              labels_->cols(), ids_.name(), ids_.rows(), ids_.cols()));
    }
  }
  lengths_.assign(ids_.rows(), ids_.cols());
  const std::int64_t least = next_tokens_ ? 2 : 1;
  std::string of = ids_.name();
  if (!files.lengths.empty()) {
    const IntegerRows file(files.lengths);
    of = file.name();
    // A row, or a column.
    const bool column = file.cols() == 1 && file.rows() == ids_.rows();
    if (!column && (file.rows() != 1 || file.cols() != ids_.rows())) {
      refuse_file(of, fmt::format("has {} where {} has {}", counted(file.rows() * file.cols(), "length"), ids_.name(),
                                  counted(ids_.rows(), "sequence")));
    }
    const std::vector<std::int64_t> row = column ? std::vector<std::int64_t>() : file.row(0);
    for (arma::uword s = 0; s < lengths_.size(); ++s) {
      const std::int64_t length = column ? file.row(s)[0] : row[s];
      if (length < least || length > static_cast<std::int64_t>(ids_.cols())) {
        refuse_file(of, fmt::format("length {} of sequence {}; {} to {} are read", length, s, least, ids_.cols()));
      }
      lengths_[s] = static_cast<arma::uword>(length);
    }
  } else if (ids_.cols() < static_cast<std::uint64_t>(least)) {
    refuse_file(of, "has sequences of one token; a decoder needs a next one");
  }
}

arma::uword TokenSequences::length(arma::uword sequence) const {
  require(sequence < lengths_.size(), "TokenSequences", "sequence < sequences",
          {{"sequence", sequence}, {"sequences", lengths_.size()}});
  return lengths_[sequence] - (next_tokens_ ? 1 : 0);
}

TokenSequences::Padding TokenSequences::padding(std::uint32_t token, const std::vector<arma::uword>& sequences) const {
  Padding padding;
  for (const arma::uword s : sequences) {
    const std::vector<std::int64_t> row = ids_.row(s);
    const auto end = row.begin() + static_cast<std::ptrdiff_t>(lengths_[s]);
    if (*std::prev(end) == token) ++padding.ending;
    if (row.front() == token) ++padding.beginning;
    if (std::any_of(end, row.end(), [&](std::int64_t id) { return id != token; })) ++padding.beyond;
  }
  return padding;
}

bool TokenSequences::labels_are_ids(const std::vector<arma::uword>& sequences) const {
  if (!labels_) return false;
  bool next_differs = false;
  for (const arma::uword s : sequences) {
    const std::vector<std::int64_t> ids = ids_.row(s), labels = labels_->row(s);
    for (arma::uword i = 0; i < lengths_[s]; ++i) {
      if (labels[i] == kNotCounted) continue;
      if (labels[i] != ids[i]) return false;
      next_differs = next_differs || (i + 1 < lengths_[s] && labels[i] != ids[i + 1]);
    }
  }
  return next_differs;
}

TokenIds TokenSequences::ids(arma::uword sequence, arma::uword vocabulary) const {
  const arma::uword n = length(sequence);
  const std::vector<std::int64_t> row = ids_.row(sequence);
  TokenIds ids;
  for (std::size_t i = 0; i < n; ++i) {
    ids.push_back(token_of(row[i], "has id", ids_.name(), sequence, i, vocabulary));
  }
  return ids;
}

LabelledSequence TokenSequences::labelled(arma::uword sequence, arma::uword vocabulary) const {
  LabelledSequence read{ids(sequence, vocabulary), {}};
  read.labels.resize(read.ids.size());
  if (!has_labels()) return read;
  const IntegerRows& file = labels_ ? *labels_ : ids_;
  const std::vector<std::int64_t> row = file.row(sequence);
  for (std::size_t i = 0; i < read.ids.size(); ++i) {
    const std::size_t at = i + (next_tokens_ ? 1 : 0);
    if (labels_ && row[at] == kNotCounted) continue;
    read.labels[i] = token_of(row[at], labels_ ? "has label" : "has id", file.name(), sequence, at, vocabulary);
  }
  return read;
}

TokenWindows TokenSequences::joined(const std::vector<arma::uword>& sequences, arma::uword vocabulary) const {
  TokenWindows windows;
  for (const arma::uword s : sequences) {
    const TokenIds one = ids(s, vocabulary);
    windows.ids.insert(windows.ids.end(), one.begin(), one.end());
    windows.ends.push_back(windows.ids.size());
  }
  return windows;
}

}  // namespace croquis
