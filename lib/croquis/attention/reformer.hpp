// Reformer: queries and keys that fall into one bucket of a random hash meet.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct ReformerOptions {
  enum class Keys {
    shared,  ///< k_j = q_j / ||q_j||, K is not used, and a token meets itself only when it meets nothing else: Reformer
    own,     ///< K as it is: queries and keys are hashed and sorted apart and meet by rank
  };
  Keys keys = Keys::shared;
  arma::uword rounds = 2;     ///< r >= 1 independent hashes; 2 in Skeinformer's experiments, up to 8 in Reformer
  bool count_rounds = false;  ///< a key met in m rounds has weight m, as in the code; Reformer App. A divides by m
};

/// Attention by locality-sensitive hashing (Reformer, via Skeinformer Table 1). In each of r rounds, tokens are sorted
/// by bucket, argmax of (x R, -x R) with a Gaussian R, and position, and cut into chunks of c; a query meets the keys
/// of its chunk and of the one before, the last before the first. Rounds are combined by their log-sum-exp: one softmax
/// over all keys met.
/// d is the number of keys that a query meets at most: 2 r c <= d, c the largest. There are about n / c buckets.
/// Guarantees: rows sum to 1. With shared keys it approximates softmax(q_i.q_j / (||q_j|| sqrt(p)), j != i), not B:
///   against the softmax target its error holds that change of model. With own keys it is exact for d = n.
/// Causal: of the keys met in a round, those up to the query; a token that is left with none meets itself. Which tokens
///   share a chunk depends on later tokens too, here as in Reformer: no weight goes to a later key, but another later
///   token may change which earlier keys a query meets.
/// Randomness: entry e of R (p x buckets / 2, column by column) of round t is normal e of
/// draw_key.child("rotation").child(t). Cost: 2 n d (p + p_v) flops, and 2 r n p (n / 2 c) for the hashes (twice with
/// own keys). 2 r <= d <= n, or d = n.
template <typename T>
Approximation<T> reformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                          const ReformerOptions& options = {});

template <typename T>
Method<T> reformer_method();

}  // namespace croquis
