// Thinformer: attention to a coreset of the keys by kernel halving.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct ThinformerOptions {
  enum class Tokens {
    all,      ///< all n_k keys are halved, for any n_k; keys get weights
    thinned,  ///< every (n_k / n)-th key, for the largest power of 4, n, that is at most n_k: the authors' code
  };
  Tokens tokens = Tokens::all;
  double delta = 0.5;  ///< failure probability of the halvings, 0 < delta <= 1; if smaller, signs are closer to fair

  /// The default values of the authors' code.
  static ThinformerOptions code() { return {.tokens = Tokens::thinned, .delta = 0.5}; }
};

/// O~ = softmax over d keys with the weights of kh_compress() (Carrell et al. 2025, Sec. 4), for the kernel h of keys
/// and (v, ||V||_max); see coreset_softmax().
/// Guarantees: rows of B~ are non-negative and sum to 1. With all keys, given Q, K and V, E D~ = diag(A 1) and E (D~
///   O~) = A V, because every key's weight has mean 1; d = n_k is exact. With probability at least 1 - delta / 2, the
///   largest entry of the error is of order ||V|| sqrt(rank) log(n) / d if h has a small rank (their theorem, not
///   checked here); for uniform samples it is of order 1 / sqrt(d).
/// Randomness: kh_compress on draw_key.child("halving").
/// Cost: see thinformer_flops. 1 <= d <= n_k. thinned: at most n keys are kept.
template <typename T>
Approximation<T> thinformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                            const ThinformerOptions& options = {});

/// The flops of thinformer(): those of the entries of h that halving n keys to d computes, and those of d keys for each
/// of the n_q queries. For sqrt(n) <= d <= n / 2 each of about log2(n / d) rounds computes about d^2 to 4 d^2 entries;
/// for smaller d there are at least 2 n entries in all.
double thinformer_flops(double n_q, double n, double p, double p_v, double d);

template <typename T>
Method<T> thinformer_method();

}  // namespace croquis
