// Clustered attention: the queries of a cluster share the attention of their mean; the improved form has own weights on
// the largest keys.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/sampling/hamming_clusters.hpp>

namespace croquis {

struct ClusteredOptions {
  arma::uword top = 32;   ///< improved: k >= 1 keys of a cluster for which every query has weights of its own
  arma::uword bits = 63;  ///< B random planes of the hash, 1 to 64
  int updates = 10;       ///< number of updates of the centroids of the K-means, >= 0
  bool offsets = true;    ///< planes with an offset; false: through the origin

  /// The default values of the authors' code.
  static ClusteredOptions code() { return {.top = 32, .bits = 32, .updates = 9, .offsets = true}; }
};

/// Row i of B~ is softmax(m_c K^T / sqrt(p)), where m_c is the mean of the queries of the cluster c of query i (Vyas et
/// al. 2020, Sec. 3.2). The clusters are hamming_clusters() of plane_hashes() of the queries. d is their number.
/// Guarantees: rows are non-negative and sum to 1. The distance of row i to that of B is at most ||q_i - m_c|| ||K|| /
///   sqrt(p) (Prop. 1).
/// Randomness: the planes are normals of draw_key.child("planes"), column by column; the K-means uses
///   draw_key.child("clusters").
/// Cost: d n_k (2 (p + p_v) + 1) flops, 2 n_q (p + 1) B for the hash, and 2 n_q d (updates + 1) + n_q B updates
///   operations for the K-means; memory n_k d. 1 <= d <= n_q.
template <typename T>
Approximation<T> clustered(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                           const ClusteredOptions& options = {});

/// The same, but on the set T of the k keys with the largest weights in the cluster's row, every query has weights by
/// its own scores, with the same sum (Sec. 3.3): b~_ij = s softmax_T(q_i K_T^T / sqrt(p))_j for j in T, where s is the
/// weight of T in the cluster's row.
/// Guarantees: sum_j |b~_ij - b_ij| is at most that of `clustered` in every row (Prop. 2). Exact for k >= n_k.
/// Cost: that of `clustered` and n_q k (2 (p + p_v) + 1).
template <typename T>
Approximation<T> improved_clustered(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                    const ClusteredOptions& options = {});

template <typename T>
Method<T> clustered_method();
template <typename T>
Method<T> improved_clustered_method();

}  // namespace croquis
