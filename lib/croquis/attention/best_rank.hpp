// The best rank-d approximation of the scores: an oracle that brackets what a rank-d method can do.
#pragma once

#include <croquis/attention/method.hpp>
#include <memory>
#include <mutex>

namespace croquis {

/// B_d = sum of the d leading singular triples of B (Eckart-Young), and O~ = B_d V. No B~ of rank d has a smaller ||B -
/// B~|| or ||B - B~||_F. The output error ||BV - B_d V|| is at most sigma_{d+1} ||V||, but for a given V another matrix
/// of rank d can be better.
///
/// On a causal problem B is the causal score matrix. Its B_d has entries above the diagonal all the same, so it bounds
/// the error of causal methods without being one.
///
/// The singular vectors of the smaller side are computed as eigenvectors of B B^T or B^T B, in double, as long as
/// sigma_{d+1} >= sigma_1 / 1000: the accuracy lost by squaring then changes an error by less than 10^-9 of it. For
/// larger d the singular value decomposition is computed, once, on first use.
/// Cost: about 13 n_q n_k m flops with m = min(n_q, n_k), with the decomposition 35 n_q n_k m; 4 n_q n_k numbers in
///   double. best_rank_iterative() needs no n x n matrix.
template <typename T>
class BestRank {
 public:
  static constexpr arma::uword kLargestN =
      4096;  ///< of a square problem: a dense SVD beyond this takes minutes and gigabytes

  /// Throws std::invalid_argument for n_q n_k > kLargestN^2.
  explicit BestRank(const Problem<T>& problem);

  /// 1 <= d <= min(n_q, n_k).
  Approximation<T> approximate(arma::uword d) const;
  /// All min(n_q, n_k) singular values, descending. Computes the decomposition.
  const arma::Col<T>& singular_values() const;

 private:
  // B_d = left_d right_d^T by the first d columns.
  struct Factors {
    arma::Mat<T> left, right;
  };
  struct Decomposition {
    std::once_flag once;
    std::shared_ptr<const Factors> factors;
    arma::Col<T> values;
  };
  const Decomposition& decomposition() const;

  Problem<T> problem_;
  std::shared_ptr<const Factors> squared_;  // by eigenvectors, good for d up to squared_reach_ and for the largest d
  arma::uword squared_reach_ = 0;
  std::shared_ptr<Decomposition> decomposition_ = std::make_shared<Decomposition>();
};

/// The same for any n: d triples of B, given as an operator, by randomised subspace iteration. The error is usually
/// within a few per cent of the best. Diagnostics: residual ||B V_d - U_d S_d||_F.
/// Randomness: the start, normals of the random key. The method of the registry has one start for all draws.
/// Cost: 22 n_q n_k (p + d + 10) flops, memory O((n_q + n_k) d). 1 <= d <= min(n_q, n_k).
template <typename T>
Approximation<T> best_rank_iterative(const Problem<T>& problem, const LinearOperator<T>& scores, arma::uword d,
                                     const Key& draw_key);

template <typename T>
Method<T> best_rank_method();

}  // namespace croquis
