// How a query's budget is divided between cells, near keys and a window, and what decides it.
#pragma once

#include <croquis/attention/kriged/kriging.hpp>
#include <croquis/attention/kriged/near_field.hpp>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

/// Shares of the keys that a query attends to.
struct KrigedShares {
  std::string name;
  double cells = 1, near = 0, window = 0;
  double rows = 0;          ///< with a screen, queries that get their exact row instead: those it leaves most out of
  ScreenSizes screen = {};  ///< keys that are found by parts of their scores
  bool kriging = true;      ///< regression of what is left at the exact rows
};

/// What a plan is made from. Rows 0, ..., leaves - 1 of `rows` are the means of the leaves of the query tree, the
/// others are the queries `checks`.
template <typename T>
struct PlanInput {
  const KrigedInput<T>& input;
  const PointTree& query_tree;
  const ExactRows<T>& rows;
  const std::vector<arma::uword>& checks;
  const PointTree& key_tree;
  const KeyCells<T>& cells;  ///< of the key tree
  arma::uword keys;          ///< cells and keys that a query's budget allows

  arma::uword landmarks() const { return rows.queries.n_rows - checks.size(); }
  arma::uword part(double share) const;    ///< of the keys
  KeyCells<T> merged(double share) const;  ///< the cells put together to so many
  /// Squares of what rows lack, the row sums in the units of the values; below squared_rounding() the squared error of
  /// all check rows is rounding, of logits of a few hundred, and says nothing about plans.
  double squared(const arma::Mat<T>& missing) const;
  double squared_rounding() const;
  /// The root of a squared error of the check rows over the squared norm of their outputs.
  double relative(double squared_error) const;
};

/// Everything that the rows of B~ are computed from.
template <typename T>
struct KrigedPlan {
  KrigedShares shares;
  KeyCells<T> cells;
  NearField<T> near;
  arma::uword exact_rows = 0;  ///< for the queries with the largest doubts
  arma::Mat<T> cell_weights;   ///< of the exact rows, N x s
  arma::Mat<T> residual;       ///< Z of the values and 1; empty without kriging
  Kriging kriging;             ///< `inverse` is empty where nothing is corrected
  double check_error = 0;      ///< leave-one-out error of the check rows over their norm; NaN without check rows

  /// W = diag(squares) Y^T (Y diag(squares) Y^T + ridge I)^-1, s x N.
  arma::Mat<T> regression() const;
};

/// What the exact row r has at key j beyond its cell's weight.
template <typename T>
T near_weight(const ExactRows<T>& rows, const KrigedPlan<T>& plan, arma::uword r, std::uint32_t j) {
  return rows.weights.at(j, r) - plan.cell_weights.at(r, plan.cells.cell[j]);
}

/// Z(X) = B_R X - (the rows of the cells and the listed keys) X for the exact rows R, N x columns of X. columns: X^T.
/// sums: of the rows of X over the cells. exact: B_R X.
template <typename T>
arma::Mat<T> residuals(const ExactRows<T>& rows, const KrigedPlan<T>& plan, const arma::Mat<T>& columns,
                       const arma::Mat<T>& sums, const arma::Mat<T>& exact);

/// The plan without landmarks with the smallest error at the check rows, of those whose error is below 0.8 times what
/// cells and a regression on the other check rows leave of each, which is what few landmarks can do. Each row is judged
/// by the listed keys and the offsets that the other rows choose. For the choice between plans the error of one without
/// a screen counts twice. Errors that are rounding are equal, and if cells and the regression leave no more there is no
/// such plan. always: of all plans, whatever their errors are.
template <typename T>
std::optional<KrigedPlan<T>> plan_by_query(const PlanInput<T>& from, const KrigedShares& cells,
                                           const std::vector<KrigedShares>& candidates, bool always);

/// The plan for these shares.
template <typename T>
KrigedPlan<T> make_plan(const PlanInput<T>& from, const KrigedShares& shares);

/// Of several shares those with the smallest error at the check rows; one other than the first only where it has less
/// than 0.8 of the first one's error, and that is more than rounding. Without check rows the first.
template <typename T>
KrigedPlan<T> best_plan(const PlanInput<T>& from, const std::vector<KrigedShares>& candidates);

}  // namespace croquis
