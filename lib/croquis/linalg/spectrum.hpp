// Singular values, all of a stored matrix or the largest of an operator, and quantities derived from them.
#pragma once

#include <armadillo>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/random/key.hpp>

namespace croquis {

/// All min(m, n) singular values of an m x n matrix, descending.
/// Guarantees: the absolute error of each is O(max(m, n) u sigma_1).
/// Cost: about 8/3 m n min(m, n) flops.
/// Throws: std::invalid_argument where there is no memory for a copy; std::runtime_error if LAPACK does not converge.
arma::vec singular_values(const arma::mat& a);

/// ||A||_F^2 / ||A||^2, from 1 to the rank; NaN for a zero matrix.
double stable_rank(const arma::vec& values);

/// max(m, n) u with u = 2^-53. Singular values below this multiple of the largest are rounding.
double rank_cutoff(arma::uword m, arma::uword n);

/// The number of values above cutoff * sigma_1.
arma::uword numerical_rank(const arma::vec& values, double cutoff);

/// sigma_1 / sigma_last, or 1 / cutoff if that is smaller. A larger ratio would be rounding, and 1 / cutoff is then a
/// lower bound. NaN for a zero matrix.
double condition_number(const arma::vec& values, double cutoff);

struct LeadingOptions {
  double tolerance = 1e-6;  ///< stop when all residuals are at most tolerance * sigma_1
  int max_steps = 0;        ///< 0 means 3 k + 100
};

/// The largest singular values of an operator.
template <typename T>
struct LeadingSpectrum {
  arma::vec values;        ///< descending; each at most the true singular value of that index, up to rounding
  arma::vec residuals;     ///< ||A^T u_i - s_i v_i||; a singular value lies within this distance of s_i
  arma::Mat<T> right;      ///< the v_i, orthonormal columns
  int steps = 0;           ///< products with A, and with A^T
  bool converged = false;  ///< every residual is within the tolerance
};

/// The k largest singular values of an m x n operator (all if there are fewer), by the Golub-Kahan-Lanczos method with
/// full reorthogonalisation. When the space becomes invariant, the method continues from a new random direction, so the
/// zero singular values of a matrix of low rank are found too.
/// Limits: the Lanczos method may find a repeated singular value fewer times than it occurs.
/// Randomness: the start vectors, normals of children of `key`.
/// Cost: two products for each step, O((m + n) steps^2) flops, and memory (m + n) max_steps.
/// Throws: std::invalid_argument unless k >= 1, the options are in their ranges and there is memory for the vectors;
///   std::runtime_error if the singular value solver fails.
template <typename T>
LeadingSpectrum<T> leading_spectrum(const LinearOperator<T>& a, arma::uword k, const Key& key,
                                    const LeadingOptions& options = {});

}  // namespace croquis
