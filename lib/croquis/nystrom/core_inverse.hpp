// The inverse of the core of a Nystrom approximation.
#pragma once

#include <croquis/linalg/linear_operator.hpp>

namespace croquis {

/// W^+ of a symmetric positive semi-definite core W (d x d), in factors, and the rank that is kept.
template <typename T>
struct CoreInverse {
  LinearOperator<T> inverse;
  arma::uword rank = 0;
};

/// Eigenvalues <= cut-off * largest are treated as zero. Where none can be, W^-1 comes from a Cholesky factor.
/// Cost: d^3 flops with the factor, about 9 d^3 without.
template <typename T>
CoreInverse<T> invert_core(const arma::Mat<T>& core, T relative_cutoff);

}  // namespace croquis
