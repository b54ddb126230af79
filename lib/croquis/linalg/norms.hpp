// Spectral, Frobenius and largest-entry norms of stored matrices, and the spectral norm of matrix-free operators.
#pragma once

#include <armadillo>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/random/key.hpp>

namespace croquis {

/// ||A||, the largest singular value of a stored m x n matrix; 0 for an empty one, NaN for one with a NaN.
/// Guarantees: the relative error is at most c max(m, n) u. The norm is computed as the square root of the largest
///   eigenvalue of the smaller Gram matrix of A. That eigenvalue is a sum of squares, so nothing is lost at the top of
///   the spectrum. There is no overflow: A is first divided by max|a_ij| where its squares could overflow or vanish.
/// Throws: std::runtime_error if the eigenvalue solver fails.
template <typename T>
T spectral_norm(const arma::Mat<T>& a);

/// The flops of spectral_norm() of a stored matrix: m n k for the Gram matrix and 4/3 k^3 for its eigenvalues, k =
/// min(m, n).
double spectral_norm_flops(double m, double n);

/// ||A||_F, the sum of squares in double. There is no overflow: squares of doubles are scaled by max|a_ij| if need be.
template <typename T>
T frobenius_norm(const arma::Mat<T>& a);

/// max |a_ij|; 0 for an empty matrix, NaN for one with a NaN.
template <typename T>
T largest_entry(const arma::Mat<T>& a);

/// A / 2^e with the largest entry from 1 to 2 in absolute value, so that sums of its squares neither overflow nor
/// vanish; exact, except where entries less than the smallest normal number times the largest become subnormal. A
/// matrix without a nonzero entry is returned as it is.
template <typename T>
arma::Mat<T> over_power_of_two(arma::Mat<T> a);

struct LanczosOptions {
  double tolerance = 1e-6;  ///< stop when residual <= tolerance * value
  int max_steps = 300;      ///< maximum number of bidiagonalisation steps
  double failure = 1e-9;    ///< probability that `upper` is below the norm
};

/// An estimate of ||A|| by the Golub-Kahan-Lanczos method. lower <= ||A|| always (up to rounding), and ||A|| <= upper
/// with probability at least 1 - failure over the random start.
struct NormEstimate {
  double value = 0;  ///< the largest Ritz value
  double lower = 0;  ///< value less its rounding error
  /// From Kuczynski and Wozniakowski (1992), Thm. 4.1. Equal to `value` if the Krylov space is exhausted.
  double upper = 0;
  double residual = 0;  ///< ||A^T u - value v||; a singular value lies within this distance of `value`
  int steps = 0;
  bool converged = false;  ///< residual <= tolerance * value
};

/// ||A|| of an m x n operator by Golub-Kahan-Lanczos bidiagonalisation with full reorthogonalisation.
/// Guarantees: after k steps the Ritz value s satisfies ||A||^2 (1 - e) <= s^2 with probability at least
///   1 - 1.648 sqrt(n) exp(-sqrt(e) (2k - 1)). `upper` is obtained by solving for e. With up to 16 rows or columns the
///   Krylov space is exhausted, and s = ||A||; beyond, s can be another singular value where the start has next to
///   nothing of the first singular vector.
/// Randomness: the start vector, normals of `key`.
/// Cost: two products for each step, and O((m + n) steps^2) flops.
/// Throws: std::invalid_argument for options out of range, std::runtime_error if the singular value solver fails.
template <typename T>
NormEstimate spectral_norm(const LinearOperator<T>& a, const Key& key, const LanczosOptions& options = {});

}  // namespace croquis
