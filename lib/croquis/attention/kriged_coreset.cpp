#include <algorithm>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/kriged/operator.hpp>
#include <croquis/attention/kriged/plan.hpp>
#include <croquis/attention/kriged/sizes.hpp>
#include <croquis/attention/kriged_coreset.hpp>
#include <croquis/attention/skyformer.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/random/indices.hpp>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace croquis {
namespace {

using Mode = KrigedCoresetOptions::Mode;

const KrigedShares kCoreset{"coreset", 1, 0, 0, true};
const std::vector<KrigedShares> kNear = {{"near", 0.5, 0.5, 0, true}, {"near", 0.12, 0.88, 0, true}};
const std::vector<KrigedShares> kWindow = {{"window", 0.4, 0, 0.6, false}, {"window", 0.12, 0.44, 0.44, false}};

std::vector<KrigedShares> candidates_of(const KrigedCoresetOptions& options) {
  std::vector<KrigedShares> candidates;
  const auto add = [&](const std::vector<KrigedShares>& more) {
    candidates.insert(candidates.end(), more.begin(), more.end());
  };
  const bool all = options.mode == Mode::automatic;
  if (all || options.mode == Mode::coreset) candidates.push_back(kCoreset);
  if (all || options.mode == Mode::near) add(kNear);
  if (options.mode == Mode::window || (all && options.window)) add(kWindow);
  for (KrigedShares& shares : candidates) shares.kriging = shares.kriging && options.kriging;
  return candidates;
}

template <typename T>
KrigedBudget budget_of(const Problem<T>& problem, double d, const KrigedCoresetOptions& options) {
  const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k()),
             p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
  return {.flops = skyformer_flops(n_q + n_k, p, p_v, d),
          .n_q = n_q,
          .n_k = n_k,
          .p = p,
          .p_v = p_v,
          .landmark_share = options.landmark_share,
          .checks = options.mode != Mode::coreset,
          .far = options.tree == SplitDirection::far};
}

// |q_i - its leaf's mean|^2.
template <typename T>
arma::Col<T> squared_distances(const KrigedInput<T>& input, const PointTree& tree, const arma::Mat<T>& means) {
  arma::Col<T> distances(input.problem.n_q());
  const arma::Mat<T> columns = means.t();
  parallel_for(distances.n_elem, input.problem.p(), [&](std::size_t i) {
    const T* q = input.queries.columns.colptr(i);
    const T* m = columns.colptr(tree.leaf[i]);
    T sum = 0;
    for (arma::uword c = 0; c < columns.n_rows; ++c) sum += (q[c] - m[c]) * (q[c] - m[c]);
    distances[i] = sum;
  });
  return distances;
}

// The queries with the largest distances, where there are any.
template <typename T>
std::vector<arma::uword> farthest(const arma::Col<T>& distances, T zero, arma::uword count) {
  std::vector<arma::uword> order;
  for (arma::uword i = 0; i < distances.n_elem; ++i) {
    if (distances[i] > zero) order.push_back(i);
  }
  count = std::min<arma::uword>(count, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](arma::uword a, arma::uword b) { return distances[a] != distances[b] ? distances[a] > distances[b] : a < b; });
  order.resize(count);
  return order;
}

template <typename T>
Approximation<T> approximate(const std::shared_ptr<const KrigedInput<T>>& input, arma::uword d, const Key& draw_key,
                             const KrigedCoresetOptions& options) {
  const Problem<T>& problem = input->problem;
  require(d >= 1, "kriged-coreset", "d >= 1", {{"d", d}});
  const KrigedSizes sizes = solve_sizes(budget_of(problem, static_cast<double>(d), options));
  if (sizes.exact) {
    Approximation<T> approximation = from_scores(exact_scores(problem, Target::softmax), problem);
    approximation.diagnostics.mode = "exact";
    return approximation;
  }
  const SerialBlas serial;
  auto model = std::make_shared<KrigedModel<T>>();
  model->input = input;
  const arma::Col<T> ones(problem.n_q(), arma::fill::ones);
  model->query_tree =
      split_points(input->queries.columns, ones, sizes.landmarks, options.tree, draw_key.child("queries"));
  const arma::Mat<T> means = leaf_means(input->queries, ones, model->query_tree);
  const arma::uvec checks = sample_without_replacement(problem.n_q(), sizes.checks, draw_key.child("checks"));
  model->checks.assign(checks.begin(), checks.end());
  arma::Mat<T> landmarks = means;
  landmarks.each_row() += input->queries.mean.t();
  std::vector<std::uint32_t> leaf(means.n_rows);
  std::iota(leaf.begin(), leaf.end(), 0U);
  for (const arma::uword i : checks) leaf.push_back(model->query_tree.leaf[i]);
  model->rows =
      exact_rows_of(*input, arma::Mat<T>(arma::join_cols(landmarks, problem.Q().rows(checks))), std::move(leaf));

  arma::Col<T> counts(means.n_rows);
  for (arma::uword g = 0; g < counts.n_elem; ++g) counts[g] = static_cast<T>(model->query_tree.count(g));
  const arma::Col<T> importance = key_importance(*input, model->rows, counts);
  const PointTree key_tree =
      split_points(input->keys.columns, importance, sizes.cells, options.tree, draw_key.child("keys"));
  const KeyCells<T> cells = make_cells(*input, importance, key_tree);
  const PlanInput<T> from{*input, model->query_tree, model->rows, model->checks, key_tree, cells};
  model->plan = best_plan(from, candidates_of(options));

  const arma::Col<T> distances = squared_distances(*input, model->query_tree, means);
  const T zero =
      std::numeric_limits<T>::epsilon() * std::numeric_limits<T>::epsilon() * arma::max(squared_row_norms(problem.Q()));
  model->farthest = farthest(distances, zero, sizes.exact_rows);
  for (arma::uword i = 0; i < distances.n_elem; ++i) {
    if (!(distances[i] > zero)) model->still.push_back(i);
  }
  return kriged_approximation<T>(std::move(model));
}

const Options<KrigedCoresetOptions>& options_of_kriged_coreset() {
  using O = KrigedCoresetOptions;
  static const Options<O> options =
      Options<O>()
          .choice("mode", &O::mode, in_order<Mode>({"auto", "coreset", "near", "window"}),
                  "cells alone, with near keys, with a window of offsets; auto: what a few check rows say")
          .choice("tree", &O::tree, in_order<SplitDirection>({"random", "far"}),
                  "splits along a direction of random points, or towards the farthest point, with no draw")
          .flag("window", &O::window, "mode=auto may take a window; no: the order of tokens does not matter")
          .flag("kriging", &O::kriging, "correct by the coreset's error at the landmarks")
          .number("landmarks", &O::landmark_share, 0.05, 0.95, "share of the flops for exact rows of landmarks");
  return options;
}

}  // namespace

template <typename T>
Approximation<T> kriged_coreset(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                const KrigedCoresetOptions& options) {
  return approximate(std::make_shared<const KrigedInput<T>>(problem), d, draw_key, options);
}

template <typename T>
Method<T> kriged_coreset_method() {
  Method<T> method;
  method.name = "kriged-coreset";
  method.summary = "exact landmark rows, a coreset of keys, its error interpolated by ridge regression";
  method.source = "Croquis";
  method.options = options_of_kriged_coreset().infos();
  method.random = [](const OptionValues& values) {
    const KrigedCoresetOptions options = options_of_kriged_coreset().read(values);
    return options.tree != SplitDirection::far || options.mode != Mode::coreset;
  };
  method.rectangular = method.rows_sum_to_one = method.exact_on_equal_tokens = always(true);
  // The lift with d landmarks costs more than exact attention then.
  method.exact_at = [](TokenAlignment shape, const OptionValues&) { return std::min(shape.n_q, shape.n_k); };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const KrigedCoresetOptions options = options_of_kriged_coreset().read(values);
    const auto input = std::make_shared<const KrigedInput<T>>(problem);
    return {[=](arma::uword d, const Key& draw_key) { return approximate(input, d, draw_key, options); },
            [=](double d) {
              const KrigedBudget budget = budget_of(problem, d, options);
              return kriged_flops(budget, solve_sizes(budget));
            }};
  };
  return method;
}

template Approximation<float> kriged_coreset(const Problem<float>&, arma::uword, const Key&,
                                             const KrigedCoresetOptions&);
template Approximation<double> kriged_coreset(const Problem<double>&, arma::uword, const Key&,
                                              const KrigedCoresetOptions&);
template Method<float> kriged_coreset_method();
template Method<double> kriged_coreset_method();

}  // namespace croquis
