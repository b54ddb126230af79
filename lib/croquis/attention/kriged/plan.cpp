#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/plan.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/products.hpp>
#include <limits>
#include <numeric>

namespace croquis {
namespace {

arma::uword part_of(arma::uword whole, double share) {
  return static_cast<arma::uword>(std::llround(share * static_cast<double>(whole)));
}

template <typename T>
KeyCells<T> cells_for(const PlanInput<T>& from, const KrigedShares& shares) {
  if (shares.cells >= 1) return from.cells;
  const arma::uword count = std::max<arma::uword>(1, part_of(from.cells.size(), shares.cells));
  return from.cells.merged(from.key_tree.coarser(count));
}

// The keys of the window of row r, which is a check row.
template <typename T>
std::vector<std::uint32_t> window_keys(const PlanInput<T>& from, arma::uword r,
                                       const std::vector<std::int64_t>& offsets) {
  const TokenAlignment tokens = from.input.problem.tokens();
  const auto at = static_cast<std::int64_t>(tokens.query(from.checks[r - from.landmarks()])),
             first = static_cast<std::int64_t>(tokens.key(0)), end = static_cast<std::int64_t>(tokens.n());
  std::vector<std::uint32_t> keys;
  for (const std::int64_t offset : offsets) {
    if (at + offset >= first && at + offset < end) keys.push_back(static_cast<std::uint32_t>(at + offset - first));
  }
  return keys;
}

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
  return krige(design, targets_of(from, plan.residual), weights);
}

// A plan whose lists are those of the leaves with check rows alone, and its squared error at these rows: with windows,
// each row is judged by offsets that the other check rows have chosen.
template <typename T>
double squared_check_error(const PlanInput<T>& from, const KrigedShares& shares) {
  KrigedPlan<T> plan;
  plan.shares = shares;
  plan.cells = cells_for(from, shares);
  plan.cell_weights = cell_weights(from.input, from.rows, plan.cells);
  const arma::uword first = from.landmarks(), last = from.rows.queries.n_rows;
  if (shares.near > 0) {
    plan.near.lists.resize(from.landmarks());
    for (arma::uword r = first; r < last; ++r) {
      const arma::uword leaf = from.rows.leaf[r];
      if (plan.near.lists[leaf].empty()) {
        plan.near.lists[leaf] = near_keys(from.input, from.rows, leaf, plan.cells, plan.cell_weights,
                                          part_of(from.cells.size(), shares.near));
      }
    }
  }
  std::vector<std::vector<double>> scores(from.checks.size());
  for (arma::uword r = first; shares.window > 0 && r < last; ++r) {
    scores[r - first] =
        offset_scores(from.input, from.rows, {r}, {from.checks[r - first]}, plan.cells, plan.cell_weights);
  }
  double error = 0;
  for (arma::uword r = first; r < last; ++r) {
    arma::Row<T> missing = from.rows.values.row(r) - plan.cell_weights.row(r) * plan.cells.sums;
    const auto take = [&](std::uint32_t j) {
      missing -= near_weight(from.rows, plan, r, j) * from.input.value_columns.col(j).t();
    };
    if (shares.near > 0) {
      for (const std::uint32_t j : plan.near.lists[from.rows.leaf[r]]) take(j);
    }
    if (shares.window > 0) {
      std::vector<double> others(scores[0].size(), 0.0);
      for (arma::uword o = 0; o < scores.size(); ++o) {
        for (std::size_t i = 0; o != r - first && i < others.size(); ++i) others[i] += scores[o][i];
      }
      for (const std::uint32_t j :
           window_keys(from, r, best_offsets(others, part_of(from.cells.size(), shares.window)))) {
        if (!plan.near.lists_key(from.rows.leaf[r], j)) take(j);
      }
    }
    error += arma::accu(arma::square(targets_of<T>(from, missing)));
  }
  return error;
}

}  // namespace

template <typename T>
arma::Mat<T> KrigedPlan<T>::regression() const {
  const SerialBlas serial;
  const arma::mat y = arma::conv_to<arma::mat>::from(cell_weights);
  arma::mat w = y.t() * kriging.inverse;
  w.each_col() %= arma::conv_to<arma::vec>::from(cells.squares);
  return arma::conv_to<arma::Mat<T>>::from(w);
}

template <typename T>
arma::Mat<T> residuals(const ExactRows<T>& rows, const KrigedPlan<T>& plan, const arma::Mat<T>& x,
                       const arma::Mat<T>& exact) {
  const SerialBlas serial;
  arma::Mat<T> sums(plan.cells.size(), x.n_cols, arma::fill::zeros);
  for (arma::uword c = 0; c < x.n_cols; ++c) {
    for (arma::uword j = 0; j < x.n_rows; ++j) sums.at(plan.cells.cell[j], c) += x.at(j, c);
  }
  arma::Mat<T> residual = exact - product(plan.cell_weights, sums);
  if (plan.near.lists.empty()) return residual;
  for (arma::uword r = 0; r < residual.n_rows; ++r) {
    for (const std::uint32_t j : plan.near.lists[rows.leaf[r]]) {
      residual.row(r) -= near_weight(rows, plan, r, j) * x.row(j);
    }
  }
  return residual;
}

template <typename T>
KrigedPlan<T> make_plan(const PlanInput<T>& from, const KrigedShares& shares) {
  KrigedPlan<T> plan;
  plan.shares = shares;
  plan.cells = cells_for(from, shares);
  plan.cell_weights = cell_weights(from.input, from.rows, plan.cells);
  const arma::uword budget = from.cells.size();
  if (shares.near > 0) {
    plan.near.lists.resize(from.landmarks());
    parallel_for(from.landmarks(), [&](std::size_t g) {
      plan.near.lists[g] = near_keys(from.input, from.rows, g, plan.cells, plan.cell_weights,
                                     std::max<arma::uword>(1, part_of(budget, shares.near)));
    });
  }
  if (shares.window > 0) {
    std::vector<arma::uword> rows(from.checks.size());
    std::iota(rows.begin(), rows.end(), from.landmarks());
    plan.near.offsets =
        best_offsets(offset_scores(from.input, from.rows, rows, from.checks, plan.cells, plan.cell_weights),
                     std::max<arma::uword>(1, part_of(budget, shares.window)));
  }
  plan.kriging.ridge = std::numeric_limits<double>::infinity();
  if (shares.kriging) {
    plan.residual = residuals(from.rows, plan, from.input.values, from.rows.values);
    plan.kriging = krige_residuals(from, plan);
  }
  return plan;
}

template <typename T>
KrigedPlan<T> best_plan(const PlanInput<T>& from, const std::vector<KrigedShares>& candidates) {
  const SerialBlas serial;
  const arma::uword checks = from.checks.size();
  const arma::mat of_checks = targets_of<T>(from, from.rows.values.tail_rows(checks));
  const double size = checks == 0 ? 0 : arma::accu(arma::square(of_checks.head_cols(of_checks.n_cols - 1)));
  const auto relative = [&](double squared) {
    return checks == 0 ? std::numeric_limits<double>::quiet_NaN() : std::sqrt(squared / size);
  };
  KrigedPlan<T> plan = make_plan(from, candidates.front());
  double least = candidates.front().kriging && checks > 0 ? arma::accu(plan.kriging.residuals.tail(checks))
                                                          : squared_check_error(from, candidates.front());
  plan.check_error = relative(least);
  if (checks == 0) return plan;
  const KrigedShares* best = nullptr;
  least *= 0.64;
  for (std::size_t c = 1; c < candidates.size(); ++c) {
    const double error = squared_check_error(from, candidates[c]);
    if (error < least) {
      least = error;
      best = &candidates[c];
    }
  }
  if (!best) return plan;
  plan = make_plan(from, *best);
  plan.check_error = relative(least);
  return plan;
}

template struct KrigedPlan<float>;
template struct KrigedPlan<double>;
template arma::Mat<float> residuals(const ExactRows<float>&, const KrigedPlan<float>&, const arma::Mat<float>&,
                                    const arma::Mat<float>&);
template arma::Mat<double> residuals(const ExactRows<double>&, const KrigedPlan<double>&, const arma::Mat<double>&,
                                     const arma::Mat<double>&);
template KrigedPlan<float> make_plan(const PlanInput<float>&, const KrigedShares&);
template KrigedPlan<double> make_plan(const PlanInput<double>&, const KrigedShares&);
template KrigedPlan<float> best_plan(const PlanInput<float>&, const std::vector<KrigedShares>&);
template KrigedPlan<double> best_plan(const PlanInput<double>&, const std::vector<KrigedShares>&);

}  // namespace croquis
