// BalanceKV: attention to a coreset of the keys by self-balancing walks.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct BalancekvOptions {
  double gamma = 16;        ///< of the walks, >= 0: how strongly a sign opposes the sum so far; 0: fair signs
  arma::uword block = 128;  ///< tokens in a walk, at least 2 and even
  double constant = 1;      ///< c of h, >= 0: how much the row sums are balanced beside the values; 0: not at all
  arma::uword sinks = 0;    ///< first keys, always kept with weight 1; limited to a quarter of d
  arma::uword window = 0;   ///< last keys, always kept with weight 1; limited to a quarter of d
};

/// O~ = softmax over d keys with the weights of balanced_halves() (Kochetkova et al. 2025), for the TokenKernel h of
/// the keys that are halved, with the constant c; see coreset_softmax(). The walk and its probability are the paper's.
/// Exactly d keys are left for every n, because blocks have halves of equal size, which is our reading of the paper
/// (docs/methods/balancekv.md).
/// Guarantees: given Q, K and V, E D~ = diag(A 1) and E (D~ O~) = A V, because every key's weight has mean 1. Rows of
///   B~ are non-negative and sum to 1. d = n_k is exact. Multiplying V by a constant does not change the choice of
///   keys. The paper's error bound is not checked here.
/// Randomness: balanced_halves on draw_key.child("walk").
/// Cost: see balancekv_flops. 1 <= d <= n_k.
template <typename T>
Approximation<T> balancekv(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                           const BalancekvOptions& options = {});

/// The flops of balancekv(): those of the entries of h, at most n (block + 64) for the n keys that are neither sinks
/// nor in the window, and those of d keys for each of the n_q queries.
double balancekv_flops(double n_q, double n_k, double p, double p_v, double d, const BalancekvOptions& options);

template <typename T>
Method<T> balancekv_method();

}  // namespace croquis
