// Sub-sampling of rows with given probabilities.
#pragma once

#include <croquis/sketch/sized_sketch.hpp>

namespace croquis {

/// Column j of S (n x d) is e_i / sqrt(d p_i) with i ~ p, drawn with replacement, where p_i = w_i / sum w for n weights
/// w: Skeinformer Def. 3.1.
/// Guarantees: E[S S^T] = diag([p_i > 0]), which is the identity if no weight is zero. An index of weight zero is never
///   drawn. The variance of (S S^T)_ii is (1/p_i - 1) / d. All this holds for p_i well above n 2^-53: the cumulative
///   sums, in double, move probabilities by about that much, while the entries have the p_i of the weights. An index
///   with a far smaller p_i may never be drawn, or more often than by p_i, depending on the order of the indices.
/// Randomness: index j is the inverse of the distribution function at the first word of key.child(j). A sketch with
///   more columns on the same key and weights begins with the columns of a smaller one, up to the factor 1 / sqrt(d).
/// Cost: O(n + d log n) to draw, and memory for d indices. A product is a gather of d k numbers.
/// Throws: std::invalid_argument unless 1 <= n < 2^32, all weights are finite and >= 0, at least one is positive, and d
///   >= 1; and for a factor of the wrong size.
class ImportanceSampling : public SparseSketch<ImportanceSampling> {
 public:
  static constexpr std::string_view kName = "ImportanceSampling";

  ImportanceSampling(const arma::vec& weights, arma::uword d, const Key& key);

  arma::uword rows() const { return n_; }
  arma::uword cols() const { return indices_.n_elem; }
  /// For every column, the drawn index i and the entry 1 / sqrt(d p_i).
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
