// Exact attention with queries and keys rounded to bfloat16: the effect of this rounding on the output.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

/// O~ = B~ V, for any d, where row i of B~ is the softmax of the scores q~_i.k~_j: q~ and k~ are q p^-1/4 and (k - c)
/// p^-1/4, rounded to bfloat16 entry by entry. c is the mean key, whose subtraction changes all scores of a query by
/// the same number. In causal attention c is zero, because the mean depends on later tokens. Everything else is in the
/// precision of the problem.
/// Guarantees: rows of B~ are non-negative and sum to 1. The error is within bfloat16_bounds(). The bits are the same
///   for any number of threads. Not random.
/// Cost: 2 n_q n_k (p + p_v) flops and n_q n_k exponentials, as exact attention, and only those of the pairs that are
///   not masked in causal attention. In float, scores take half the time of products in float on processors with
///   AVX-512 BF16, and the same time on others. Memory O((n_q + n_k) (p + p_v)).
template <typename T>
Approximation<T> bfloat16(const Problem<T>& problem);

/// A bound on ||o~_i - o_i|| for every query: 2 tanh(delta_i / 2) max_j ||v_j - mean||, and the rounding in the
/// precision of the problem. delta_i = (2 u + u^2) ||q_i|| max_j ||k_j - c|| / sqrt(p) bounds the change of a score,
/// where u = 2^-8 is the unit roundoff of bfloat16.
/// Source: if scores change by at most delta, their softmax changes by at most 2 tanh(delta / 2) in the 1-norm, which
///   is attained by two groups of keys with weights 1 : e^delta (proof in docs/methods/bfloat16.md).
/// Cost: O((n_q + n_k) (p + p_v)).
template <typename T>
arma::Col<T> bfloat16_bounds(const Problem<T>& problem);

template <typename T>
Method<T> bfloat16_method();

}  // namespace croquis
