// The linear transformer.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

/// O~_i = phi(q_i) (phi(K)^T V) / phi(q_i).(phi(K)^T 1), phi(x) = elu(x) + 1, no 1/sqrt(p) (Katharopoulos et al. 2020).
/// Guarantees: a kernel of its own: it approximates neither softmax attention nor anything else here, however many
///   features; its errors are taken against softmax because that is what it stands in for. Rows of B~ are non-negative
///   and sum to 1.
/// Causal: sums over the keys up to the query, by prefix sums.
/// Nothing is drawn. Cost: 2 (n_q + n_k) p (p_v + 1) flops, whatever d is.
template <typename T>
Approximation<T> linear_attention(const Problem<T>& problem);

template <typename T>
Method<T> linear_method();

}  // namespace croquis
