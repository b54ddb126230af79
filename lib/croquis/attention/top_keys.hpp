// Each query's d largest keys: an oracle.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct TopKeysOptions {
  enum class Rest {
    mean,  ///< the other keys share their exact weight equally
    none,  ///< the other keys have none, and the rows are renormalised
  };
  Rest rest = Rest::mean;
};

/// Every query's d keys of largest score exactly, the first of equals; the other keys share what is left of the row,
/// 1 - sum of the d largest b_ij, equally: O~_i = sum_{top} b_ij V_j + tau_i mean_{others} V_j. With Rest::none it is
/// softmax over the d keys, the best mask of d keys a row in mass. An oracle, for it computes all scores: what sparse
/// methods of d keys a query, with or without a mean for the rest, can hope for, as best-rank-d is for methods of rank
/// d.
/// Guarantees: rows are non-negative and sum to 1; exact for d = n_k. |b_ij - b~_ij| summed over row i is at most
///   2 tau_i for both rests; with `mean`, ||o_i - o~_i|| <= tau_i max_{others} ||V_j - mean||. Nothing is drawn. A row
///   is a function of its query, and of keys up to it in causal attention.
/// Cost: 2 n_q n_k p and 2 n_q d (p + p_v) flops; 12 bytes (double) for each of n_q d keys. 1 <= d <= n_k.
template <typename T>
Approximation<T> top_keys(const Problem<T>& problem, arma::uword d, const TopKeysOptions& options = {});

template <typename T>
Method<T> top_keys_method();

}  // namespace croquis
