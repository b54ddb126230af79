// The rows of B~: every query against the cells and its near keys.
#pragma once

#include <croquis/attention/kriged/cells.hpp>
#include <croquis/attention/kriged/near_field.hpp>

namespace croquis {

/// Row i of B~ X for a query that is not exact, with E_ic = exp(q_i.k_c / sqrt(p) - top_i) for the cells and E_ij for
/// near keys; by query k_c is what TakenKeys says:
///   base_i(X) = sum_c E_ic sum_{j in c} x_j + sum_{j near i} (E_ij - E_i,c(j)) x_j,
///   full_i(X) = base_i(X) + sum_c E_ic (W Z(X))_c,
///   B~_i X = corrected_i full_i(X) + uncorrected_i base_i(X) + mean_share mean(X).
/// Z(X) is the cells' error at the exact rows, W the regression. Both quotients full_i(X) / full_i(1) and
/// base_i(X) / base_i(1) are affine combinations of rows of X, the second a convex one; a row that full_i would put
/// outside the box of V is moved towards the convex one until it is inside, so that B~ is a matrix with rows that sum
/// to 1. There is a mean_share only without W.
template <typename T>
struct QueryRows {
  arma::Mat<T> output;                    ///< n_q x p_v, in the box of V
  arma::Col<T> denominators, row_maxima;  ///< full_i(1) or, where it was given up, base_i(1); top_i
  arma::Col<T> corrected, uncorrected;
  arma::Col<T> doubts;     ///< with a screen: the weight that a key that it left out may have; otherwise 0
  arma::uword fallen = 0;  ///< rows that were moved, or lost their correction because full_i(1) <= 0.1 base_i(1)

  // With `keep` only: E of the cells, n_q x s, and the near terms E_ij - E_i,c(j), n_q x n_k.
  arma::Mat<T> cell_weights;
  arma::SpMat<T> near_weights;
};

/// The rows of all queries. `correction` is W Z([V, 1]), s x (p_v + 1), or empty if there is none.
/// Guarantees: the same bits for any number of threads. Cost: 2 n_q (s + near keys) (p + p_v + 1) flops.
template <typename T>
QueryRows<T> query_rows(const KrigedInput<T>& input, const PointTree& tree, const KeyCells<T>& cells,
                        const NearField<T>& near, const arma::Mat<T>& correction, bool keep);

}  // namespace croquis
