// Attention of groups of queries to keys that a group shares, such as sorted blocks with samples of the other keys.
#pragma once

#include <croquis/attention/method.hpp>
#include <cstdint>
#include <vector>

namespace croquis {

/// So many queries of a group are computed together, each with all keys that the last of them attends to.
inline constexpr arma::uword kGroupQueriesAtOnce = 64;

/// Some queries, and the keys to which all of them attend. A key may occur several times. Key j has the weight w_j in
/// the output and u_j in the row sum: for row i, sum_j w_j a_ij V_j estimates A V, and sum_j u_j a_ij the row sum.
template <typename T>
struct KeyGroup {
  std::vector<std::uint32_t> queries, keys;
  std::vector<T> output_weights, sum_weights;  ///< w and u >= 0, one for each key
  /// Query i of the group attends to the first visible[i] >= 1 keys; visible must ascend. If it is empty, all queries
  /// attend to all keys.
  std::vector<std::uint32_t> visible;

  void add(std::uint32_t key, T output_weight, T sum_weight) {
    keys.push_back(key);
    output_weights.push_back(output_weight);
    sum_weights.push_back(sum_weight);
  }
};

template <typename T>
using GroupLayers = std::vector<std::vector<KeyGroup<T>>>;

/// O~_i = sum_j w_j a_ij V_j / sum_j u_j a_ij over the keys of the groups of query i, where a_ij = exp(q_i.k_j /
/// sqrt(p)) is computed relative to the largest logit of the row, so that nothing overflows. A query is in exactly one
/// group of the first layer, and in at most one group of every other layer. Layers are computed one after the other,
/// and the sums of two layers are combined relative to the larger of their largest logits.
/// Guarantees: rows of B~ are non-negative; they sum to 1 if w = u. The denominators are the estimated row sums of A.
///   The bits are the same for any number of threads.
/// Cost: 2 (p + p_v) flops and an exponential for every query and key of its groups. Where queries attend to different
///   numbers of keys, 64 queries together are computed with the keys of the last one. The score operator stores the
///   weights.
/// Throws: std::invalid_argument unless every query is in one group of the first layer and in at most one of the
///   others, every group with queries has a key, and indices, weights and `visible` are as KeyGroup says;
///   std::runtime_error if a denominator is 0.
template <typename T>
Approximation<T> grouped_attention(const Problem<T>& problem, GroupLayers<T> layers, const char* name);

}  // namespace croquis
