#include <cmath>
#include <croquis/attention/kriged/plan.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/products.hpp>
#include <limits>

namespace croquis {
namespace {

// Residuals with the last column in the units of the others, in double.
template <typename T>
arma::mat targets_of(const PlanInput<T>& from, const arma::Mat<T>& residual) {
  arma::mat targets = arma::conv_to<arma::mat>::from(residual);
  targets.tail_cols(1) *= static_cast<double>(from.input.value_rms);
  return targets;
}

template <typename T>
Kriging krige_residuals(const PlanInput<T>& from, const KrigedPlan<T>& plan) {
  arma::mat design = arma::conv_to<arma::mat>::from(plan.cell_weights);
  design.each_row() %= arma::sqrt(arma::conv_to<arma::rowvec>::from(plan.cells.squares.t()));
  arma::vec weights(from.rows.queries.n_rows, arma::fill::ones);
  for (arma::uword g = 0; g < from.landmarks(); ++g) weights[g] = from.query_tree.count(g);
  // What it is where a query attends to all keys alike.
  const auto n_k = static_cast<double>(from.input.problem.n_k());
  const double uniform = static_cast<double>(arma::accu(plan.cells.squares)) / (n_k * n_k);
  return krige(design, targets_of(from, plan.residual), weights, uniform);
}

template <typename T>
std::vector<std::uint32_t> keys_of_leaf(const PlanInput<T>& from, const KrigedPlan<T>& plan, arma::uword leaf,
                                        arma::uword count) {
  return best_keys(near_scores(from.input, from.rows, leaf, plan.cells, plan.cell_weights), count);
}

// What the check rows lack with a plan without regression, the values and in the last column 1, before anything is
// divided by row sums.
template <typename T>
arma::Mat<T> missing_of_checks(const PlanInput<T>& from, const KrigedShares& shares) {
  KrigedPlan<T> plan;
  plan.cells = from.merged(shares.cells);
  plan.cell_weights = cell_weights(from.input, from.rows, plan.cells);
  std::vector<std::vector<std::uint32_t>> lists(from.query_tree.leaves());
  const arma::uword first = from.landmarks(), last = from.rows.queries.n_rows;
  arma::Mat<T> all =
      from.rows.values.tail_rows(last - first) - plan.cell_weights.tail_rows(last - first) * plan.cells.sums;
  for (arma::uword r = first; shares.near > 0 && r < last; ++r) {
    std::vector<std::uint32_t>& list = lists[from.rows.leaf[r]];
    if (list.empty()) list = keys_of_leaf(from, plan, from.rows.leaf[r], from.part(shares.near));
    for (const std::uint32_t j : list) {
      all.row(r - first) -= near_weight(from.rows, plan, r, j) * from.input.value_columns.col(j).t();
    }
  }
  return all;
}

}  // namespace

template <typename T>
arma::uword PlanInput<T>::part(double share) const {
  return static_cast<arma::uword>(std::llround(share * static_cast<double>(keys)));
}

template <typename T>
KeyCells<T> PlanInput<T>::merged(double share) const {
  const arma::uword count = std::max<arma::uword>(1, part(share));
  return count >= cells.size() ? cells : cells.merged(key_tree.coarser(count));
}

template <typename T>
double PlanInput<T>::squared(const arma::Mat<T>& missing) const {
  return arma::accu(arma::square(targets_of(*this, missing)));
}

template <typename T>
double PlanInput<T>::squared_rounding() const {
  constexpr double each = 256.0 * std::numeric_limits<T>::epsilon();
  return each * each * squared(rows.values.tail_rows(checks.size()));
}

template <typename T>
double PlanInput<T>::relative(double squared_error) const {
  arma::Mat<T> outputs = rows.values.tail_rows(checks.size()).eval().head_cols(input.problem.p_v());
  outputs.each_row() += input.value_mean;
  // Outputs that are zero, of values that are, have no error.
  return squared_error > 0 ? std::sqrt(squared_error / static_cast<double>(arma::accu(arma::square(outputs)))) : 0;
}

template <typename T>
arma::Mat<T> KrigedPlan<T>::regression() const {
  arma::mat w = product_tn(arma::conv_to<arma::mat>::from(cell_weights), kriging.inverse);
  w.each_col() %= arma::conv_to<arma::vec>::from(cells.squares);
  return arma::conv_to<arma::Mat<T>>::from(w);
}

template <typename T>
arma::Mat<T> residuals(const ExactRows<T>& rows, const KrigedPlan<T>& plan, const arma::Mat<T>& columns,
                       const arma::Mat<T>& sums, const arma::Mat<T>& exact) {
  const SerialBlas serial;
  arma::Mat<T> residual = exact - product(plan.cell_weights, sums);
  if (plan.near.lists.empty()) return residual;
  for (arma::uword r = 0; r < residual.n_rows; ++r) {
    for (const std::uint32_t j : plan.near.lists[rows.leaf[r]]) {
      residual.row(r) -= near_weight(rows, plan, r, j) * columns.col(j).t();
    }
  }
  return residual;
}

template <typename T>
KrigedPlan<T> make_plan(const PlanInput<T>& from, const KrigedShares& shares) {
  KrigedPlan<T> plan;
  plan.shares = shares;
  plan.cells = from.merged(shares.cells);
  plan.cell_weights = cell_weights(from.input, from.rows, plan.cells);
  if (shares.near > 0) {
    plan.near.lists.resize(from.query_tree.leaves());
    const arma::uword count = std::max<arma::uword>(1, from.part(shares.near));
    parallel_for(from.query_tree.leaves(),
                 [&](std::size_t g) { plan.near.lists[g] = keys_of_leaf(from, plan, g, count); });
  }
  plan.kriging.ridge = std::numeric_limits<double>::infinity();
  if (shares.kriging) {
    plan.residual = residuals(from.rows, plan, from.input.value_columns, plan.cells.sums, from.rows.values);
    plan.kriging = krige_residuals(from, plan);
  }
  return plan;
}

template <typename T>
KrigedPlan<T> best_plan(const PlanInput<T>& from, const std::vector<KrigedShares>& candidates) {
  const SerialBlas serial;
  const arma::uword checks = from.checks.size();
  KrigedPlan<T> plan = make_plan(from, candidates.front());
  plan.check_error = std::numeric_limits<double>::quiet_NaN();
  if (checks == 0) return plan;
  const auto error_of = [&](const KrigedShares& shares) { return from.squared(missing_of_checks(from, shares)); };
  double least = candidates.front().kriging ? arma::accu(arma::square(plan.kriging.residuals.tail_rows(checks)))
                                            : error_of(candidates.front());
  const KrigedShares* best = nullptr;
  double bound = least > from.squared_rounding() ? 0.64 * least : 0;
  for (std::size_t c = 1; c < candidates.size(); ++c) {
    const double error = error_of(candidates[c]);
    if (error < bound) bound = least = error, best = &candidates[c];
  }
  if (best) plan = make_plan(from, *best);
  plan.check_error = from.relative(least);
  return plan;
}

template struct PlanInput<float>;
template struct PlanInput<double>;
template struct KrigedPlan<float>;
template struct KrigedPlan<double>;
template arma::Mat<float> residuals(const ExactRows<float>&, const KrigedPlan<float>&, const arma::Mat<float>&,
                                    const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Mat<double> residuals(const ExactRows<double>&, const KrigedPlan<double>&, const arma::Mat<double>&,
                                     const arma::Mat<double>&, const arma::Mat<double>&);
template KrigedPlan<float> make_plan(const PlanInput<float>&, const KrigedShares&);
template KrigedPlan<double> make_plan(const PlanInput<double>&, const KrigedShares&);
template KrigedPlan<float> best_plan(const PlanInput<float>&, const std::vector<KrigedShares>&);
template KrigedPlan<double> best_plan(const PlanInput<double>&, const std::vector<KrigedShares>&);

}  // namespace croquis
