// KDEformer: blocks of queries and keys sorted by a hash, and samples of the other keys by the norms of their values.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/sampling/angular_order.hpp>

namespace croquis {

struct KdeformerOptions {
  enum class Probabilities {
    values,  ///< w_l = ||V_l|| / ||V|| + 1 / n_k
    code,    ///< w_l = ||(V_l, 1)|| / ||(V, 1)||^2 + 1 / n_k, which depends on the scale of V: the authors' code
    exact,   ///< no blocks, exact row sums, w_l = ||B e_l||^2 + ||B||^2 ||V_l||^2 / ||V||^2: the paper's, an oracle
  };
  Probabilities probabilities = Probabilities::values;
  BucketOrder order = BucketOrder::gray;
  arma::uword directions = 7;  ///< r half-spaces of the hash, 1 to 30

  /// The default values of the authors' code.
  static KdeformerOptions code() { return {Probabilities::code, BucketOrder::transposed, 7}; }
};

/// values, code: O~ = D~^-1 N (Zandieh et al. 2023). A query attends to the b keys of its block, as in
/// hyperattention(), with weight 1, and to those of m keys, drawn with replacement with probabilities p_l = w_l / sum
/// w, that are not in its block, with weight 1 / (m p_l). N and D~ have the same keys and weights. b = ceil(d / 2) and
/// m = d - b.
/// exact: O~ = B S S^T V for d keys; column s of S is e_l / sqrt(d p_l). This is the estimator of the theorem, with B
/// and the probabilities known. It is quadratic.
/// Guarantees: values, code: given the hash and m >= 1, E D~ = diag(A 1) and E N = A V; rows of B~ are non-negative and
///   sum to 1; exact for d = n_k. exact: E O~ = O; with high probability ||O - O~|| <= eps ||B|| ||V|| for d of order
///   eps^-2 log(n) times the sum of the stable ranks of B and V (their theorem, not checked here); rows do not sum to
///   1.
/// Randomness: direction r is normals p r ... p r + p - 1 of draw_key.child("directions"); the sampled keys are
///   sample_weighted on draw_key.child("keys").
/// Cost: n_q d (2 (p + p_v) + 1) flops, and 2 r p (n_q + n_k) for the hash. Once for each problem, n_k p_v^2 +
///   4/3 p_v^3 for ||V|| (code: p_v + 1 columns), and with exact n_q n_k (4 p + 2) for row sums and column norms, and
///   n_q n_k (4 p + 6) for each of the at most 300 steps of the iteration for ||B||, which computes its entries anew. 1
///   <= d <= n_k.
template <typename T>
Approximation<T> kdeformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                           const KdeformerOptions& options = {});

template <typename T>
Method<T> kdeformer_method();

}  // namespace croquis
