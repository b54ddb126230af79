// The cases of adjoint_reference.txt: what the library computes with, for PyTorch to do the same.
#pragma once

#include <croquis/attention/exact_adjoint.hpp>
#include <croquis/attention/kriged/sized.hpp>
#include <croquis/attention/linformer.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/features/projections.hpp>
#include <croquis/kernel/kernel_matrix.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/column_norms.hpp>
#include <croquis/sampling/landmarks.hpp>
#include <croquis/sampling/pilot.hpp>
#include <croquis/sketch/gaussian.hpp>
#include <map>
#include <string>
#include <vector>

#include "support/approximations.hpp"
#include "support/methods.hpp"
#include "support/relative.hpp"

using Arrays = std::map<std::string, arma::mat>;

/// A method with options at one d on one problem, and what is drawn for it, from the library's parts.
struct ReferenceCase {
  std::string name, method;                    ///< `name` is what adjoint_reference.py knows it by
  std::map<std::string, std::string> options;  ///< of the method
  arma::uword d = 0;
  bool causal = false, bias = false;
  Arrays drawn = {};
};

inline const croquis::Key kReferenceKey = croquis::Key(71);

/// 11 tokens, width 3, values of width 2.
inline croquis::Problem<double> reference_problem(const ReferenceCase& c) {
  croquis::RelativePosition<double> position;
  if (c.bias) position = random_position<double>(11, 1, false, 0.5, kReferenceKey.child("bias"), false);
  position.causal = c.causal;
  return random_rectangle<double>(11, 11, 3, 2, 2.5, kReferenceKey, position);
}

inline arma::mat reference_cotangent() {
  return random_matrix(11, 2, kReferenceKey.child("cotangent"));
}

/// Queries and keys that are near enough to each other for a regression to be better than none.
constexpr double kCoresetScale = 0.6;
inline croquis::Problem<double> coreset_problem() {
  const croquis::Problem<double> problem = reference_problem({});
  return {kCoresetScale * problem.Q(), kCoresetScale * problem.K(), problem.V()};
}

/// The kriged coreset of these sizes: with those that it finds itself it is exact attention on so few tokens.
inline croquis::Approximation<double> reference_coreset(const croquis::Problem<double>& problem) {
  return croquis::kriged_of_sizes<double>(
      std::make_shared<const croquis::KrigedInput<double>>(problem),
      {.landmarks = 4, .checks = 0, .exact_rows = 2, .cells = 5, .window = 0, .exact = false},
      {.mode = croquis::KrigedCoresetOptions::Mode::coreset}, kReferenceKey.child("draw"));
}

/// Its leaves, its cells, its ridge (two digits of the logarithm, of which the power of ten is known) and the queries
/// that are farthest from the mean of their leaf.
inline Arrays coreset_choices(const croquis::Problem<double>& problem) {
  const croquis::Key key = kReferenceKey.child("draw");
  const croquis::KrigedInput<double> input(problem);
  const arma::vec ones(problem.n_q(), arma::fill::ones);
  const auto split = [&](const arma::mat& points, const arma::vec& weights, arma::uword leaves, const char* name) {
    return croquis::split_points(points, weights, leaves, croquis::SplitDirection::random, key.child(name));
  };
  const auto as_row = [](const std::vector<std::uint32_t>& numbers) {
    return arma::mat(arma::conv_to<arma::rowvec>::from(numbers));
  };
  const croquis::PointTree queries = split(input.queries.columns, ones, 4, "queries");
  arma::mat means = leaf_means(input.queries, ones, queries);
  means.each_row() += input.queries.mean.t();
  arma::vec counts(4), distances(problem.n_q());
  for (arma::uword g = 0; g < 4; ++g) counts[g] = queries.count(g);
  for (arma::uword i = 0; i < distances.n_elem; ++i) {
    distances[i] = arma::norm(problem.Q().row(i) - means.row(queries.leaf[i]));
  }
  const croquis::ExactRows<double> rows = exact_rows_of(input, means, {0, 1, 2, 3});
  const arma::vec importance = key_importance(input, rows, counts);
  const double log_ridge = std::log10(reference_coreset(problem).diagnostics.ridge);
  const arma::uvec farthest = arma::sort_index(distances, "descend");
  return {{"leaf", as_row(queries.leaf)},
          {"cell", as_row(split(input.keys.columns, importance, 5, "keys").leaf)},
          {"log_ridge", arma::mat(1, 1, arma::fill::value(std::round(100 * log_ridge) / 100))},
          {"rows", arma::mat(arma::conv_to<arma::rowvec>::from(farthest.head(2)))}};
}

inline std::vector<ReferenceCase> reference_cases() {
  using croquis::Key;
  const Key key = kReferenceKey.child("draw");
  std::vector<ReferenceCase> cases;
  for (const char* target : {"softmax", "kernelized", "normalized", "softmax-rpe", "normalized-rpe"}) {
    const bool rpe = std::string(target).ends_with("rpe");
    cases.push_back({target, "exact", {}, 0, rpe, rpe});
  }
  cases.push_back({"v-mean", "v-mean", {}, 1, true, false});

  const auto dense = [](const croquis::LinearOperator<double>& e) { return e.dense(); };
  using Distribution = croquis::LinformerOptions::Distribution;
  cases.push_back({"linformer",
                   "linformer",
                   {},
                   4,
                   false,
                   false,
                   {{"E", dense(croquis::linformer_projection<double>(Distribution::normal, 11, 4, key.child("E")))},
                    {"F", dense(croquis::linformer_projection<double>(Distribution::normal, 11, 4, key.child("F")))}}});
  cases.push_back({"linformer-unreduced",
                   "linformer-unreduced",
                   {},
                   4,
                   false,
                   false,
                   {{"S", croquis::GaussianSketch(11, 4, key.child("sketch")).dense<double>()}}});

  const croquis::Problem<double> problem = reference_problem({});
  const auto as_row = [](const arma::uvec& indices) { return arma::mat(arma::conv_to<arma::rowvec>::from(indices)); };
  const auto uniform_points = [&](const croquis::KernelMatrix<double>& kernel, arma::uword d) {
    return croquis::LandmarkSampler<double>(kernel, croquis::LandmarkPolicy::uniform, {}, 11)
        .draw(d, key.child("landmarks"));
  };
  const arma::uvec points = uniform_points(croquis::LiftedPoints<double>(problem.Q(), problem.K()).kernel(), 6);
  const std::map<std::string, std::string> code = {{"inverse", "iterative"}, {"ridge", "0.1"}};
  for (const std::string method : {"skyformer", "skyformer-softmax"}) {
    // A point that is drawn twice is one point for a pseudo-inverse.
    cases.push_back({method, method, {}, 6, false, false, {{"J", as_row(arma::unique(points))}}});
    cases.push_back({method + "-code", method, code, 6, false, false, {{"J", as_row(points)}}});
  }

  cases.push_back({"nystromformer", "nystromformer", {}, 4});
  cases.push_back({"nystromformer-one", "nystromformer", {{"start", "one"}}, 4});
  cases.push_back({"nystromformer-pinv", "nystromformer", {{"inverse", "pinv"}}, 4});
  const auto keys = croquis::gaussian_kernel_matrix<double>(std::pow(3.0, -0.25) * problem.K());
  cases.push_back({"nystromformer-rows",
                   "nystromformer",
                   {{"landmarks", "uniform"}},
                   4,
                   false,
                   false,
                   {{"J", as_row(uniform_points(keys, 4))}}});

  const croquis::Pilot<double> pilot =
      croquis::pilot_sample(problem.Q(), problem.K(), problem.V(), 4, key.child("pilot"), true);
  const arma::mat columns =
                      as_row(croquis::sample_weighted_without_replacement(pilot.weights, 4, key.child("columns"))),
                  uniform = as_row(croquis::sample_without_replacement(11, 4, key.child("columns")));
  const Arrays sampled = {{"columns", columns}, {"rows", as_row(arma::unique(pilot.rows))}};
  cases.push_back({"skeinformer", "skeinformer", {}, 4, false, false, sampled});
  cases.push_back({"skeinformer-simple", "skeinformer-simple-norm", {}, 4, false, false, sampled});
  cases.push_back({"skeinformer-columns", "skeinformer-no-reuse", {}, 4, false, false, {{"columns", columns}}});
  cases.push_back({"skeinformer-columns-uniform", "skeinformer-uniform", {}, 4, false, false, {{"columns", uniform}}});

  const Arrays weighted = {{"columns", as_row(croquis::sample_weighted(pilot.weights, 4, key.child("columns")))},
                           {"pilot", as_row(pilot.rows)}};
  cases.push_back({"sampled-columns", "sampled-columns", {}, 4, false, false, weighted});
  const arma::vec of_all =
      croquis::column_norms(problem.Q(), problem.K()).norms % arma::sqrt(arma::sum(arma::square(problem.V()), 1));
  cases.push_back({"sampled-columns-exact",
                   "sampled-columns",
                   {{"p", "exact"}},
                   4,
                   false,
                   false,
                   {{"columns", as_row(croquis::sample_weighted(of_all, 4, key.child("columns")))}}});
  Arrays known = weighted;
  known["rows"] = as_row(arma::unique(pilot.rows));
  cases.push_back({"skeinformer-no-norm", "skeinformer-no-norm", {}, 4, false, false, known});
  cases.push_back({"kriged-coreset", "kriged-coreset", {}, 0, false, false, coreset_choices(coreset_problem())});

  using Projection = croquis::Projection<double>;
  const auto w = [&](const char* distribution, arma::uword m) {
    return Arrays{
        {"W", Projection(croquis::projection_distribution(distribution), m, 3, key.child("features")).dense()}};
  };
  for (const std::string map : {"trf", "prf", "hyperbolic", "sphere", "oprf", "saderf"}) {
    const arma::uword m = map == "trf" || map == "hyperbolic" ? 4 : 8;
    cases.push_back({"performer-" + map, "performer", {{"map", map}}, 8, false, false, w("haar", m)});
    if (map == "trf") continue;
    cases.push_back({"performer-" + map + "-epsilon",
                     "performer",
                     {{"map", map}, {"epsilon", "0.05"}},
                     8,
                     false,
                     false,
                     w("haar", m)});
  }
  cases.push_back({"performer-prf-sorf", "performer", {{"projection", "sorf"}}, 8, false, false, w("sorf", 8)});
  cases.push_back({"nprf-prf", "nprf", {}, 8, false, false, w("iid", 8)});
  cases.push_back({"prf-rpe-fft", "prf-rpe", {{"product", "fft"}}, 8, false, true, w("iid", 8)});
  cases.push_back({"prf-rpe-direct", "prf-rpe", {{"product", "direct"}}, 8, true, true, w("iid", 8)});
  cases.push_back({"prf-rpe-prefix", "prf-rpe", {}, 8, true, false, w("iid", 8)});
  cases.push_back({"nprf-rpe-fft", "nprf-rpe", {{"product", "fft"}}, 8, true, true, w("iid", 8)});
  return cases;
}
