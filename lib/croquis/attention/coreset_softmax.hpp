// Softmax over a weighted subset of the keys, the same for all queries.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

/// O~_i = sum_s w_s a_is V_s / sum_s w_s a_is over the keys s of `keys`, which are different, with a_ij = exp(q_i.k_j /
/// sqrt(p)) and w = exp(log_weights).
/// Guarantees: rows of B~ are non-negative and sum to 1. All keys with equal weights give exact attention. The
///   denominators are the estimated row sums of A. Has an adjoint, in which keys and weights are held constant.
/// Cost: n_q |keys| (2 (p + p_v) + 1) flops. The operator stores its weights.
template <typename T>
Approximation<T> coreset_softmax(const Problem<T>& problem, const arma::uvec& keys, const arma::Col<T>& log_weights);

}  // namespace croquis
