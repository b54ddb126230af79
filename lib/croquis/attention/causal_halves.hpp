// A causal problem as full rectangles and short causal problems: recursive halving.
#pragma once

#include <croquis/toeplitz/relative_position.hpp>
#include <vector>

namespace croquis {

/// Consecutive queries, and consecutive keys that all of them attend to.
struct CausalRectangle {
  arma::uword first_query, queries, first_key, keys;
};

/// A partition of the pairs of a query and a key that is not masked: each is in one rectangle or in one leaf. A leaf
/// has `count` queries from `first_query` on and their own tokens as keys, under the causal mask.
struct CausalHalves {
  struct Leaf {
    arma::uword first_query, count;
  };
  std::vector<Leaf> leaves;                          ///< every query is in exactly one
  std::vector<std::vector<CausalRectangle>> levels;  ///< a query is in at most one rectangle of a level
};

/// The causal problem of n tokens consists of the causal problems of its first ceil(n / 2) tokens and of the others,
/// and of the rectangle of the latter's queries and the former's keys (Han et al. 2024, Alg. 4). A problem whose
/// rectangle would have at most `keys` keys is a leaf, because no key of it would be left out. With more keys than
/// queries, the keys before the first query form a rectangle of their own. 1 <= n_q <= n_k, keys >= 1.
CausalHalves causal_halves(TokenAlignment tokens, arma::uword keys);

/// The number of pairs of a query and a key if a query attends to at most `keys` keys of each of its rectangles and, in
/// its leaf, to all keys up to its own. The number never decreases with `keys`. With at_once > 1, leaves are computed
/// in parts of that many consecutive queries, each of which counts with the keys of the last query of its part. n_q <=
/// n_k, keys >= 1, at_once >= 1. Cost: O(log n_q).
double pairs_of_halves(TokenAlignment tokens, arma::uword keys, arma::uword at_once = 1);

/// The largest number of keys between `least` and max(least, n_k) for which pairs_of_halves() is at most `pairs`, or
/// `least` if there is none.
arma::uword keys_of_halves(TokenAlignment tokens, double pairs, arma::uword least);

}  // namespace croquis
