#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/score_matrices.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/spectrum.hpp>
#include <croquis/linalg/trace_estimate.hpp>
#include <croquis/measure/lift_spectrum.hpp>
#include <croquis/nystrom/nested.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/leverage.hpp>
#include <croquis/stats/search.hpp>
#include <croquis/stats/summary.hpp>
#include <limits>
#include <map>
#include <stdexcept>

namespace croquis {
namespace {

// Every lambda would be 0 with it.
void require_scores(double norm_c) {
  if (norm_c > 0 || std::isnan(norm_c)) return;
  throw std::runtime_error("C is zero: the scores of all queries and keys underflow");
}

void set_scores(LiftDimension& dimension, const arma::vec& scores) {
  const Summary summary = summarise(arma::conv_to<std::vector<double>>::from(scores));
  dimension.leverage_q10 = summary.q10;
  dimension.leverage_q50 = summary.q50;
  dimension.leverage_q90 = summary.q90;
  dimension.leverage_max = summary.largest;
  const double mean = dimension.d_stat_lo / static_cast<double>(scores.n_elem);
  dimension.beta = std::min(1.0, mean / dimension.leverage_max);
}

}  // namespace

LiftSpectrum dense_lift_spectrum(const Problem<double>& problem, const std::vector<double>& epsilons, const Key& key) {
  LiftSpectrum spectrum;
  const arma::mat scores = score_matrix(problem, ScoreMatrix::kernelized);
  spectrum.norm_c = spectral_norm(as_operator(scores), key.child("norm")).value;
  require_scores(spectrum.norm_c);
  spectrum.stable_rank_c = std::pow(frobenius_norm(scores) / spectrum.norm_c, 2);
  const RidgeLeverage<double> leverage(LiftedPoints<double>(problem.Q(), problem.K()).kernel());
  spectrum.norm_lift = leverage.eigenvalues()(0);
  spectrum.stable_rank_lift = stable_rank(leverage.eigenvalues());
  for (const double epsilon : epsilons) {
    LiftDimension d;
    d.lambda = epsilon * spectrum.norm_c;
    d.d_stat = d.d_stat_lo = d.d_stat_hi = leverage.statistical_dimension(d.lambda);
    set_scores(d, leverage.scores(d.lambda));
    spectrum.dimensions.push_back(d);
  }
  return spectrum;
}

LiftSpectrum lanczos_lift_spectrum(const Problem<double>& problem, const std::vector<double>& epsilons,
                                   arma::uword leading, int probes, const Key& key) {
  LiftSpectrum spectrum;
  const ScoreOperator scores = score_operator(problem, ScoreMatrix::kernelized);
  spectrum.norm_c = spectral_norm(scores.matrix, key.child("norm")).value;
  require_scores(spectrum.norm_c);
  spectrum.stable_rank_c = std::pow(scores.frobenius / spectrum.norm_c, 2);
  // The lift is the kernelized score matrix of the stacked points with themselves.
  const arma::mat points = arma::join_cols(problem.Q(), problem.K());
  const ScoreOperator lift = score_operator(
      Problem<double>(points, points, arma::mat(points.n_rows, 1, arma::fill::zeros)), ScoreMatrix::kernelized);
  const auto top = leading_spectrum(lift.matrix, leading, key.child("leading"));
  spectrum.norm_lift = top.values(0);
  spectrum.stable_rank_lift = std::pow(lift.frobenius / spectrum.norm_lift, 2);
  const arma::mat squares = arma::square(top.right);
  const arma::vec rest = arma::clamp(1 - arma::sum(squares, 1), 0, 1);
  for (const double epsilon : epsilons) {
    LiftDimension d;
    d.lambda = epsilon * spectrum.norm_c;
    const auto share = [&](double x) { return x / (x + d.lambda); };
    const auto sum =
        spectral_sum<double>(lift.matrix, share, top.values, top.right, key.child("sum"), {.probes = probes});
    d.d_stat = sum.value;
    d.d_stat_lo = sum.lower;
    d.d_stat_hi = sum.upper;
    const arma::vec shares = top.values / (top.values + d.lambda);
    set_scores(d, arma::clamp(squares * shares + share(top.values.min()) * rest, 0, 1));
    spectrum.dimensions.push_back(d);
  }
  return spectrum;
}

LinearOperator<double> kernelized_scores(const Problem<double>& problem, bool dense) {
  return dense ? as_operator(score_matrix(problem, ScoreMatrix::kernelized))
               : exact_scores(problem, Target::kernelized);
}

std::vector<double> sufficient_landmarks(const Problem<double>& problem, const LinearOperator<double>& exact,
                                         double norm_c, const std::vector<double>& epsilons, const Key& key) {
  const LiftedPoints<double> lift(problem.Q(), problem.K());
  const arma::uword most = 2 * problem.n();
  NestedNystrom nystrom(lift, sample_with_replacement(most, most, key.child("landmarks")), core_cutoff(lift, most));
  constexpr double kAccuracy = 1e-4;
  std::map<arma::uword, double> known;  // the epsilons share what has been measured
  const auto error = [&](arma::uword d) {
    const auto found = known.find(d);
    if (found != known.end()) return found->second;
    const auto norm = spectral_norm(difference(exact, nystrom.scores(d)), key.child("norm"), {.tolerance = kAccuracy});
    return known[d] = norm.value / norm_c;
  };

  std::vector<double> sufficient;
  for (const double epsilon : epsilons) {
    const auto d = smallest_sufficient(1, most, [&](arma::uword landmarks) { return error(landmarks) <= epsilon; });
    sufficient.push_back(d ? static_cast<double>(*d) : std::numeric_limits<double>::infinity());
  }
  return sufficient;
}

}  // namespace croquis
