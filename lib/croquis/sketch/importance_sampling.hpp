// Sub-sampling of rows with given probabilities.
#pragma once

#include <croquis/sketch/sized_sketch.hpp>

namespace croquis {

/// Column j of S is e_i / sqrt(d p_i) with i ~ p, with replacement: Skeinformer Def. 3.1. p_i = w_i / sum w.
/// Guarantees: E[S S^T] = diag([p_i > 0]), the identity when no weight is zero; an index of weight zero is never drawn.
///   The variance of (S S^T)_ii is (1/p_i - 1) / d. Probabilities are those of the 53 bits of a draw: exact up to 2^-52
///   absolutely, so p_i far below 2^-52 are never drawn.
/// Randomness: index j is the inverse of the distribution function at the first word of the key's child j. A sketch
///   with more columns on the same key and weights begins with the smaller one, up to the factor 1 / sqrt(d).
/// Cost: O(n + d log n) to draw, kept as d indices; then a gather, d k numbers.
/// Throws: std::invalid_argument unless there are weights, fewer than 2^32, all finite and >= 0, one positive, and
///   d >= 1; and for a factor of another size.
class ImportanceSampling : public SparseSketch<ImportanceSampling> {
 public:
  static constexpr std::string_view kName = "ImportanceSampling";

  ImportanceSampling(const arma::vec& weights, arma::uword d, const Key& key);

  arma::uword rows() const { return n_; }
  arma::uword cols() const { return indices_.n_elem; }
  /// The index of every column and its entry 1 / sqrt(d p_i).
  const arma::uvec& indices() const { return indices_; }
  const arma::vec& entries() const { return entries_; }

 private:
  friend SparseSketch<ImportanceSampling>;
  static constexpr bool kByRows = false;

  template <typename T>
  SparseColumns<T> sparse() const;

  arma::uword n_;
  arma::uvec indices_;
  arma::vec entries_;
};

}  // namespace croquis
