// The best rank-d approximation of the scores: an oracle that brackets what a rank-d method can do.
#pragma once

#include <croquis/attention/method.hpp>
#include <memory>

namespace croquis {

/// B_d = sum of the d leading singular triples of B (Eckart-Young); O~ = B_d V. No B~ of rank d has a smaller
/// ||B - B~|| or ||B - B~||_F. The output error ||BV - B_d V|| is at most sigma_{d+1} ||V||, but V can make another
/// rank-d matrix better there.
///
/// The singular value decomposition is computed once, on construction. Cost: about 22 n^3 flops and 3 n^2 numbers.
/// best_rank_iterative() needs no n x n matrix.
template <typename T>
class BestRank {
 public:
  static constexpr arma::uword kLargestN = 4096;  ///< a dense SVD beyond this takes minutes and gigabytes

  /// Throws std::invalid_argument for n > kLargestN.
  explicit BestRank(const Problem<T>& problem);

  /// 1 <= d <= n.
  Approximation<T> approximate(arma::uword d) const;
  /// All n, descending.
  const arma::Col<T>& singular_values() const { return factors_->values; }

 private:
  struct Factors {
    arma::Mat<T> left, right;
    arma::Col<T> values;
  };
  Problem<T> problem_;
  std::shared_ptr<const Factors> factors_;
};

/// The same for any n: d triples of B as an operator by randomised subspace iteration, within a few per cent of the
/// best. Diagnostics: residual ||B V_d - U_d S_d||_F.
/// Randomness: the start, normals of the stream. Cost: 22 n^2 (p + d + 10) flops, memory O(n d). 1 <= d <= n.
template <typename T>
Approximation<T> best_rank_iterative(const Problem<T>& problem, const LinearOperator<T>& scores, arma::uword d,
                                     const Stream& stream);

template <typename T>
Method<T> best_rank_method();

}  // namespace croquis
