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
  double rows = 0;          ///< with a screen, queries that get exact rows: those of whose attention it omits most
  ScreenSizes screen = {};  ///< keys that are found by parts of their scores
  bool kriging = true;      ///< regression of the error at the exact rows
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
  arma::uword part(double share) const;    ///< share times `keys`, rounded
  KeyCells<T> merged(double share) const;  ///< the cells, merged to part(share) of them
  /// The sum of the squares of `missing`, whose last column, of row sums, is first multiplied by the rms of the values.
  double squared(const arma::Mat<T>& missing) const;
  /// The squared error of all check rows that rounding can cause, with logits of a few hundred. An error below it says
  /// nothing about plans.
  double squared_rounding() const;
  /// The square root of a squared error of the check rows divided by the squared norm of their outputs.
  double relative(double squared_error) const;
};

/// Everything that the rows of B~ are computed from.
template <typename T>
struct KrigedPlan {
  KrigedShares shares;
  KeyCells<T> cells;
  NearField<T> near;
  arma::uword exact_rows = 0;  ///< exact rows for the queries with the largest doubts
  arma::Mat<T> cell_weights;   ///< Y, weights of the cells in the exact rows, N x s
  arma::Mat<T> residual;       ///< Z([V, 1]), see residuals(); empty without kriging
  Kriging kriging;             ///< `inverse` is empty where nothing is corrected
  double check_error = 0;      ///< leave-one-out error of the check rows over their norm; NaN without check rows

  /// W = diag(squares) Y^T (Y diag(squares) Y^T + ridge I)^-1, s x N.
  arma::Mat<T> regression() const;
};

/// The weight of key j in the exact row r, minus that of its cell.
template <typename T>
T near_weight(const ExactRows<T>& rows, const KrigedPlan<T>& plan, arma::uword r, std::uint32_t j) {
  return rows.weights.at(j, r) - plan.cell_weights.at(r, plan.cells.cell[j]);
}

/// Z(X) for the N exact rows R, N x c for X (n_k x c): B_R X minus what the cells and the listed keys give in its
/// place. `columns` is X^T, `sums` are the sums of the rows of X over the cells, and `exact` is B_R X.
template <typename T>
arma::Mat<T> residuals(const ExactRows<T>& rows, const KrigedPlan<T>& plan, const arma::Mat<T>& columns,
                       const arma::Mat<T>& sums, const arma::Mat<T>& exact);

/// Of the candidates, which have no landmarks, those qualify whose error at the check rows is below 0.8 times the error
/// of `cells` and a regression, in which each check row is predicted from the others as a few landmarks would; with
/// `always` all do. Of these the plan with the smallest error is returned, where the error of a plan without a screen
/// counts twice. A check row is judged with the listed keys and the offsets that the other check rows choose. Errors
/// below rounding are equal; if the error of `cells` is below it, there is no plan.
template <typename T>
std::optional<KrigedPlan<T>> plan_by_query(const PlanInput<T>& from, const KrigedShares& cells,
                                           const std::vector<KrigedShares>& candidates, bool always);

/// The plan for these shares.
template <typename T>
KrigedPlan<T> make_plan(const PlanInput<T>& from, const KrigedShares& shares);

/// The plan of the candidate with the smallest error at the check rows. A candidate other than the first is taken only
/// if its error is less than 0.8 times that of the first, and the error of the first is more than rounding. Without
/// check rows the first candidate is taken.
template <typename T>
KrigedPlan<T> best_plan(const PlanInput<T>& from, const std::vector<KrigedShares>& candidates);

}  // namespace croquis
