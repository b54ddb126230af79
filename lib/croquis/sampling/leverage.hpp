// Ridge leverage scores of a kernel matrix, exact or approximated by recursion.
#pragma once

#include <croquis/kernel/kernel_matrix.hpp>
#include <croquis/random/key.hpp>

namespace croquis {

/// The eigenvalues of M (n x n) and, from them, the ridge leverage scores for any ridge.
/// Cost: about 9 n^3 flops in the constructor, and 2 n^2 for each ridge.
template <typename T>
class RidgeLeverage {
 public:
  static constexpr arma::uword kLargestN = 8192;  ///< a dense eigenvalue problem beyond this takes many minutes

  /// Throws std::invalid_argument for n > kLargestN.
  explicit RidgeLeverage(const KernelMatrix<T>& matrix);

  /// l_i(lambda) = (M (M + lambda I)^-1)_ii, each in [0, 1]; lambda > 0.
  arma::Col<T> scores(T lambda) const;
  /// d_stat(lambda) = sum of l_i(lambda).
  T statistical_dimension(T lambda) const;
  /// (1/d) (the sum of the eigenvalues after the d largest), for 1 <= d <= n. At this ridge about d landmarks are
  /// enough, because d_stat(lambda) <= 2 d (Musco & Musco 2017, Sec. 3). It is never below 2u times the largest
  /// eigenvalue.
  T ridge_for(arma::uword d) const;
  /// Descending. Values below zero, which are rounding, are set to zero.
  const arma::Col<T>& eigenvalues() const { return eigenvalues_; }

 private:
  arma::Col<T> eigenvalues_;
  arma::Mat<T> squared_vectors_;  // entry (i, k): the square of entry i of eigenvector k
};

/// d different landmarks by recursive ridge leverage score sampling (Musco & Musco 2017, Alg. 3), 1 <= d <= n. The
/// problem is first solved for half of the points. Their weighted sample gives over-estimates of the scores of all
/// points. This is repeated up to the whole set, where d landmarks are drawn by successive sampling.
/// Guarantees: with d = O(d_stat log d_stat) the Nystrom error is at most lambda with constant probability.
/// Randomness: children "order", "level" and "final" of the random key.
/// Cost: O(n d^2) flops and O(n d) kernel entries; no n x n matrix.
template <typename T>
arma::uvec recursive_leverage_sample(const KernelMatrix<T>& matrix, arma::uword d, const Key& draw_key);

}  // namespace croquis
