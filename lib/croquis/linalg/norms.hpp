// Spectral, Frobenius and largest-entry norms, of stored matrices and matrix-free.
#pragma once

#include <armadillo>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/random/key.hpp>

namespace croquis {

/// ||A||, the largest singular value of a stored matrix; 0 for an empty one.
/// Guarantees: relative error at most c max(m, n) u, k = min(m, n): the root of the largest eigenvalue of the smaller
///   Gram matrix of A / max|a_ij|, which is a sum of squares and loses nothing at the top of the spectrum. No overflow.
/// Cost: m n k + O(k^3) flops.
template <typename T>
T spectral_norm(const arma::Mat<T>& a);

/// ||A||_F. No overflow: scaled by max|a_ij|.
template <typename T>
T frobenius_norm(const arma::Mat<T>& a);

/// max |a_ij|; 0 for an empty matrix.
template <typename T>
T largest_entry(const arma::Mat<T>& a);

struct LanczosOptions {
  double tolerance = 1e-6;  ///< stop when residual <= tolerance * value
  int max_steps = 300;      ///< bidiagonalisation steps at most
  double failure = 1e-9;    ///< probability that `upper` is below the norm
};

/// What Golub-Kahan-Lanczos says of ||A||: lower <= ||A|| always (up to rounding), and ||A|| <= upper with
/// probability at least 1 - failure over the random start.
struct NormEstimate {
  double value = 0;  ///< the largest Ritz value
  double lower = 0;  ///< value less its rounding error
  double upper =
      0;  ///< from Kuczynski and Wozniakowski (1992), Thm. 4.1; equal to `value` when the Krylov space is exhausted
  double residual = 0;  ///< ||A^T u - value v||: a singular value lies within this of `value`
  int steps = 0;
  bool converged = false;  ///< residual <= tolerance * value
};

/// ||A|| of an operator by Golub-Kahan-Lanczos bidiagonalisation with full reorthogonalisation.
/// Guarantees: after k steps the Ritz value s satisfies ||A||^2 (1 - e) <= s^2 with probability at least
///   1 - 1.648 sqrt(n) exp(-sqrt(e) (2k - 1)); `upper` solves for e.
/// Randomness: the start vector, normals of `key`. Cost: two products a step, O((m + n) steps^2) flops.
template <typename T>
NormEstimate spectral_norm(const LinearOperator<T>& a, const Key& key, const LanczosOptions& options = {});

}  // namespace croquis
