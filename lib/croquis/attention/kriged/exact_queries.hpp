// The queries of the kriged coreset that have exact rows for their distance from the mean of their leaf.
#pragma once

#include <croquis/attention/kriged/operator.hpp>

namespace croquis {

/// Sets model.still to all queries that equal the mean of their leaf up to rounding, and model.farthest to the `count`
/// other queries that are farthest from the mean of their leaf. `means` are those of the centred queries in the leaves
/// of the query tree.
/// Cost: 3 n_q p flops.
template <typename T>
void choose_exact_queries(KrigedModel<T>& model, const arma::Mat<T>& means, arma::uword count);

}  // namespace croquis
