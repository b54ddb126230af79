// The mean of the values: what attention is when all scores are equal.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

/// O~ = (1/n_k) 1 1^T V (Skeinformer Sec. 5), for any d: a baseline that does not depend on Q and K. On a causal
/// problem row i is the mean of the values up to the query. Not random.
/// Cost: n_k p_v flops.
template <typename T>
Approximation<T> v_mean(const Problem<T>& problem);

template <typename T>
Method<T> v_mean_method();

}  // namespace croquis
