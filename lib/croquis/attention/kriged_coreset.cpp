#include <algorithm>
#include <croquis/attention/exact_adjoint.hpp>
#include <croquis/attention/kriged/exact_queries.hpp>
#include <croquis/attention/kriged/operator.hpp>
#include <croquis/attention/kriged/pilot.hpp>
#include <croquis/attention/kriged/plan.hpp>
#include <croquis/attention/kriged/sized.hpp>
#include <croquis/attention/kriged/sizes.hpp>
#include <croquis/attention/kriged/value_box.hpp>
#include <croquis/attention/kriged_coreset.hpp>
#include <croquis/attention/skyformer.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/random/indices.hpp>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace croquis {
namespace {

using Mode = KrigedCoresetOptions::Mode;

bool has_pilot(const KrigedCoresetOptions& options) {
  return options.mode == Mode::window || options.mode == Mode::automatic;
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
          .near = options.mode != Mode::coreset,
          .pilot = has_pilot(options),
          .far = options.tree == SplitDirection::far};
}

template <typename T>
void clamp_columns(arma::Mat<T>& x, const ColumnRanges<T>& ranges) {
  for (arma::uword c = 0; c < x.n_cols; ++c) {
    const T low = ranges.minima[c], high = ranges.maxima[c];
    for (T& entry : x.unsafe_col(c)) entry = clamped(entry, low, high);
  }
}

// In the units of the values that were given: B~ does not depend on them. Columns of values that are far smaller than
// others may have vanished in the units of the computation.
template <typename T>
Approximation<T> in_units_of(const KrigedInput<T>& input, Approximation<T> approximation) {
  const T size = input.value_size;
  if (size == 1) return approximation;
  approximation.output *= size;
  clamp_columns(approximation.output, input.given_ranges);
  approximation.adjoint = [size, unscaled = std::move(approximation.adjoint)](const arma::Mat<T>& cotangent) {
    Gradient<T> gradient = unscaled(cotangent);
    gradient.q *= size;
    gradient.k *= size;
    return gradient;
  };
  return approximation;
}

template <typename T>
Approximation<T> exactly(const KrigedInput<T>& input) {
  const Problem<T>& problem = input.problem;
  Approximation<T> approximation = from_scores(exact_scores(problem, Target::softmax), problem);
  clamp_columns(approximation.output, input.value_ranges);
  approximation.diagnostics.mode = "exact";
  approximation.adjoint = exact_adjoint(problem, Target::softmax);
  return in_units_of(input, std::move(approximation));
}

// The beginning of a model: random queries with their exact rows, as of a tree with one leaf.
template <typename T>
std::shared_ptr<KrigedModel<T>> with_check_rows(const std::shared_ptr<const KrigedInput<T>>& input, arma::uword count,
                                                const Key& draw_key) {
  const Problem<T>& problem = input->problem;
  auto model = std::make_shared<KrigedModel<T>>();
  model->input = input;
  const arma::uvec checks = sample_without_replacement(problem.n_q(), count, draw_key.child("checks"));
  model->checks.assign(checks.begin(), checks.end());
  if (count > 0) model->rows = exact_rows_of(*input, arma::Mat<T>(problem.Q().rows(checks)), {});
  model->rows.leaf.assign(count, 0);
  return model;
}

// Check rows with more than this share of their attention in common can share a coreset. Of the trained heads at which
// this was chosen, the coreset has a third of the error of keys of each query's own where rows have .6 to .8 in common,
// two to a thousand times as much where it is below .4, and in between the two are level. With more keys coresets lose
// less than what competes: on 16 trained heads of 2048 and 4096 tokens .5 has 1.00 to 1.08 times the errors of .4, on
// single ones up to three times, and a pilot takes time.
constexpr double kInCommon = 0.5, kInCommonOfLong = 0.4;
constexpr arma::uword kLong = 1024;

// With mode=auto, mode=coreset where the check rows have enough in common.
template <typename T>
KrigedCoresetOptions settled_by(const ExactRows<T>& checks, KrigedCoresetOptions options) {
  const double enough = checks.weights.n_rows > kLong ? kInCommonOfLong : kInCommon;
  if (options.mode == Mode::automatic && mean_overlap(checks) > enough) options.mode = Mode::coreset;
  return options;
}

// Landmarks: the means of the leaves of a tree of queries, leaves x p and centred. Their exact rows go before those of
// the check rows.
template <typename T>
arma::Mat<T> add_landmarks(KrigedModel<T>& model, arma::uword count, SplitDirection tree, const Key& draw_key) {
  const KrigedInput<T>& input = *model.input;
  const arma::Col<T> ones(input.problem.n_q(), arma::fill::ones);
  model.query_tree = split_points(input.queries.columns, ones, count, tree, draw_key.child("queries"));
  arma::Mat<T> means = leaf_means(input.queries, ones, model.query_tree);
  arma::Mat<T> landmarks = means;
  landmarks.each_row() += input.queries.mean.t();
  std::vector<std::uint32_t> leaf(means.n_rows);
  std::iota(leaf.begin(), leaf.end(), 0U);
  for (std::size_t r = 0; r < model.checks.size(); ++r) model.rows.leaf[r] = model.query_tree.leaf[model.checks[r]];
  model.rows = joined(exact_rows_of(input, std::move(landmarks), leaf), model.rows);
  return means;
}

// What is tried with landmarks.
const KrigedShares kCoreset{.name = "coreset"};
const std::vector<KrigedShares> kNear = {{.name = "near", .cells = 0.5, .near = 0.5},
                                         {.name = "near", .cells = 0.12, .near = 0.88}};

std::vector<KrigedShares> candidates_of(const KrigedCoresetOptions& options) {
  std::vector<KrigedShares> candidates;
  if (options.mode != Mode::near) candidates.push_back(kCoreset);
  if (options.mode != Mode::coreset) candidates.insert(candidates.end(), kNear.begin(), kNear.end());
  for (KrigedShares& shares : candidates) shares.kriging = options.kriging;
  return candidates;
}

// Cells of keys by their importance to the landmarks, the regression, and keys of each leaf where they help.
template <typename T>
void plan_with_landmarks(KrigedModel<T>& model, arma::uword keys, const KrigedCoresetOptions& options,
                         const Key& draw_key) {
  const KrigedInput<T>& input = *model.input;
  arma::Col<T> counts(model.query_tree.leaves());
  for (arma::uword g = 0; g < counts.n_elem; ++g) counts[g] = static_cast<T>(model.query_tree.count(g));
  model.importance = key_importance(input, model.rows, counts);
  const PointTree key_tree =
      split_points(input.keys.columns, model.importance, keys, options.tree, draw_key.child("keys"));
  const KeyCells<T> cells = make_cells(input, model.importance, key_tree);
  model.plan =
      best_plan<T>({input, model.query_tree, model.rows, model.checks, key_tree, cells, keys}, candidates_of(options));
}

// All that follows the check rows.
template <typename T>
Approximation<T> finished(std::shared_ptr<KrigedModel<T>> model, const KrigedSizes& sizes,
                          const KrigedCoresetOptions& options, const Key& draw_key) {
  const std::shared_ptr<const KrigedInput<T>> input = model->input;
  const KrigedBudget budget = budget_of(input->problem, 1, options);
  if (!has_pilot(options) || !attends_by_query(*model, budget, sizes.window, options, draw_key)) {
    const arma::Mat<T> means = add_landmarks(*model, sizes.landmarks, options.tree, draw_key);
    plan_with_landmarks(*model, sizes.cells, options, draw_key);
    choose_exact_queries(*model, means, sizes.exact_rows);
  }
  return in_units_of(*input, kriged_approximation<T>(std::move(model)));
}

template <typename T>
Approximation<T> approximate(const std::shared_ptr<const KrigedInput<T>>& input, arma::uword d, const Key& draw_key,
                             const KrigedCoresetOptions& options) {
  require(d >= 1, "kriged-coreset", "d >= 1", {{"d", d}});
  KrigedBudget budget = budget_of(input->problem, static_cast<double>(d), options);
  KrigedSizes sizes = solve_sizes(budget);
  if (sizes.exact) return exactly(*input);
  const SerialBlas serial;
  auto model = with_check_rows(input, sizes.checks, draw_key);
  const KrigedCoresetOptions settled = settled_by(model->rows, options);
  if (settled.mode != options.mode) {
    budget.near = budget.pilot = false;
    sizes = solve_sizes(budget);
  }
  return finished(std::move(model), sizes, settled, draw_key);
}

const Options<KrigedCoresetOptions>& options_of_kriged_coreset() {
  using O = KrigedCoresetOptions;
  static const Options<O> options =
      Options<O>()
          .choice("mode", &O::mode, in_order<Mode>({"auto", "coreset", "near", "window"}),
                  "cells alone, keys of each leaf, keys of each query; auto: what a few check rows say")
          .choice("tree", &O::tree, in_order<SplitDirection>({"random", "far"}),
                  "splits along a direction of random points, or towards the farthest point, with no draw")
          .flag("window", &O::window, "queries may attend to offsets; no: the order of the tokens does not matter")
          .flag("kriging", &O::kriging, "correct by the coreset's error at the landmarks")
          .number("landmarks", &O::landmark_share, 0.05, 0.95,
                  "share of the flops for exact rows of landmarks where there are few flops");
  return options;
}

}  // namespace

template <typename T>
Approximation<T> kriged_of_sizes(const std::shared_ptr<const KrigedInput<T>>& input, const KrigedSizes& sizes,
                                 const KrigedCoresetOptions& options, const Key& draw_key) {
  if (sizes.exact) return exactly(*input);
  const SerialBlas serial;
  auto model = with_check_rows(input, sizes.checks, draw_key);
  const KrigedCoresetOptions settled = settled_by(model->rows, options);
  return finished(std::move(model), sizes, settled, draw_key);
}

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
  method.rectangular = method.rows_sum_to_one = method.exact_on_equal_tokens = method.adjoint = always(true);
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

template Approximation<float> kriged_of_sizes(const std::shared_ptr<const KrigedInput<float>>&, const KrigedSizes&,
                                              const KrigedCoresetOptions&, const Key&);
template Approximation<float> kriged_coreset(const Problem<float>&, arma::uword, const Key&,
                                             const KrigedCoresetOptions&);
template Approximation<double> kriged_of_sizes(const std::shared_ptr<const KrigedInput<double>>&, const KrigedSizes&,
                                               const KrigedCoresetOptions&, const Key&);
template Approximation<double> kriged_coreset(const Problem<double>&, arma::uword, const Key&,
                                              const KrigedCoresetOptions&);
template Method<float> kriged_coreset_method();
template Method<double> kriged_coreset_method();

}  // namespace croquis
