// Softmax over a weighted subset of the keys, the same for all queries.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

/// O~_i = sum_s w_s a_is V_s / sum_s w_s a_is over the keys s of `keys`, with a_ij = exp(q_i.k_j / sqrt(p)) and w =
/// exp(log_weights). `keys` must not repeat a key; this is not checked, and the adjoint relies on it.
/// Guarantees: rows of B~ are non-negative and sum to 1. If `keys` has every key, with equal weights, O~ = O. The
///   denominators are the estimated row sums of A. Has an adjoint, in which keys and weights are held constant.
/// Cost: n_q |keys| (2 (p + p_v) + 1) flops. The score operator stores n_q |keys| weights.
template <typename T>
Approximation<T> coreset_softmax(const Problem<T>& problem, const arma::uvec& keys, const arma::Col<T>& log_weights);

}  // namespace croquis
