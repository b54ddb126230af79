// StreamingLLM: attention sinks and a sliding window.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct StreamingOptions {
  arma::uword sinks = 4;  ///< s >= 0: all queries attend to the first s keys
};

/// Softmax over the first s keys and a window of d - s keys (Xiao et al. 2023, StreamingLLM, which is causal). On a
/// causal problem the window ends with the query's own key; otherwise it is about that key, with floor((d - s) / 2)
/// keys before it. d is the maximum number of keys that a query attends to. A query whose token comes before all keys
/// has the window of the first key.
/// Guarantees: rows sum to 1; exact for d = n_k. Not random. Row i of a causal problem depends only on tokens up to i.
/// Cost: 2 n_q d (p + p_v) flops. s < d <= n_k, or d = n_k.
template <typename T>
Approximation<T> streaming(const Problem<T>& problem, arma::uword d, const StreamingOptions& options = {});

template <typename T>
Method<T> streaming_method();

}  // namespace croquis
