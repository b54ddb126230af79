// Exact attention, and norms of score matrices, with the tokens divided among the ranks.
#pragma once

#include <croquis/attention/exact.hpp>
#include <croquis/distributed/split_head.hpp>
#include <croquis/random/key.hpp>
#include <functional>

namespace croquis {

/// The exact output and log row sums of some queries (in any order, each < n), against all keys, on all ranks: every
/// rank uses its own keys, and the parts of a row are combined by their row sums. For the softmax and the kernelized
/// target.
/// Guarantees: a bound for the error of exact_attention_rows holds, to first order in u, with an addition on R ranks:
///   (|L| + 4 log n + 4 R + 4) u max |v| for a row of softmax with log row sum L, as the part of rank r counts by
///   exp(L_r - max L_r) and L_r is rounded to |L_r| u; (R - 1) u sum_j c_ij |v_j| for a row of kernelized; and for log
///   row sums (2 |L| + 4 log n + 4 R + 4) u.
/// Cost: 2 r (n / R) (p + p_v) flops for each rank and r queries.
/// Network: r (p + p_v + 2) numbers.
/// Throws: std::invalid_argument as require_split_head, for other targets, and unless there is a row and all are below
///   n.
ExactAttention<double> split_exact_rows(const SplitHead& head, Target target, const arma::uvec& rows,
                                        const Communicator& world);

/// B or C with rows and columns divided as the tokens, for vectors of which each rank has its own part: X -> B X and X
/// -> B^T X on own rows. Nothing n x n is stored; blocks of queries are sent to all ranks in turn.
/// Cost: that of exact attention, divided by R.
/// Network: n (p + k + 2) numbers for B X and for B^T X, with k columns of X; n (p + 3) once, for the row sums.
class SplitScores {
 public:
  /// The Communicator is copied, which gives the same ranks.
  /// Throws: std::invalid_argument as require_split_head, and for another target.
  SplitScores(SplitHead head, Target target, Communicator world);

  /// X must have the rows of the rank's tokens and be finite on all ranks, with rows of norm at most
  /// largest_row_norm(n): a rank whose part is not throws std::invalid_argument, and the others wait for it.
  arma::mat apply(const arma::mat& own) const;
  arma::mat apply_transposed(const arma::mat& own) const;
  const RowSums<double>& row_sums() const { return row_sums_; }  ///< of own rows

 private:
  arma::mat attend(const arma::mat& own, RowSums<double>* row_sums) const;

  SplitHead head_;
  Target target_;
  Communicator world_;
  RowSums<double> row_sums_;
};

/// ||A|| of an operator on divided vectors, by power iteration on A^T A. The result is never above the norm, up to
/// rounding. Its square is below (1 - e) ||A||^2 with probability at most 0.824 sqrt(n) (1 - e)^(steps - 3/2)
/// (Kuczynski and Wozniakowski 1992, Thm. 4.1a). (The Lanczos method would keep the vectors of all steps, for which
/// there is no memory here.)
/// Randomness: entry i of the start is normal i of the random key, whichever rank has it.
struct SplitOperator {
  std::function<arma::mat(const arma::mat&)> apply, apply_transposed;
};
double split_spectral_norm(const SplitOperator& a, RowRange own, const Key& draw_key, int steps,
                           const Communicator& world);

}  // namespace croquis
