#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/plan.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/chosen_columns.hpp>
#include <croquis/linalg/products.hpp>
#include <limits>
#include <numeric>

namespace croquis {
namespace {

// What a regression on few check rows leaves is more than one on all landmarks will: keys that a screen finds have to
// be below this part of it. On trained heads anything from .6 to 1 does; above, heads of low rank would get them too.
constexpr double kOfScreen = 0.7;
// Few check rows say little about queries that no offset helps, so that a window has to be twice as good as a screen.
constexpr double kOfWindow = 2;

arma::uword part_of(arma::uword whole, double share) {
  return static_cast<arma::uword>(std::llround(share * static_cast<double>(whole)));
}

template <typename T>
KeyCells<T> cells_for(const PlanInput<T>& from, const KrigedShares& shares) {
  const arma::uword count = std::max<arma::uword>(1, part_of(from.keys, shares.cells));
  if (count >= from.cells.size()) return from.cells;
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
  // What it is where a query attends to all keys alike.
  const auto n_k = static_cast<double>(from.input.problem.n_k());
  const double uniform = static_cast<double>(arma::accu(plan.cells.squares)) / (n_k * n_k);
  return krige(design, targets_of(from, plan.residual), weights, uniform);
}

// Of the exact outputs of the check rows, the mean of the values included: what their errors are relative to.
template <typename T>
double squared_check_norm(const PlanInput<T>& from) {
  const arma::uword p_v = from.input.problem.p_v();
  arma::Mat<T> outputs = from.rows.values.tail_rows(from.checks.size()).eval().head_cols(p_v);
  outputs.each_row() += from.input.value_mean;
  return static_cast<double>(arma::accu(arma::square(outputs)));
}

// Of squares. Outputs that are zero, of values that are, have no error.
double relative(double error, double norm) {
  return error > 0 ? std::sqrt(error / norm) : 0;
}

// For every vector, the sum of all others. Not the sum of all less its own, which leaves rounding where the others are
// zero.
std::vector<std::vector<double>> sums_of_others(const std::vector<std::vector<double>>& vectors) {
  const auto add = [](const std::vector<double>& x, std::vector<double>& sum) {
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] += x[i];
  };
  std::vector<std::vector<double>> sums(vectors.size());
  std::vector<double> before(vectors.front().size(), 0.0), after = before;
  for (std::size_t v = 0; v < vectors.size(); ++v) {
    sums[v] = before;
    add(vectors[v], before);
  }
  for (std::size_t v = vectors.size(); v-- > 0;) {
    add(after, sums[v]);
    add(vectors[v], after);
  }
  return sums;
}

// The cells' weights in row r where the query takes some keys out of them, as BlockPass has them.
template <typename T>
arma::Row<T> weights_of_what_is_left(const PlanInput<T>& from, const KeyCells<T>& cells, arma::uword r,
                                     const std::vector<std::uint32_t>& keys) {
  const arma::Col<T> query = from.input.scale * from.rows.queries.row(r).t();
  std::vector<T> scores(keys.size());
  dots(query.memptr(), from.input.keys.columns.memptr(), query.n_elem, keys.data(), keys.size(), scores.data());
  arma::Row<T> left = (cells.keys * query).t();
  TakenKeys<T> taken;
  taken.reset(cells.size());
  for (std::size_t t = 0; t < keys.size(); ++t) taken.add(cells.cell[keys[t]], scores[t] - left[cells.cell[keys[t]]]);
  const T* counts = cells.sums.colptr(cells.sums.n_cols - 1);
  for (arma::uword c = 0; c < cells.size(); ++c) left[c] += taken.shift(c, counts[c]);
  left -= from.rows.log_sums[r];
  left.clamp(std::numeric_limits<T>::lowest(), T(0));
  return arma::exp(left);
}

// What the check rows lack with a plan, the values and in the last column 1, before anything is divided by row sums.
// The lists are those of the leaves with check rows alone; with windows, each row is judged by offsets that the other
// check rows have chosen.
template <typename T>
arma::Mat<T> missing_of_checks(const PlanInput<T>& from, const KrigedShares& shares) {
  KrigedPlan<T> plan;
  plan.shares = shares;
  plan.cells = cells_for(from, shares);
  plan.cell_weights = cell_weights(from.input, from.rows, plan.cells);
  const arma::uword first = from.landmarks(), last = from.rows.queries.n_rows;
  if (shares.near > 0) {
    plan.near.lists.resize(from.query_tree.leaves());
    for (arma::uword r = first; r < last; ++r) {
      const arma::uword leaf = from.rows.leaf[r];
      if (plan.near.lists[leaf].empty()) {
        plan.near.lists[leaf] = near_keys(from.input, from.rows, from.rows_of_leaf(leaf), plan.cells, plan.cell_weights,
                                          part_of(from.keys, shares.near));
      }
    }
  }
  const auto listed = [&](arma::uword r) {
    return shares.near > 0 ? plan.near.lists[from.rows.leaf[r]] : std::vector<std::uint32_t>{};
  };
  std::vector<std::vector<double>> scores(from.checks.size());
  for (arma::uword r = first; shares.window > 0 && r < last; ++r) {
    scores[r - first] =
        offset_scores(from.input, from.rows, {r}, {from.checks[r - first]}, plan.cells, plan.cell_weights, listed(r));
  }
  const std::vector<std::vector<double>> others = sums_of_others(scores);
  std::optional<KeyScreen<T>> screen;
  if (shares.screen.kept > 0) screen.emplace(from.input, shares.screen);
  arma::Mat<T> all(from.checks.size(), from.input.values.n_cols);
  for (arma::uword r = first; r < last; ++r) {
    std::vector<std::uint32_t> taken = listed(r);
    if (shares.window > 0 || screen) {
      std::vector<std::uint32_t> own;
      if (shares.window > 0) {
        own = window_keys(from, r, best_offsets(others[r - first], part_of(from.keys, shares.window)));
      }
      std::erase_if(own, [&](std::uint32_t j) { return plan.near.lists_key(from.rows.leaf[r], j); });
      if (screen) {
        const arma::Col<T> query = from.input.scale * from.rows.queries.row(r).t();
        std::vector<T> unused;
        screen->choose(query.memptr(), &taken, own, unused);
      }
      taken.insert(taken.end(), own.begin(), own.end());
      plan.cell_weights.row(r) = weights_of_what_is_left(from, plan.cells, r, taken);
    }
    arma::Row<T> missing = from.rows.values.row(r) - plan.cell_weights.row(r) * plan.cells.sums;
    for (const std::uint32_t j : taken) {
      missing -= near_weight(from.rows, plan, r, j) * from.input.value_columns().col(j).t();
    }
    all.row(r - first) = missing;
  }
  return all;
}

// Squared error of what check rows lack, the row sums in the units of the values.
template <typename T>
double squared_error(const PlanInput<T>& from, const arma::Mat<T>& missing) {
  return arma::accu(arma::square(targets_of<T>(from, missing)));
}

// Below this a squared error of the check rows is rounding, of logits of a few hundred, and says nothing about plans.
template <typename T>
double squared_rounding(const PlanInput<T>& from) {
  constexpr double each = 256.0 * std::numeric_limits<T>::epsilon();
  return each * each * squared_error<T>(from, from.rows.values.tail_rows(from.checks.size()));
}

// Squared error of the outputs [o, 1] that remain of check rows which lack m: (o - m) / (1 - m_1), m_1 the last of m. A
// regression may leave little of a row, or less than nothing; then all that is lacking counts.
double squared_output_error(const arma::mat& outputs, const arma::mat& missing) {
  constexpr double least = 0.1;
  double error = 0;
  for (arma::uword r = 0; r < missing.n_rows; ++r) {
    const arma::rowvec m = missing.row(r);
    const double sum = m(m.n_elem - 1);
    const arma::rowvec gap = sum < 1 - least ? arma::rowvec((m - sum * outputs.row(r)) / (1 - sum)) : m;
    error += arma::accu(arma::square(gap.head(m.n_elem - 1)));
  }
  return error;
}

// What a regression on the other check rows leaves of each, in the units of missing_of_checks().
template <typename T>
arma::mat left_of_checks(const PlanInput<T>& from, const KrigedShares& shares) {
  arma::mat left = make_plan(from, shares).kriging.residuals.tail_rows(from.checks.size());
  if (from.input.value_rms > 0) left.tail_cols(1) /= static_cast<double>(from.input.value_rms);
  return left;
}

}  // namespace

template <typename T>
std::vector<arma::uword> PlanInput<T>::rows_of_leaf(arma::uword leaf) const {
  if (landmarks() > 0) return {leaf};
  std::vector<arma::uword> all(checks.size());
  std::iota(all.begin(), all.end(), arma::uword{0});
  return all;
}

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
                       const arma::Mat<T>& sums, const arma::Mat<T>& exact) {
  const SerialBlas serial;
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
  if (shares.near > 0) {
    plan.near.lists.resize(from.query_tree.leaves());
    parallel_for(from.query_tree.leaves(), [&](std::size_t g) {
      plan.near.lists[g] = near_keys(from.input, from.rows, from.rows_of_leaf(g), plan.cells, plan.cell_weights,
                                     std::max<arma::uword>(1, part_of(from.keys, shares.near)));
    });
  }
  if (shares.window > 0) {
    std::vector<arma::uword> rows(from.checks.size());
    std::iota(rows.begin(), rows.end(), from.landmarks());
    plan.near.offsets =
        best_offsets(offset_scores(from.input, from.rows, rows, from.checks, plan.cells, plan.cell_weights,
                                   shares.near > 0 ? plan.near.lists.front() : std::vector<std::uint32_t>{}),
                     std::max<arma::uword>(1, part_of(from.keys, shares.window)));
  }
  if (shares.screen.kept > 0) plan.near.screen = std::make_shared<const KeyScreen<T>>(from.input, shares.screen);
  plan.exact_rows = part_of(from.keys, shares.rows);
  plan.kriging.ridge = std::numeric_limits<double>::infinity();
  if (shares.kriging) {
    plan.residual = residuals(from.rows, plan, from.input.values, plan.cells.sums, from.rows.values);
    plan.kriging = krige_residuals(from, plan);
  }
  return plan;
}

template <typename T>
std::optional<KrigedPlan<T>> plan_by_query(const PlanInput<T>& from, const KrigedShares& cells,
                                           const std::vector<KrigedShares>& candidates, bool always) {
  const SerialBlas serial;
  const arma::mat outputs = arma::conv_to<arma::mat>::from(from.rows.values.tail_rows(from.checks.size()));
  const double left = always ? 0 : squared_output_error(outputs, left_of_checks(from, cells));
  const double rounding = squared_rounding(from);
  if (!always && left <= rounding) return std::nullopt;
  double least = std::numeric_limits<double>::infinity(), error_of_best = 0;
  const KrigedShares* best = nullptr;
  for (const KrigedShares& shares : candidates) {
    const double error = squared_output_error(outputs, arma::conv_to<arma::mat>::from(missing_of_checks(from, shares)));
    const double counted =
        std::max(rounding, shares.screen.kept == 0 && shares.window > 0 ? kOfWindow * kOfWindow * error : error);
    const double allowed = shares.screen.kept > 0 ? kOfScreen * kOfScreen * left : left;
    if (counted < least && (always || counted < allowed)) least = counted, error_of_best = error, best = &shares;
  }
  if (!best) return std::nullopt;
  KrigedPlan<T> plan = make_plan(from, *best);
  plan.check_error = relative(error_of_best, squared_check_norm(from));
  return plan;
}

template <typename T>
KrigedPlan<T> best_plan(const PlanInput<T>& from, const std::vector<KrigedShares>& candidates) {
  const SerialBlas serial;
  const arma::uword checks = from.checks.size();
  KrigedPlan<T> plan = make_plan(from, candidates.front());
  plan.check_error = std::numeric_limits<double>::quiet_NaN();
  if (checks == 0) return plan;
  const auto error_of = [&](const KrigedShares& shares) {
    return squared_error(from, missing_of_checks(from, shares));
  };
  double least = candidates.front().kriging ? arma::accu(arma::square(plan.kriging.residuals.tail_rows(checks)))
                                            : error_of(candidates.front());
  const KrigedShares* best = nullptr;
  double bound = least > squared_rounding(from) ? 0.64 * least : 0;
  for (std::size_t c = 1; c < candidates.size(); ++c) {
    const double error = error_of(candidates[c]);
    if (error < bound) bound = least = error, best = &candidates[c];
  }
  if (best) plan = make_plan(from, *best);
  plan.check_error = relative(least, squared_check_norm(from));
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
template std::optional<KrigedPlan<float>> plan_by_query(const PlanInput<float>&, const KrigedShares&,
                                                        const std::vector<KrigedShares>&, bool);
template KrigedPlan<float> make_plan(const PlanInput<float>&, const KrigedShares&);
template std::optional<KrigedPlan<double>> plan_by_query(const PlanInput<double>&, const KrigedShares&,
                                                         const std::vector<KrigedShares>&, bool);
template KrigedPlan<double> make_plan(const PlanInput<double>&, const KrigedShares&);
template KrigedPlan<float> best_plan(const PlanInput<float>&, const std::vector<KrigedShares>&);
template KrigedPlan<double> best_plan(const PlanInput<double>&, const std::vector<KrigedShares>&);

}  // namespace croquis
