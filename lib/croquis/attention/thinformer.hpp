// Thinformer: attention to a coreset of the keys by kernel halving.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct ThinformerOptions {
  enum class Tokens {
    all,      ///< every n_k: odd keys wait, and keys have weights
    thinned,  ///< every (n_k / n)-th key, n the largest power of 4 that is at most n_k: the authors' code
  };
  Tokens tokens = Tokens::all;
  double delta = 0.5;  ///< of the halvings, 0 < delta <= 1: the smaller, the more often their signs are free

  /// What the authors' code does.
  static ThinformerOptions code() { return {.tokens = Tokens::thinned, .delta = 0.5}; }
};

/// O~ = softmax over d keys with the weights of kh_compress() (Carrell et al. 2025, Sec. 4), for the kernel h of keys
/// and (v, ||V||_max), which halving keeps balanced: coreset_softmax().
/// Guarantees: given Q, K and V, E D~ = diag(A 1) and E (D~ O~) = A V (all), as every key's weight has mean 1; rows of
/// B~ are non-negative and sum to 1; d = n_k is exact (all). With probability 1 - delta / 2 and more the largest entry
/// of the error is of the order ||V|| sqrt(rank) log(n) / d where h has a small rank (their theorem, not checked here);
/// uniform samples have 1 / sqrt(d).
/// Randomness: kh_compress of draw_key.child("halving").
/// Cost: see thinformer_flops; 1 <= d <= n_k. thinned: at most n keys are kept.
template <typename T>
Approximation<T> thinformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                            const ThinformerOptions& options = {});

/// 2 to 4 d^2 entries of h a round, log2(n / d) rounds, for n keys that are halved; and the d keys of the n_q queries.
double thinformer_flops(double n_q, double n, double p, double p_v, double d);

template <typename T>
Method<T> thinformer_method();

}  // namespace croquis
