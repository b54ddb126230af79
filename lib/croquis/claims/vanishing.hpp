// Outputs, derivatives and errors that are rounding alone, with which nothing can be compared. Not installed.
#pragma once

#include <armadillo>
#include <croquis/attention/gradient.hpp>
#include <croquis/attention/problem.hpp>

namespace croquis::claims {

/// What rows say that relative errors of such an output or such derivatives would decide.
inline constexpr const char* kOutputVanishes = "nothing to compare with: the exact output is 0 or rounding alone";
inline constexpr const char* kGradientVanishes =
    "nothing to compare with: the exact derivatives are 0 or rounding alone";
inline constexpr const char* kErrorsVanish = "nothing to compare with: the errors are rounding alone";

/// max ||q_i|| max ||k_j|| / sqrt(p): no score is larger, and a computed one is off by (p + 2) u times this at most.
double largest_score(const Problem<double>& problem);

/// What a weight b_ij that is computed is off by, relative to itself, and by as much a product with n weights.
double weight_rounding(const Problem<double>& problem);

/// Whether the computed output B V is no larger than what rounding alone may make of 0: for values that are 0, or that
/// flat attention averages to 0. Cost: the lengths of all rows.
bool vanishes(const arma::mat& output, const Problem<double>& problem);

/// The same of the computed derivatives of <cotangent, B V> by Q and K: for equal values, or no queries and keys.
bool vanishes(const Gradient<double>& gradient, const Problem<double>& problem, const arma::mat& cotangent);

/// Whether an error ||O~ - O|| of an output (spectral or Frobenius norm) is no larger than what rounding alone may make
/// of it where the method is exact. Two such errors, or their quotient, say nothing of the methods. Cost: the lengths
/// of all rows.
bool is_rounding(double error, const Problem<double>& problem);

}  // namespace croquis::claims
