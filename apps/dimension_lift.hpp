// What croquis dimension says of one lift: a head at one kernel width.
#pragma once

#include <armadillo>
#include <croquis/attention/problem.hpp>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/random/key.hpp>
#include <vector>

/// At one lambda. With lanczos the scores are upper limits and beta is a lower one.
struct LiftDimension {
  double lambda = 0, d_stat = 0, d_stat_lo = 0, d_stat_hi = 0;
  double leverage_max = 0, leverage_q90 = 0, leverage_q50 = 0, leverage_q10 = 0;
  double beta = 0;  ///< min_i d_stat / (2n l_i)
};

struct LiftSpectrum {
  double norm_c = 0, norm_lift = 0, stable_rank_c = 0, stable_rank_lift = 0;
  std::vector<LiftDimension> dimensions;  ///< an epsilon each
};

/// Of the kernelized scores of `problem`, whose queries and keys are divided by the width already; lambda = epsilon
/// ||C||. Dense: all eigenvalues of the lift; else the `leading` largest eigenvalues by Lanczos, what they leave of
/// d_stat by stochastic quadrature with `probes` vectors (95 %), and of a score l_i at most g(mu) (1 - sum_k v_ki^2),
/// mu the smallest eigenvalue found, g(x) = x / (x + lambda).
LiftSpectrum dense_lift_spectrum(const croquis::Problem<double>& problem, const std::vector<double>& epsilons,
                                 const croquis::Key& draw_key);
LiftSpectrum lanczos_lift_spectrum(const croquis::Problem<double>& problem, const std::vector<double>& epsilons,
                                   arma::uword leading, int probes, const croquis::Key& draw_key);

/// C, stored when dense.
croquis::LinearOperator<double> kernelized_scores(const croquis::Problem<double>& problem, bool dense);

/// For a draw of uniform landmarks with replacement, one after the other: the smallest d with
/// ||C - C~_d|| <= epsilon ||C||, by doubling and bisection, an epsilon each; infinity where 2n draws do not do.
std::vector<double> sufficient_landmarks(const croquis::Problem<double>& problem,
                                         const croquis::LinearOperator<double>& exact, double norm_c,
                                         const std::vector<double>& epsilons, const croquis::Key& draw_key);
