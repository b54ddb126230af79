// Randomly pivoted Cholesky.
#pragma once

#include <croquis/kernel/kernel_matrix.hpp>
#include <croquis/random/key.hpp>

namespace croquis {

/// M ~ F F^T with F of at most d columns: the Nystrom approximation at the pivots.
template <typename T>
struct PivotedCholesky {
  arma::uvec pivots;      ///< landmarks in the order they were taken, all different
  arma::Mat<T> factor;    ///< F, n x pivots
  arma::Col<T> residual;  ///< diagonal of M - F F^T, >= 0
};

/// Each pivot is drawn with probability proportional to the residual's diagonal (Chen, Epperly, Tropp & Webber 2025).
/// Done in blocks with rejection, which keeps the distribution of one-by-one exactly (Epperly, Tropp & Webber 2024,
///   Alg. 4): proposals are drawn from the residual at the start of a block, and one is taken with the probability by
///   which the pivots before it in the block have shrunk its residual.
/// Guarantees: E trace(M - F F^T) is within (1 + e) of the best rank-r error for d >= r/e + r log(1/(e eta)).
/// A matrix of rank r < d, up to rounding, gives r pivots: it stops when the residual's trace is at most
///   d u (entry error) times M's. M = 0 gives none.
/// Randomness: child `proposal` of the random key. Cost: O(n d^2) flops, (d + proposals) n kernel entries. d <= n.
template <typename T>
PivotedCholesky<T> rp_cholesky(const KernelMatrix<T>& matrix, arma::uword d, const Key& draw_key);

}  // namespace croquis
