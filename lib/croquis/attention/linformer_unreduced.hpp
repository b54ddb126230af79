// The unreduced Johnson-Lindenstrauss baseline for Linformer.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

/// O~ = B S S^T V with a Gaussian S in R^{n_k x d} (Skeinformer Sec. 3.3). It is quadratic in n, because it needs all
/// of B.
/// Guarantees: E O~ = B V. The variance of an entry is (||B_i||^2 ||V_j||^2 + (B_i.V_j)^2) / d for row i of B and
///   column j of V, so errors are large if V has a large mean. Rows of B~ do not sum to 1.
/// Randomness: the Gaussian sketch of draw_key.child("sketch"), another draw in float than in double.
/// Cost: 2 n_q n_k (p + p_v) + 4 n_k d p_v flops; up to 2048 tokens and for d < p_v, 2 n_q n_k (p + d) + 2 (n_q + n_k)
///   d p_v. Up to 2048 tokens B and S are stored, n_k (n_q + d) numbers; beyond, nothing n x n is. d >= 1.
template <typename T>
Approximation<T> linformer_unreduced(const Problem<T>& problem, arma::uword d, const Key& draw_key);

template <typename T>
Method<T> linformer_unreduced_method();

}  // namespace croquis
