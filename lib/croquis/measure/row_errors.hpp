// Errors of single rows of an output and of single rows of scores, which norms of whole matrices average.
#pragma once

#include <armadillo>
#include <limits>

namespace croquis {

/// Errors of the rows o~_i of an approximation against the rows o_i of the exact output, over the queries i. A row with
/// o_i = 0 has no relative error and no cosine, and is left out; NaN if all rows are 0.
struct RowErrors {
  double relative_q50 = 0, relative_q90 = 0, relative_q99 = 0;  ///< quantiles of ||o_i - o~_i|| / ||o_i||
  double relative_max = 0;
  double cosine_mean = 0, cosine_q10 = 0;  ///< of o_i.o~_i / (||o_i|| ||o~_i||); 0 for o~_i = 0
};

/// Both matrices must be finite. Quantiles are linear between order statistics (type 7).
/// Cost: O(n p_v + n log n).
/// Throws: std::invalid_argument unless the sizes are equal.
RowErrors row_errors(const arma::mat& exact, const arma::mat& approximate);

/// Kullback-Leibler divergences of the rows of B~ from those of B, sum_j b~_ij log(b~_ij / b_ij), over the queries.
/// They measure how far each query's attention has moved as a distribution over the keys. (In the other direction they
/// are infinite for every method that leaves a key out.)
struct RowDivergences {
  double mean = std::numeric_limits<double>::quiet_NaN(), q90 = std::numeric_limits<double>::quiet_NaN();
};

/// The divergences for B and B~ (n_q x n_k). NaN unless every row of B~ is a distribution: entries of at least -1e-9,
/// where negative ones count as 0, and sums within 1e-4 of 1 (both tolerances are for rounding in float). Infinite if
/// b_ij is 0, by underflow or a mask, and b~_ij is not.
/// Cost: n_q n_k logarithms.
/// Throws: std::invalid_argument unless the sizes are equal.
RowDivergences row_divergences(const arma::mat& exact, const arma::mat& approximate);

/// The error of a renormalised mask. Let b~_ij be b_ij / (1 - tau_i) on some keys of row i, the head, and 0 on the
/// others, the tail, with tau_i = sum of b_ij over the tail. Then
///   o_i - o~_i = tau_i (mu_tail - mu_head),   tau_i = 1 - exp(-KL(b~_i || b_i)),
/// where mu are the means of the values over tail and head, weighted by b_ij.
struct TailErrors {
  double mass = std::numeric_limits<double>::quiet_NaN();   ///< mean of tau_i over the rows
  double shift = std::numeric_limits<double>::quiet_NaN();  ///< mean of ||mu_tail - mu_head|| / ||o_i||, tau_i > 0
};

/// The errors for B and B~ (n_q x n_k) and V. NaN unless every row of B~ is such a mask, up to 1e-4 in the 1-norm (for
/// rounding in float). The shift is NaN if no row with a tail has an o_i that is not 0.
/// Cost: 2 n_q n_k p_v flops.
/// Throws: std::invalid_argument for other sizes.
TailErrors tail_errors(const arma::mat& exact, const arma::mat& approximate, const arma::mat& values);

}  // namespace croquis
