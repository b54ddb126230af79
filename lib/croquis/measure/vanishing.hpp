// Outputs, errors and derivatives that are rounding alone, with which nothing can be compared.
#pragma once

#include <armadillo>
#include <croquis/attention/gradient.hpp>
#include <croquis/attention/problem.hpp>

namespace croquis {

/// max ||q_i|| max ||k_j|| / sqrt(p): no score of the softmax target is larger, and a computed one is off by (p + 2) u
/// times this at most.
double largest_score(const Problem<double>& problem);

/// What a computed weight b_ij of the softmax target is off by, relative to itself, and by as much a product with n
/// weights.
double weight_rounding(const Problem<double>& problem);

/// Whether the computed output B V of the softmax target is no larger than what rounding alone may make of 0: for
/// values that are 0, or that flat attention averages to 0. Cost: the lengths of all rows.
bool vanishes(const arma::mat& output, const Problem<double>& problem);

/// Whether an error ||O~ - O|| of an output of the softmax target (spectral or Frobenius norm) is no larger than what
/// rounding alone may make of it where the method is exact. Two such errors, or their quotient, say nothing of the
/// methods. Cost: the lengths of all rows.
bool is_rounding(double error, const Problem<double>& problem);

/// What rounding alone may make of derivatives that are 0, at most, in the Frobenius norm.
struct GradientRounding {
  double q = 0, k = 0, bias = 0;
};

/// That of the computed derivatives of <cotangent, B V> for the weights B of a target: they are 0 for equal values, or
/// weights of 0 and 1, those by Q also for equal keys. Keys count in the rows in which they have a weight, however long
/// they are. For the kernelized target they are sums of d_ij (k_j - q_i), and 0 where queries have weights at keys that
/// are equal to them alone, as where tokens, each once or repeated, are far from all others.
/// Cost: 2 n_q n_k p flops and n_q n_k exponentials.
GradientRounding gradient_rounding(const Problem<double>& problem, Target target, const arma::mat& cotangent);

/// Whether the computed derivatives by Q and K together are no larger than this.
bool vanishes(const Gradient<double>& gradient, const Problem<double>& problem, Target target,
              const arma::mat& cotangent);

}  // namespace croquis
