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

  /// Throws std::invalid_argument for n > kLargestN, std::runtime_error if the eigenvalue solver fails. The functions
  /// below throw std::invalid_argument for a lambda or k outside its range.
  explicit RidgeLeverage(const KernelMatrix<T>& matrix);

  /// l_i(lambda) = (M (M + lambda I)^-1)_ii, each in [0, 1]; lambda > 0.
  arma::Col<T> scores(T lambda) const;
  /// d_stat(lambda) = sum of l_i(lambda).
  T statistical_dimension(T lambda) const;
  /// (1/k) (the sum of the eigenvalues after the k largest), for 1 <= k <= n: the ridge of Musco & Musco 2017, at which
  /// d_stat(lambda) <= 2 k. Their theorem asks for a number of landmarks of order k log k; see leverage_rank(). The
  /// ridge is never below 2u times the largest eigenvalue.
  T ridge_for(arma::uword k) const;
  /// Descending. Values below zero, which are rounding, are set to zero.
  const arma::Col<T>& eigenvalues() const { return eigenvalues_; }

 private:
  arma::Col<T> eigenvalues_;
  arma::Mat<T> squared_vectors_;  // entry (i, k): the square of entry i of eigenvector k
};

/// The rank k whose tail gives the ridge for d landmarks: d / (4 max(1, ln d)), rounded down, and 1 at least. Musco &
/// Musco 2017 have s = O(k log k) landmarks for rank k, and their program the constant 4.
arma::uword leverage_rank(arma::uword d);

/// d different landmarks by recursive ridge leverage score sampling (Musco & Musco 2017, Alg. 3), 1 <= d <= n. The
/// problem is first solved for half of the points. Their weighted sample gives estimates of the scores of all points at
/// a ridge, the tail of the sample's spectrum after the leverage_rank(d) largest eigenvalues over that rank. This is
/// repeated up to the whole set, where d landmarks are drawn by successive sampling in proportion to the estimates.
/// Guarantees: none is proved. This follows the authors' program. Their theorem, an error of at most the ridge with
///   constant probability, is for independent draws with 3/2 times the scores at a ridge that is given.
/// Randomness: children "order", "level" and "final" of the random key.
/// Cost: a sample of m points takes n m^2 flops and n m kernel entries for n points. m is about d / 2, at the lowest
///   level d, so that all levels take about n d^2 / 2 and n d; no n x n matrix.
template <typename T>
arma::uvec recursive_leverage_sample(const KernelMatrix<T>& matrix, arma::uword d, const Key& draw_key);

}  // namespace croquis
