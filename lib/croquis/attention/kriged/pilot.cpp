#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/pilot.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace croquis {
namespace {

// Without landmarks: what a query attends to by itself. Few cells leave more for keys.
const KrigedShares kPilotAlone{.name = "cells", .cells = kPilotCells};
constexpr double kScreenCells = 0.03, kScreenRows = 0.03;
// A key that all queries attend to, such as the first token, is not always among those with the largest scores of a
// few terms, nor is the next token, and a query that misses it can be all wrong. So three keys that matter to several
// check rows and three offsets come first.
constexpr double kBeforeScreen = 3;
const KrigedShares kWindow{.name = "window", .cells = 0.2, .near = 0.1, .window = 0.7, .kriging = false};

// The plans by query that `keys` keys of a query allow.
std::vector<KrigedShares> by_query(const KrigedBudget& budget, double keys, bool window) {
  std::vector<KrigedShares> candidates;
  if (window) candidates.push_back(kWindow);
  const double offsets = window ? kBeforeScreen : 0;
  const double left =
      keys - std::max(1.0, std::round(kScreenCells * keys)) - std::round(kScreenRows * keys) - kBeforeScreen - offsets;
  const ScreenSizes screen = solve_screen(budget, left);
  if (screen.kept > 0) {
    candidates.push_back({.name = "screened",
                          .cells = kScreenCells,
                          .near = kBeforeScreen / keys,
                          .window = offsets / keys,
                          .rows = kScreenRows,
                          .screen = screen,
                          .kriging = false});
  }
  if (candidates.empty()) {  // a few keys for all queries
    candidates.push_back({.name = "listed", .cells = kPilotCells, .near = 1 - kPilotCells, .kriging = false});
  }
  return candidates;
}

// The keys' tree by the coordinates in which they vary most, or by all, where that leaves different keys together that
// have cells enough.
template <typename T>
PointTree pilot_tree(const KrigedInput<T>& input, const arma::Col<T>& weights, arma::uword cells,
                     SplitDirection direction, const Key& draw_key) {
  const arma::uvec by_size = arma::stable_sort_index(input.key_deviations(), "descend");
  const arma::uvec widest = arma::sort(by_size.head(pilot_coordinates(input.problem.p())));
  const PointTree tree = split_points<T>(input.keys.columns.rows(widest), weights, cells, direction, draw_key);
  return tree.leaves() == cells ? tree : split_points(input.keys.columns, weights, cells, direction, draw_key);
}

}  // namespace

template <typename T>
bool attends_by_query(KrigedModel<T>& model, const KrigedBudget& budget, arma::uword keys,
                      const KrigedCoresetOptions& options, const Key& draw_key) {
  const KrigedInput<T>& input = *model.input;
  const arma::Col<T> ones(input.problem.n_q(), arma::fill::ones);
  model.query_tree = split_points(input.queries.columns, ones, 1, options.tree, draw_key);
  // Equal weights: by their importance in the check rows, the cells would fit these rows better than others.
  const arma::Col<T> equal(input.problem.n_k(), arma::fill::ones);
  const auto count = static_cast<arma::uword>(std::max(1.0, kPilotCells * static_cast<double>(keys)));
  const PointTree key_tree = pilot_tree(input, equal, count, options.tree, draw_key.child("pilot"));
  const KeyCells<T> cells = make_cells(input, equal, key_tree);
  std::optional<KrigedPlan<T>> plan = plan_by_query<T>(
      {input, model.query_tree, model.rows, model.checks, key_tree, cells, keys}, kPilotAlone,
      by_query(budget, static_cast<double>(keys), options.window), options.mode == KrigedCoresetOptions::Mode::window);
  if (plan) model.plan = std::move(*plan);
  return plan.has_value();
}

template bool attends_by_query(KrigedModel<float>&, const KrigedBudget&, arma::uword, const KrigedCoresetOptions&,
                               const Key&);
template bool attends_by_query(KrigedModel<double>&, const KrigedBudget&, arma::uword, const KrigedCoresetOptions&,
                               const Key&);

}  // namespace croquis
