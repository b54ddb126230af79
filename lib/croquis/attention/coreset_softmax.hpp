// Softmax over some keys with weights, the same for all queries.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

/// O~_i = sum_s w_s a_is V_s / sum_s w_s a_is over the keys s of `keys`, each there once, a_ij = exp(q_i.k_j /
/// sqrt(p)), w = exp(log_weights). Guarantees: rows of B~ are non-negative and sum to 1; all keys with equal weights
/// are exact attention. The denominators are the estimated row sums of A. With an adjoint, in which keys and weights
/// are constant. Cost: n_q |keys| (2 (p + p_v) + 1) flops; the operator stores its weights.
template <typename T>
Approximation<T> coreset_softmax(const Problem<T>& problem, const arma::uvec& keys, const arma::Col<T>& log_weights);

}  // namespace croquis
