// Exact attention whose scores are products of bfloat16: what the rounding of queries and keys costs.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

/// O~ = B~ V, for any d, where row i of B~ is the softmax of the scores q~_i.k~_j: q~ and k~ are q p^-1/4 and
/// (k - c) p^-1/4 rounded to bfloat16 entry by entry, c the mean key, which takes the same from all scores of a query.
/// In causal attention c is zero, since the mean depends on later tokens. All else is in the precision of the problem.
/// Guarantees: rows of B~ are non-negative and sum to 1; the error is within bfloat16_bounds(); the same bits for any
///   number of threads. Nothing is drawn.
/// Cost: 2 n_q n_k (p + p_v) flops and n_q n_k exponentials, as exact attention. In float the scores take half of the
///   time of float's products on processors with AVX-512 BF16, and the same time on others; memory O((n_q + n_k) (p +
///   p_v)).
template <typename T>
Approximation<T> bfloat16(const Problem<T>& problem);

/// A bound of ||o~_i - o_i|| for every query: 2 tanh(delta_i / 2) max_j ||v_j - mean||, and what the precision of the
/// problem adds. delta_i = (2 u + u^2) ||q_i|| max_j ||k_j - c|| / sqrt(p) is the largest change of a score, u = 2^-8
/// bfloat16's roundoff. Source: scores that change by at most delta change a softmax by at most 2 tanh(delta / 2) in
/// the 1-norm, which two groups of weights 1 : e^delta attain; docs/methods/bfloat16.md has the proof. Cost O((n_q +
/// n_k) (p + p_v)).
template <typename T>
arma::Col<T> bfloat16_bounds(const Problem<T>& problem);

template <typename T>
Method<T> bfloat16_method();

}  // namespace croquis
