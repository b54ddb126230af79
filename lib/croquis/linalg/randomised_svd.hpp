// The leading singular triples of an operator by subspace iteration from a random start.
#pragma once

#include <armadillo>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/random/key.hpp>

namespace croquis {

struct RandomisedSvdOptions {
  arma::uword oversampling = 10;  ///< columns beyond k
  int iterations = 4;             ///< subspace iterations, q >= 0
};

/// A ~ left diag(values) right^T.
template <typename T>
struct TruncatedSvd {
  arma::Mat<T> left, right;  ///< m x k and n x k, orthonormal columns
  arma::Col<T> values;       ///< descending
  double residual = 0;       ///< ||A right - left diag(values)||_F
};

/// The k largest singular triples of an m x n operator (Halko, Martinsson & Tropp 2011, Alg. 4.4 and 5.1). It computes
/// Y = A Omega, then repeats Y <- A orth(A^T orth(Y)) q times, and then decomposes orth(Y)^T A. 1 <= k <= min(m, n).
/// Guarantees: the values are at most the true singular values, up to rounding. E||A - A~|| <= (1 + (1 + c)^{1/(2q+1)})
///   sigma_{k+1}, c = sqrt(k / (s - 1)) + e sqrt(k + s) sqrt(min(m, n) - k) / s for an
///   oversampling of s (their Thm. 9.3 with Cor. 10.10). In practice the error at q = 4 is usually within a few per
///   cent of the best.
/// Randomness: Omega, normals of the key.
/// Cost: 2q + 3 products with k + oversampling columns, the last of them for the residual, and O((m + n) (k +
///   oversampling)^2 q) flops.
/// Throws: std::invalid_argument for k or q outside their ranges; std::runtime_error if a product is not finite or a
///   solver fails.
template <typename T>
TruncatedSvd<T> randomised_svd(const LinearOperator<T>& a, arma::uword k, const Key& key,
                               const RandomisedSvdOptions& options = {});

}  // namespace croquis
