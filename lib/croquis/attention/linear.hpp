// The linear transformer.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

/// O~_i = phi(q_i) (phi(K)^T V) / phi(q_i).(phi(K)^T 1) with phi(x) = elu(x) + 1, without 1/sqrt(p) (Katharopoulos et
/// al. 2020). This is a kernel of its own: it approximates neither softmax attention nor any other target, however many
/// features there are. Its errors are taken against softmax attention, which it replaces.
/// Guarantees: rows of B~ are non-negative and sum to 1. Not random.
/// Causal: sums over the keys up to the query, by prefix sums. A feature has one scale for all keys, later ones
///   included, so the sum of an early row may underflow; without a mask every row sum is at least 1.
/// Cost: 2 (n_q + n_k) p (p_v + 1) flops, whatever d is. Causal: prefix_product_flops() for V and again for the row
///   sums.
/// Throws: std::runtime_error as checked_denominators.
template <typename T>
Approximation<T> linear_attention(const Problem<T>& problem);

template <typename T>
Method<T> linear_method();

}  // namespace croquis
