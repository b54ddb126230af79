// The adjoint of products with sampled columns of exact attention.
#pragma once

#include <croquis/attention/gradient.hpp>
#include <croquis/kernel/row_sums.hpp>

namespace croquis {

/// The weights w_j to which the probabilities p_j of the sampled columns were proportional.
enum class ColumnWeights {
  none,     ///< columns are not divided by their probabilities
  uniform,  ///< w_j = 1
  pilot,    ///< w_j = (sum_{i in J} b_ij^2)^{1/2} ||v_j||
  exact,    ///< the same sum over all rows i
};

/// O~ = D^-1 A S S^T V on d columns J', with the entries b_ij / (d p_j) of B~, or b_ij for `none`. If a column occurs
/// several times in J', its entries add up.
template <typename T>
struct SampledColumns {
  arma::uvec columns;   ///< J', as drawn
  RowSums<T> row_sums;  ///< the diagonal of the exact D
  ColumnWeights weights = ColumnWeights::none;
  arma::uvec pilot = {};  ///< J, as drawn; used for ColumnWeights::pilot
  arma::uvec known = {};  ///< rows of O~ that are the exact ones
};

/// The derivatives of <G, O~>. The drawn columns and rows are held constant; their probabilities and D are not. If all
/// weights are zero, columns were drawn uniformly, and the probabilities are constant.
/// Cost: 6 n_q n_k p flops for D, 2 n_q d (3 p + 2 p_v) for the columns, 6 |J| n_k p for pilot weights, 8 n_q n_k p for
///   exact weights, and 2 r n_k (4 p + 3 p_v) for r exact rows; as many exponentials as entries are computed; memory of
///   O((n_q + n_k) (p + p_v) + n_k |J|) numbers.
/// Throws: std::invalid_argument for sizes that do not fit, and for columns and rows that the problem does not have.
template <typename T>
Gradient<T> sampled_columns_gradient(const Problem<T>& problem, const SampledColumns<T>& sampled,
                                     const arma::Mat<T>& cotangent);

}  // namespace croquis
