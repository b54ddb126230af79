// The adjoint of products with sampled columns of exact attention.
#pragma once

#include <croquis/attention/gradient.hpp>

namespace croquis {

/// The weights to which the probabilities of the sampled columns were proportional.
enum class ColumnWeights {
  none,     ///< columns are not divided by them
  uniform,  ///< 1
  pilot,    ///< (sum_{i in J} b_ij^2)^{1/2} |v_j|
  exact,    ///< the same over all rows i
};

/// D^-1 A S S^T V on columns J', with entries b_ij / (d p_j), or b_ij for `none`.
template <typename T>
struct SampledColumns {
  arma::uvec columns;         ///< J', as drawn
  arma::Col<T> log_row_sums;  ///< of the exact D
  ColumnWeights weights = ColumnWeights::none;
  arma::uvec pilot = {};  ///< J, as drawn
  arma::uvec known = {};  ///< rows that are exact
};

/// The derivatives of <G, O~>. The drawn columns and rows are held constant; their probabilities and D are not. If all
/// weights are zero, columns were drawn uniformly, and the probabilities are constant.
/// Cost: 2 n_q d (3 p + 2 p_v) + 4 n_q n_k p flops, for exact weights 6 n_q n_k p more, and as many exponentials as
///   there are entries; memory of O((n_q + n_k) (p + p_v) + n_k |J|) numbers.
/// Throws: std::invalid_argument for sizes that do not fit, and for columns and rows that the problem does not have.
template <typename T>
Gradient<T> sampled_columns_gradient(const Problem<T>& problem, const SampledColumns<T>& sampled,
                                     const arma::Mat<T>& cotangent);

}  // namespace croquis
