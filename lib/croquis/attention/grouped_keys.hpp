// Attention of groups of queries to keys that a group shares: sorted blocks with samples of the other keys.
#pragma once

#include <croquis/attention/method.hpp>
#include <cstdint>
#include <vector>

namespace croquis {

/// Some queries, and the keys that all of them attend to. A key may occur several times. Of a key with weight w_j in
/// the output and u_j in the row sum, sum_j w_j a_ij V_j estimates A V in row i, and sum_j u_j a_ij the row sum.
template <typename T>
struct KeyGroup {
  std::vector<std::uint32_t> queries, keys;
  std::vector<T> output_weights, sum_weights;  ///< w and u >= 0, one of each a key
  /// Query i attends to the first visible[i] >= 1 keys, in ascending order of i; where it is empty, all attend to all.
  std::vector<std::uint32_t> visible;

  void add(std::uint32_t key, T output_weight, T sum_weight) {
    keys.push_back(key);
    output_weights.push_back(output_weight);
    sum_weights.push_back(sum_weight);
  }
};

template <typename T>
using GroupLayers = std::vector<std::vector<KeyGroup<T>>>;

/// O~_i = sum_j w_j a_ij V_j / sum_j u_j a_ij over the keys of the groups of query i; a_ij = exp(q_i.k_j / sqrt(p))
/// less the largest logit of the row, so that nothing overflows. A query is in one group of the first layer, and in at
/// most one of every other: layers are computed apart, and their sums are brought to the larger of the two largest
/// logits. Guarantees: rows of B~ sum to 1 where w = u, and are non-negative. The denominators are the estimated row
/// sums of A. The same bits for any number of threads. Cost: 2 (p + p_v) flops and an exponential for every query and
/// key of its groups; the operator stores the weights. Throws std::invalid_argument unless every query is in one group
/// of the first layer and in at most one of the others, with a key, and std::runtime_error where a denominator is 0.
template <typename T>
Approximation<T> grouped_attention(const Problem<T>& problem, GroupLayers<T> layers, const char* name);

}  // namespace croquis
