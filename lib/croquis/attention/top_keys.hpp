// The d keys of largest score of each query: an oracle.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct TopKeysOptions {
  enum class Rest {
    mean,  ///< the other keys share their exact total weight equally
    none,  ///< the other keys are masked, and the rows are renormalised
  };
  Rest rest = Rest::mean;
};

/// For every query i, the d keys of largest score have their exact weights (of scores that are computed to be equal the
/// first keys), and the other keys share what is left of the row, tau_i = 1 - sum of the d largest b_ij, equally:
///   O~_i = sum_{top} b_ij V_j + tau_i mean_{others} V_j.
/// With Rest::none it is a softmax over the d keys, the mask of d keys for each row that keeps the largest mass. It is
/// an oracle, because it computes all scores: it shows what sparse methods with d keys for each query, with or without
/// a mean for the rest, can achieve, as best-rank-d does for methods of rank d.
/// Guarantees: rows are non-negative and sum to 1; exact for d = n_k. The sum of |b_ij - b~_ij| over row i is at most 2
///   tau_i in both cases; with `mean`, ||o_i - o~_i|| <= tau_i max_{others} ||V_j - mean||. Not random. A row depends
///   only on its query and, in causal attention, on keys up to it.
/// Cost: 2 n_q n_k p and 2 n_q d p_v flops, and n_q n_k exponentials (Rest::none: n_q d); about 30 bytes (double) for
///   each of n_q d keys, 12 of which are kept. 1 <= d <= n_k.
template <typename T>
Approximation<T> top_keys(const Problem<T>& problem, arma::uword d, const TopKeysOptions& options = {});

template <typename T>
Method<T> top_keys_method();

}  // namespace croquis
