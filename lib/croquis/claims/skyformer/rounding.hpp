// A-priori rounding bounds for Gaussian kernel matrices, and where they underflow.
#pragma once

#include <armadillo>
#include <croquis/claims/unit.hpp>
#include <limits>

namespace croquis::claims {

/// Relative error of a computed entry exp(-||x - y||^2 / 2) for points with squared norms up to R^2, against the exact
/// kernel of the stored points. The exponent x.y - ||x||^2/2 - ||y||^2/2 is off by at most (p + p/2 + p/2 + 4) u R^2,
/// the move to the common mean by 8 u R^2, exp itself by 4 u.
/// Kernel matrices are non-negative, and ||X|| <= || |X| ||, so this is the relative error of their norms as well:
/// ||M^ - M|| <= entry_rounding ||M||.
inline double entry_rounding(arma::uword p, double largest_squared_norm) {
  return (2 * static_cast<double>(p) + 16) * kUnit * (1 + largest_squared_norm);
}

/// Whether a matrix of this norm is 0, or its entries have lost digits by underflow.
inline bool underflows(double norm) {
  return norm < std::numeric_limits<double>::min();
}
inline constexpr const char* kScoresUnderflow = "nothing to compare with: the scores C underflow";

/// Relative to ||A||: what LAPACK's symmetric eigenvalues and singular values of a matrix of this size may be off
/// (backward stable, Householder's n reflections with a few roundings each).
inline double solver_rounding(arma::uword n) {
  return 4 * (static_cast<double>(n) + 4) * kUnit;
}

}  // namespace croquis::claims
