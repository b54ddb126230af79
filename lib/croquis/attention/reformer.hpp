// Reformer: queries attend to the near keys in their bucket of a random hash.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct ReformerOptions {
  enum class Keys {
    shared,  ///< k_j = q_j / ||q_j||, K is not used, a token attends to itself only if it has no other key: Reformer
    own,     ///< K as it is: queries and keys are hashed and sorted separately, and matched by rank
  };
  Keys keys = Keys::shared;
  arma::uword rounds = 2;     ///< r >= 1 independent hashes; 2 in Skeinformer's experiments, up to 8 in Reformer
  bool count_rounds = false;  ///< a key found in m rounds has weight m, as in the code; Reformer App. A divides by m
  bool across = false;        ///< keys of other buckets in reach count too, as in the code; the paper masks them

  /// The default values of reformer-pytorch.
  static ReformerOptions code() { return {.count_rounds = true, .across = true}; }
};

/// Attention by locality-sensitive hashing (Reformer, via Skeinformer Table 1). In each of r rounds, tokens are sorted
/// by bucket, which is the argmax of (x R, -x R) with a Gaussian R, and by position, and divided into chunks of c. A
/// query has the keys of its chunk and of the one before in reach (the last one for the first chunk), and attends to
/// those of its own bucket; with `across` to all of them. Rounds are combined by their log-sum-exp into one softmax
/// over all these keys. With own keys no key in reach may be in the query's bucket in any round; the query then attends
/// to all in reach.
///
/// d is the maximum number of keys that a query attends to: 2 r c <= d, with the largest such c. There are about n / c
/// buckets. With d = n there are no buckets, and all keys are in reach.
/// Guarantees: rows sum to 1. With shared keys it approximates softmax(q_i.q_j / (||q_j|| sqrt(p)), j != i), and not B:
///   its error against the softmax target includes this change of the model. With own keys it is exact for d = n.
/// Causal: of the keys found in a round, those up to the query; a token without any attends to itself. Which tokens
///   share a chunk depends on later tokens too, here as in Reformer: no weight goes to a later key, but other later
///   tokens may change to which earlier keys a query attends.
/// Randomness: entry e of R (p x buckets / 2, column by column) of round t is normal e of
///   draw_key.child("rotation").child(t).
/// Cost: at most 2 n d (p + p_v) flops, and r n^2 p / c for the hashes (twice that with own keys). 2 r <= d <= n, or d
///   = n.
template <typename T>
Approximation<T> reformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                          const ReformerOptions& options = {});

template <typename T>
Method<T> reformer_method();

}  // namespace croquis
