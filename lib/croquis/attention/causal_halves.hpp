// A causal problem as full rectangles and short causal problems: recursive halving.
#pragma once

#include <croquis/toeplitz/relative_position.hpp>
#include <vector>

namespace croquis {

/// Consecutive queries, and consecutive keys that all of them attend to.
struct CausalRectangle {
  arma::uword first_query, queries, first_key, keys;
};

/// Every pair of a query and a key that is not masked is in one rectangle, or in one leaf: `count` queries from
/// `first_query` and their own tokens as keys, under the causal mask.
struct CausalHalves {
  struct Leaf {
    arma::uword first_query, count;
  };
  std::vector<Leaf> leaves;                          ///< every query is in one
  std::vector<std::vector<CausalRectangle>> levels;  ///< a query is in at most one of a level
};

/// The causal problem of n tokens is the causal problems of its first ceil(n / 2) tokens and of the others, and the
/// rectangle of the latter's queries and the former's keys (Han et al. 2024, Alg. 4). It is a leaf where that rectangle
/// has at most `keys` keys, as then nothing would be left out of it. With more keys than queries, those before the
/// first query are a rectangle of their own. n_q <= n_k, keys >= 1.
CausalHalves causal_halves(TokenAlignment tokens, arma::uword keys);

/// The pairs of a query and a key where a query attends to at most `keys` keys of each rectangle, and to all of its
/// leaf. It grows with `keys`. Cost: O(log n_q).
double pairs_of_halves(TokenAlignment tokens, arma::uword keys);

/// The largest number of keys a rectangle, from `least` on, with which there are at most `pairs` pairs; `least` where
/// that has more.
arma::uword keys_of_halves(TokenAlignment tokens, double pairs, arma::uword least);

}  // namespace croquis
