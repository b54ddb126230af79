// Informer: exact attention for the queries whose attention is far from uniform, the mean of the values for the others.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct InformerOptions {
  enum class Count {
    given,    ///< u = d rows, as Skeinformer compares methods at equal cost
    rounded,  ///< u = c ceil(ln n_q) and U = c ceil(ln n_k), at most n_q and n_k, with the integer factor
              ///< c = ceil(d / ln n_q) of the authors' code; u = U = 144 for d = 128, n = 4096
  };
  enum class Mean {
    sampled,  ///< the mean over the sampled keys
    all,      ///< their sum divided by n_k, as in both codes; M is then close to the maximum alone if U << n_k
  };
  Count count = Count::given;
  Mean mean = Mean::sampled;
  arma::uword keys = 0;  ///< U >= 1 keys sampled for each query; 0: as `count` says, U = u where it is `given`

  static InformerOptions code();    ///< rounded, all: Informer2020, and the copy in Skeinformer's code
  static InformerOptions masked();  ///< given, all: Skeinformer's copy with padding mask
};

/// B~ has the rows of B for u queries, and 1/n_k in all entries of the other rows (Informer; equal d as in Skeinformer
/// Sec. 6.2). The u queries have the largest
///   M_i = max_{s in S_i} q_i.k_s - mean_{s in S_i} q_i.k_s,
/// where S_i is a sample of U keys for query i, drawn with replacement. Of equal M_i the earlier token comes first.
/// Guarantees: rows of B~ are non-negative and sum to 1; exact when u = n_q. Padding is never sampled: the variant with
///   mask of Skeinformer Sec. 4.4.
/// Randomness: key s of query i is place_of(word s, n_k) of draw_key.child("keys").child(i).
/// Cost: 2 n_q U p flops for M and 2 n_k u (p + p_v) for the rows: 6 n d p if p = p_v and n = n_q = n_k. 1 <= d <= n_q.
template <typename T>
Approximation<T> informer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                          const InformerOptions& options = {});

template <typename T>
Method<T> informer_method();

}  // namespace croquis
