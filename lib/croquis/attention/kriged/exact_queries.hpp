// The queries of the kriged coreset that have exact rows for their distance from the mean of their leaf.
#pragma once

#include <croquis/attention/kriged/operator.hpp>

namespace croquis {

/// Sets model.still, all queries that equal the mean of their leaf up to rounding, and model.farthest, the `count`
/// others that are farthest from theirs. means: of the leaves of the query tree, of centred queries.
/// Cost: 3 n_q p flops.
template <typename T>
void choose_exact_queries(KrigedModel<T>& model, const arma::Mat<T>& means, arma::uword count);

}  // namespace croquis
