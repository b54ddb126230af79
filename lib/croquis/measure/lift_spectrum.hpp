// The lift of a head at one kernel width: its spectrum, and sufficient numbers of landmarks. Part of lift_dimensions().
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/random/key.hpp>
#include <vector>

namespace croquis {

/// The results at one lambda. With lanczos the scores are upper bounds, and beta is a lower bound.
struct LiftDimension {
  double lambda = 0, d_stat = 0, d_stat_lo = 0, d_stat_hi = 0;
  double leverage_max = 0, leverage_q90 = 0, leverage_q50 = 0, leverage_q10 = 0;
  double beta = 0;  ///< min_i d_stat_lo / (2n l_i), at most 1
};

struct LiftSpectrum {
  double norm_c = 0, norm_lift = 0, stable_rank_c = 0, stable_rank_lift = 0;
  std::vector<LiftDimension> dimensions;  ///< one for each epsilon
};

/// The spectrum for the kernelized scores of `problem`, whose queries and keys are already divided by the width, with
/// lambda = epsilon ||C||. dense: all eigenvalues of the lift; lanczos: see lift_dimensions().
LiftSpectrum dense_lift_spectrum(const Problem<double>& problem, const std::vector<double>& epsilons, const Key& key);
LiftSpectrum lanczos_lift_spectrum(const Problem<double>& problem, const std::vector<double>& epsilons,
                                   arma::uword leading, int probes, const Key& key);

/// C as an operator; stored if dense.
LinearOperator<double> kernelized_scores(const Problem<double>& problem, bool dense);

/// For one sequence of 2n uniform landmarks, drawn with replacement, and for each epsilon: a d with ||C - C~_d|| <=
/// epsilon ||C|| for which d - 1 does not suffice, found by doubling and bisection; infinity if 2n landmarks do not
/// suffice. It is the smallest such d if the error falls with d, as that of the lift does. C is a block of the lift,
/// whose error may rise.
/// Randomness: the landmarks from key.child("landmarks"), the starts of the norms from key.child("norm").
std::vector<double> sufficient_landmarks(const Problem<double>& problem, const LinearOperator<double>& exact,
                                         double norm_c, const std::vector<double>& epsilons, const Key& key);

}  // namespace croquis
