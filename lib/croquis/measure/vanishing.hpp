// Outputs, errors and derivatives that are rounding alone, with which nothing can be compared.
#pragma once

#include <armadillo>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/gradient.hpp>
#include <croquis/attention/problem.hpp>

namespace croquis {

/// max ||q_i|| max ||k_j|| / sqrt(p), a bound on all scores of the softmax target. A computed score is off by at most
/// (p + 2) u times this bound.
double largest_score(const Problem<double>& problem);

/// A bound on the rounding error of a computed row of B V of the softmax target, relative to the longest value: 2 n u
/// for sums of n terms, and 4 (p + 2) u (1 + largest_score()) for the exponents.
double weight_rounding(const Problem<double>& problem);

/// Whether the computed output B V of the softmax target, or some rows of it, is no larger than what rounding alone may
/// make of an exact output of 0, which values of 0 have, and values that flat attention averages to 0. Cost: the
/// lengths of all rows.
bool vanishes(const arma::mat& output, const Problem<double>& problem);

/// The output, or some rows of it, as a reference for relative errors: 0 where it is no larger than what rounding alone
/// may make of an exact output of 0, which has no digits to compare with. The row sums are unchanged. For softmax that
/// is where it vanishes(), but nothing is changed where scores are so large that the bound is more than a millionth of
/// the values, as it says little there. For the kernelized target a row C V counts relative to its row sum of C. Other
/// targets: unchanged. Cost: the lengths of all rows.
ExactAttention<double> as_reference(ExactAttention<double> exact, const Problem<double>& problem, Target target);

/// Whether an error ||O~ - O|| of an output of the softmax target (spectral or Frobenius norm) is no larger than
/// rounding alone may make it for a method that is exact. Two such errors, or their quotient, say nothing about the
/// methods. Cost: the lengths of all rows.
bool is_rounding(double error, const Problem<double>& problem);

/// Bounds on the Frobenius norms of computed derivatives that are exactly 0 without rounding.
struct GradientRounding {
  double q = 0, k = 0, bias = 0;
};

/// The bounds for the derivatives of <cotangent, B V> for the weights B of a target. These derivatives are 0 for equal
/// values and for weights of 0 and 1, those by Q also for equal keys. A key counts only in the rows in which it has a
/// weight, however long it is. For the kernelized target the derivatives are sums of d_ij (k_j - q_i); they are 0 where
/// queries have weights at keys that are equal to them alone, as where tokens, each once or repeated, are far from all
/// others.
/// Cost: 2 n_q n_k p flops and n_q n_k exponentials.
GradientRounding gradient_rounding(const Problem<double>& problem, Target target, const arma::mat& cotangent);

/// Whether the computed derivatives by Q and K together are no larger than their gradient_rounding().
bool vanishes(const Gradient<double>& gradient, const Problem<double>& problem, Target target,
              const arma::mat& cotangent);

}  // namespace croquis
