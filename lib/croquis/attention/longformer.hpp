// Longformer: a band and a few global tokens.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct LongformerOptions {
  arma::uword global = 1;  ///< g >= 0: the first g tokens meet, and are met by, all
};

/// Softmax over the keys |i - j| <= w and the g global tokens; global queries meet all keys (Longformer, as in
/// Nystromformer Table 1, with Q, K, V of one kind for all tokens).
/// d is the number of keys that a query meets, on average over the queries at most: 2 w + 1 + 2 g <= d, w the largest.
/// Causal: the keys i - w <= j <= i and the global ones up to i, with w = d - 1 - g, so that d keys are met by every
///   query that has as many. It is streaming with g sinks.
/// Guarantees: rows sum to 1; exact for d = n. Nothing is drawn.
/// Cost: 2 n d (p + p_v) flops. 1 + 2 g <= d <= n (causal: 1 + g <= d), or d = n.
template <typename T>
Approximation<T> longformer(const Problem<T>& problem, arma::uword d, const LongformerOptions& options = {});

template <typename T>
Method<T> longformer_method();

}  // namespace croquis
