// BalanceKV: attention to a coreset of the keys by self-balancing walks.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct BalancekvOptions {
  double gamma = 16;        ///< of the walks, >= 0: how strongly signs turn against the sum so far; 0: fair signs
  arma::uword block = 128;  ///< tokens of a walk, at least 2 and even
  double constant = 1;      ///< c of h, >= 0: how much the row sums are balanced beside the values; 0: not
  arma::uword sinks = 0;    ///< first keys that are kept, with weight 1; at most a quarter of d
  arma::uword window = 0;   ///< last ones; at most a quarter of d
};

/// O~ = softmax over d keys with the weights of balanced_halves() (Han et al. 2025), for h = TokenKernel of the keys
/// that are halved, with the constant c: coreset_softmax(). The walk and its probability are the paper's; exactly d
/// keys are left for every n, as blocks have halves of equal size, which is our reading (docs/methods/balancekv.md).
/// Guarantees: given Q, K and V, E D~ = diag(A 1) and E (D~ O~) = A V, as every key's weight has mean 1; rows of B~ are
/// non-negative and sum to 1; d = n_k is exact. Scaling V changes no choice. The paper's error bound is not checked
/// here. Randomness: balanced_halves of draw_key.child("walk"). Cost: see balancekv_flops; 1 <= d <= n_k.
template <typename T>
Approximation<T> balancekv(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                           const BalancekvOptions& options = {});

/// At most n (block + 64) entries of h, n the keys but for sinks and window; and the d keys of the n_q queries.
double balancekv_flops(double n_q, double n_k, double p, double p_v, double d, const BalancekvOptions& options);

template <typename T>
Method<T> balancekv_method();

}  // namespace croquis
