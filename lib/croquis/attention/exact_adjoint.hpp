// The adjoint of exact attention, streamed.
#pragma once

#include <croquis/attention/exact.hpp>
#include <croquis/attention/gradient.hpp>

namespace croquis {

/// The derivatives of <G, O> for the exact output O of a target and G (n_q x p_v). `exact` is what exact_attention
/// returned for them. Causal masks and, if the target has one, the bias are included.
/// Guarantees: blocks of the weights are recomputed from the parts of the row sums in `exact`, and nothing n_q x n_k is
///   stored. The bits are the same for any number of threads. For targets with unit rows, zero rows of Q and K have no
///   derivative and get zeros. Entries of the bias that are -inf or masked get zeros.
/// Cost: 2 n_q n_k (2 p_v + 3 p) flops, which is 2.5 times exact attention for p_v = p, and n_q n_k exponentials;
///   memory of O((n_q + n_k) (p + p_v)), of which the largest part is 8 min(n_q, n_k) (p + p_v) numbers.
/// Throws: std::invalid_argument for a G or an `exact` of other sizes.
template <typename T>
Gradient<T> exact_gradient(const Problem<T>& problem, Target target, const ExactAttention<T>& exact,
                           const arma::Mat<T>& cotangent);

/// The same as an Adjoint, which computes exact attention first.
template <typename T>
Adjoint<T> exact_adjoint(const Problem<T>& problem, Target target);

}  // namespace croquis
