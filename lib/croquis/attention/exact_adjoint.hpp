// The adjoint of exact attention, streamed.
#pragma once

#include <croquis/attention/exact.hpp>
#include <croquis/attention/gradient.hpp>

namespace croquis {

/// The derivatives of <G, O> for the exact output O of a target, G (n_q x p_v) and `exact` what exact_attention
/// returned for them. Causal problems and, where the target takes it, the bias are part of it.
/// Guarantees: blocks of the weights are computed again from `exact.log_row_sums`, and nothing n_q x n_k is stored. The
///   same bits for any number of threads. Rows of Q and K that are zero have no derivative where they are brought to
///   unit length: theirs are zeros. Entries of the bias that are -inf or masked have zeros.
/// Cost: 2 n_q n_k (2 p_v + 3 p) flops, which is 2.5 times exact attention for p_v = p, and n_q n_k exponentials;
///   memory of O((n_q + n_k) (p + p_v)), the largest part of it 8 min(n_q, n_k) (p + p_v) numbers.
/// Throws std::invalid_argument for a G or an `exact` of other sizes.
template <typename T>
Gradient<T> exact_gradient(const Problem<T>& problem, Target target, const ExactAttention<T>& exact,
                           const arma::Mat<T>& cotangent);

/// The same as an Adjoint, which computes exact attention first.
template <typename T>
Adjoint<T> exact_adjoint(const Problem<T>& problem, Target target);

}  // namespace croquis
