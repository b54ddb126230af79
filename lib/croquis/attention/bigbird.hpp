// BigBird: global, window and random blocks.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct BigBirdOptions {
  arma::uword block = 0;   ///< b tokens a block; 0: max(1, floor(d / 10)), so that r = 3 (causal: 5) for large d
  arma::uword global = 2;  ///< g blocks, ceil(g/2) at the start and floor(g/2) at the end: all tokens attend to them,
                           ///< and they to all
  arma::uword window = 3;  ///< w blocks, odd, about the query's own
};

/// Softmax over blocks of keys. The queries of a block attend to the g global blocks, the w blocks about their own, and
/// r random others; global queries attend to all keys (BigBird-ITC, via Skeinformer Table 1).
///
/// d is the number of keys that a query attends to: on average over the queries at most d, with b (2 g + w + r) <= d
/// and the largest such r. The authors' b = 64, g = 2, w = 3 and r = 3 give d = 640 (Skeinformer Sec. 6.2).
/// Causal (not in the paper, whose model is an encoder): the g global blocks are the first ones, the w blocks of the
/// window end with the query's own, and r others are drawn among the blocks before it, with b (g + w + r) <= d. Later
/// keys of a block are masked.
/// Guarantees: rows sum to 1; exact for d = n. The last block is shorter if b does not divide n.
/// Randomness: the r blocks of block t of queries are drawn without replacement among those that it does not attend to
///   otherwise, from draw_key.child("random").child(t). (The copy in Skeinformer's code draws them among the first 1024
///   tokens when n = 1024, 3072 or 4096, and always with the same seed.)
/// Cost: 2 n d (p + p_v) flops. b (2 g + w) <= d <= n (causal: b (g + w) <= d), or d = n.
template <typename T>
Approximation<T> bigbird(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                         const BigBirdOptions& options = {});

template <typename T>
Method<T> bigbird_method();

}  // namespace croquis
