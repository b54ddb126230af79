#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/plan.hpp>
#include <croquis/core/serial_blas.hpp>
#include <limits>

namespace croquis {
namespace {

// What a regression on few check rows leaves is more than one on all landmarks will: a plan by query has to be below
// this part of it. On trained heads anything from .6 to 1 does; above, heads of low rank would get screens too.
constexpr double kOfRegression = 0.8;
// Few check rows say little about queries that no offset and no listed key helps, so that among plans by query one
// without a screen has to be twice as good as one with a screen.
constexpr double kWithoutScreen = 2;

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

// What the check rows say all queries attend to, by their differences from the fewest cells of any plan: scores of all
// keys and of all offsets, by all check rows together and, for every one of them, by the others. Keys that some plan
// lists count in no offset.
template <typename T>
struct InCommon {
  std::vector<T> keys;
  std::vector<double> offsets;
  std::vector<std::vector<T>> keys_of_others;
  std::vector<std::vector<double>> offsets_of_others;

  InCommon(const PlanInput<T>& from, const std::vector<KrigedShares>& candidates) {
    double cells = 1, listed_share = 0, window = 0;
    for (const KrigedShares& shares : candidates) {
      cells = std::min(cells, shares.cells);
      listed_share = std::max(listed_share, shares.near);
      window = std::max(window, shares.window);
    }
    const KeyCells<T> fewest = from.merged(cells);
    const arma::Mat<T> weights = cell_weights(from.input, from.rows, fewest);
    std::vector<std::vector<T>> near;
    for (arma::uword r = 0; r < from.checks.size(); ++r)
      near.push_back(near_scores(from.input, from.rows, r, fewest, weights));
    keys = common_scores(near);
    for (std::size_t r = 0; r < near.size(); ++r) keys_of_others.push_back(common_scores(near, r));
    if (window == 0) return;
    const std::vector<std::uint32_t> listed = best_keys(keys, from.part(listed_share));
    std::vector<std::vector<double>> scores;
    for (std::size_t r = 0; r < near.size(); ++r)
      scores.push_back(offset_scores(from.input.problem.tokens(), from.checks[r], near[r], listed));
    offsets_of_others = sums_of_others(scores);
    offsets = offsets_of_others.front();
    for (std::size_t o = 0; o < offsets.size(); ++o) offsets[o] += scores.front()[o];
  }
};

// One of the candidates, as all queries follow it.
template <typename T>
KrigedPlan<T> planned(const PlanInput<T>& from, const KrigedShares& shares, const InCommon<T>& common) {
  KrigedPlan<T> plan;
  plan.shares = shares;
  plan.cells = from.merged(shares.cells);
  plan.cell_weights = cell_weights(from.input, from.rows, plan.cells);
  if (shares.near > 0) plan.near.lists = {best_keys(common.keys, std::max<arma::uword>(1, from.part(shares.near)))};
  if (shares.window > 0) plan.near.offsets = best_offsets(common.offsets, from.part(shares.window));
  if (shares.screen.kept > 0) plan.near.screen = std::make_shared<const KeyScreen<T>>(from.input, shares.screen);
  plan.exact_rows = from.part(shares.rows);
  plan.kriging.ridge = std::numeric_limits<double>::infinity();
  return plan;
}

// The keys that the query of check row r attends to one by one, if the other check rows choose what all queries attend
// to: a row would be served better by its own choice than other queries are.
template <typename T>
std::vector<std::uint32_t> taken_by_check(const PlanInput<T>& from, const KrigedPlan<T>& plan,
                                          const InCommon<T>& common, arma::uword r) {
  std::vector<std::uint32_t> list, own;
  if (!plan.near.lists.empty()) list = best_keys(common.keys_of_others[r], plan.near.lists.front().size());
  if (plan.shares.window > 0) {
    keys_at(from.input.problem.tokens(), from.checks[r],
            best_offsets(common.offsets_of_others[r], from.part(plan.shares.window)), own);
    std::erase_if(own, [&](std::uint32_t j) { return std::binary_search(list.begin(), list.end(), j); });
  }
  if (plan.near.screen) {
    const arma::Col<T> query = from.input.scale * from.rows.queries.row(r).t();
    std::vector<T> unused;
    plan.near.screen->choose(query.memptr(), &list, own, unused);
  }
  own.insert(own.end(), list.begin(), list.end());
  return own;
}

// What the plan has of the check rows, the values and in the last column 1, before anything is divided by its row sums.
template <typename T>
arma::Mat<T> rows_by_query(const PlanInput<T>& from, KrigedPlan<T> plan, const InCommon<T>& common) {
  const T* counts = plan.cells.sums.colptr(plan.cells.sums.n_cols - 1);
  arma::Mat<T> planned(arma::size(from.rows.values));
  TakenKeys<T> taken;
  for (arma::uword r = 0; r < from.checks.size(); ++r) {
    const std::vector<std::uint32_t> keys = taken_by_check(from, plan, common, r);
    // Scores by their exponentials; below the least number there is nothing that could matter.
    const auto score = [](T weight) { return std::log(std::max(weight, std::numeric_limits<T>::min())); };
    taken.reset(plan.cells.size());
    for (const std::uint32_t j : keys) {
      const std::uint32_t cell = plan.cells.cell[j];
      taken.add(cell, score(from.rows.weights.at(j, r)) - score(plan.cell_weights.at(r, cell)));
    }
    for (arma::uword c = 0; plan.near.by_query() && c < plan.cells.size(); ++c) {
      T& weight = plan.cell_weights.at(r, c);
      if (taken.counts[c] > 0) weight = std::exp(std::min(T(0), score(weight) + taken.shift(c, counts[c])));
    }
    planned.row(r) = plan.cell_weights.row(r) * plan.cells.sums;
    for (const std::uint32_t j : keys) {
      planned.row(r) += near_weight(from.rows, plan, r, j) * from.input.value_columns.col(j).t();
    }
  }
  return planned;
}

// The errors of the outputs o that remain of check rows [o, 1] which lack m: o - (o - m) / (1 - m_1), m_1 the last of
// m. A regression may leave little of a row, or less than nothing; then all that is lacking counts.
arma::mat output_gaps(const arma::mat& outputs, arma::mat missing) {
  constexpr double least = 0.1;
  for (arma::uword r = 0; r < missing.n_rows; ++r) {
    const double sum = missing(r, missing.n_cols - 1);
    if (sum < 1 - least) missing.row(r) = (missing.row(r) - sum * outputs.row(r)) / (1 - sum);
  }
  return missing.head_cols(missing.n_cols - 1);
}

double squared(const arma::mat& gaps) {
  return arma::accu(arma::square(gaps));
}

// What the mean of all values gets of every query's weight. A query that misses keys has an output too far from that
// mean, so the share is that of the smallest error of the check rows, sum_r ||(1 - share) x_r - o_r||^2, where o_r is
// the output of row r and x_r what the plan makes of it, both without the mean. It is 0 where shares do not lower the
// error of check rows that had no part in them. A multiple of 1/1024, as it is a choice like that of keys, and constant
// for derivatives.
double mean_share(const arma::mat& outputs, const arma::mat& planned) {
  std::vector<std::vector<double>> of_rows(planned.n_rows, {0, 0});
  for (arma::uword r = 0; r < planned.n_rows; ++r) {
    const double sum = planned(r, planned.n_cols - 1);
    if (!(sum > 0)) continue;
    const arma::rowvec x = planned.row(r).head(planned.n_cols - 1) / sum;
    of_rows[r] = {arma::dot(x, outputs.row(r).head(x.n_elem)), arma::dot(x, x)};
  }
  const auto share = [](double product, double square) {
    return square > 0 ? std::round(1024 * (1 - std::clamp(product / square, 0.0, 1.0))) / 1024 : 0.0;
  };
  const std::vector<std::vector<double>> of_others = sums_of_others(of_rows);
  double change = 0;
  for (std::size_t r = 0; r < of_rows.size(); ++r) {
    const double s = share(of_others[r][0], of_others[r][1]);
    change += 2 * s * of_rows[r][0] - (2 - s) * s * of_rows[r][1];
  }
  if (!(change < 0)) return 0;
  return share(of_others[0][0] + of_rows[0][0], of_others[0][1] + of_rows[0][1]);
}

// What a regression on the other check rows leaves of each, in the units of missing_by_query().
template <typename T>
arma::mat left_of_checks(const PlanInput<T>& from, const KrigedShares& shares) {
  arma::mat left = make_plan(from, shares).kriging.residuals.tail_rows(from.checks.size());
  if (from.input.value_rms > 0) left.tail_cols(1) /= static_cast<double>(from.input.value_rms);
  return left;
}

}  // namespace

template <typename T>
std::optional<KrigedPlan<T>> plan_by_query(const PlanInput<T>& from, const KrigedShares& cells,
                                           const std::vector<KrigedShares>& candidates, bool always) {
  const SerialBlas serial;
  const arma::mat outputs = arma::conv_to<arma::mat>::from(from.rows.values);
  const double left = always ? 0 : squared(output_gaps(outputs, left_of_checks(from, cells)));
  const double rounding = from.squared_rounding();
  if (!always && left <= rounding) return std::nullopt;
  const InCommon<T> common(from, candidates);
  double least = std::numeric_limits<double>::infinity(), error_of_best = 0;
  std::optional<KrigedPlan<T>> best;
  for (const KrigedShares& shares : candidates) {
    KrigedPlan<T> plan = planned(from, shares, common);
    const arma::mat rows = arma::conv_to<arma::mat>::from(rows_by_query(from, plan, common));
    const double error = squared(output_gaps(outputs, outputs - rows));
    plan.cells.mean_share = static_cast<T>(mean_share(outputs, rows));
    const double counted = shares.screen.kept > 0 ? error : kWithoutScreen * kWithoutScreen * error;
    const bool better = std::max(rounding, error) < kOfRegression * kOfRegression * left;
    if (std::max(rounding, counted) < least && (always || better))
      least = std::max(rounding, counted), error_of_best = error, best = std::move(plan);
  }
  if (best) best->check_error = from.relative(error_of_best);
  return best;
}

template std::optional<KrigedPlan<float>> plan_by_query(const PlanInput<float>&, const KrigedShares&,
                                                        const std::vector<KrigedShares>&, bool);
template std::optional<KrigedPlan<double>> plan_by_query(const PlanInput<double>&, const KrigedShares&,
                                                         const std::vector<KrigedShares>&, bool);

}  // namespace croquis
