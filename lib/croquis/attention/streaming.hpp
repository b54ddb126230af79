// StreamingLLM: attention sinks and a sliding window.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct StreamingOptions {
  arma::uword sinks = 4;  ///< s >= 0: the first s keys, which all queries meet
};

/// Softmax over the first s keys and a window of d - s keys: causal, those that end with the query's own; else about
/// it, floor((d - s) / 2) of them before it (Xiao et al. 2023, StreamingLLM, which is causal). d is the number of keys
/// that a query meets at most. A query whose token comes before all keys has the window of the first one. Guarantees:
/// rows sum to 1; exact for d = n_k. Nothing is drawn. Row i of a causal problem depends on tokens up to i alone. Cost:
/// 2 n_q d (p + p_v) flops. s < d <= n_k, or d = n_k.
template <typename T>
Approximation<T> streaming(const Problem<T>& problem, arma::uword d, const StreamingOptions& options = {});

template <typename T>
Method<T> streaming_method();

}  // namespace croquis
