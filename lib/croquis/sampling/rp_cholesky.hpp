// Randomly pivoted Cholesky.
#pragma once

#include <croquis/kernel/kernel_matrix.hpp>
#include <croquis/random/key.hpp>

namespace croquis {

/// M ~ F F^T with at most d columns in F: the Nystrom approximation with the pivots as landmarks.
template <typename T>
struct PivotedCholesky {
  arma::uvec pivots;      ///< the landmarks, in the order in which they were chosen, all different
  arma::Mat<T> factor;    ///< F, n x (number of pivots)
  arma::Col<T> residual;  ///< diagonal of M - F F^T, >= 0
};

/// Each pivot is drawn with probability proportional to the diagonal of the residual (Chen, Epperly, Tropp & Webber
/// 2025). 1 <= d <= n.
///
/// The pivots are drawn in blocks with rejection, which preserves the distribution exactly (Epperly, Tropp & Webber
/// 2024, Alg. 4). Proposals are drawn from the residual at the start of a block. A proposal is accepted with a
/// probability equal to the factor by which the previous pivots of the block have shrunk its residual.
///
/// A matrix of rank r < d, up to rounding, gives r pivots: the method stops when the trace of the residual is at most 2
/// d u (entry error) times that of M. M = 0 gives no pivots.
///
/// With the logarithms l of weights, a pivot is drawn with probability proportional to e^{l_i} times the residual, as
/// from D M D with D^2 = diag(e^l). F is still that of M, and the weights may be of any size. Points whose residual is
/// at most 2 d u (entry error) times their own diagonal entry are then not drawn, and the method stops when no others
/// are left.
/// Guarantees: without weights, E trace(M - F F^T) <= (1 + e) (the best rank-r error in the trace norm) for d >= r/e +
///   r log(1/(e eta)), where eta is that error divided by trace(M).
/// Randomness: child "proposal" of the random key.
/// Cost: n d^2 flops and n d kernel entries.
/// Throws: std::invalid_argument for d outside its range, and for log_weights of another size, NaN or +infinity.
template <typename T>
PivotedCholesky<T> rp_cholesky(const KernelMatrix<T>& matrix, arma::uword d, const Key& draw_key,
                               const arma::Col<T>& log_weights = {});

}  // namespace croquis
