// Longformer: a band and a few global tokens.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct LongformerOptions {
  arma::uword global = 1;  ///< g >= 0: the first g tokens attend to all tokens, and all attend to them
};

/// Softmax over the keys with |i - j| <= w and the g global tokens; global queries attend to all keys (Longformer, as
/// in Nystromformer Table 1, with the same Q, K and V for global and other tokens).
///
/// d is the number of keys that a query attends to: on average over the queries at most d, with 2 w + 1 + 2 g <= d and
/// the largest such w.
/// Causal: the keys i - w <= j <= i and the global ones up to i, with w = d - 1 - g, so a query attends to d keys if
///   there are as many. This is `streaming` with g sinks.
/// Guarantees: rows sum to 1; exact for d = n. Not random.
/// Cost: 2 n d (p + p_v) flops. 1 + 2 g <= d <= n (causal: 1 + g <= d), or d = n.
template <typename T>
Approximation<T> longformer(const Problem<T>& problem, arma::uword d, const LongformerOptions& options = {});

template <typename T>
Method<T> longformer_method();

}  // namespace croquis
