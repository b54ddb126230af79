// Softmax over some keys for each query: the common part of windows, blocks, buckets and chosen keys.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/linalg/sparse_columns.hpp>
#include <cstdint>
#include <vector>

namespace croquis {

/// The keys that each query attends to: for query i those at start(i) ... start(i + 1) - 1, each once, in ascending
/// order. Under a causal mask no query attends to a later key, whatever keys are given: the mask is applied here and
/// nowhere else. A query that would attend to no key attends to its own.
class Pattern {
 public:
  Pattern(TokenAlignment tokens, bool causal) : tokens_(tokens), causal_(causal) {}
  template <typename T>
  explicit Pattern(const Problem<T>& problem) : Pattern(problem.tokens(), problem.is_causal()) {}

  /// Adds the next query. `keys` is sorted here. A key that occurs m times has multiplicity m if `count` is set,
  /// otherwise 1. Under a causal mask later keys are left out.
  void add(std::vector<std::uint32_t>& keys, bool count = false);
  /// Adds the next query, which attends to all keys that are not masked.
  void add_all();

  /// The number of keys that are not masked for query i, which are the first ones.
  arma::uword visible(arma::uword query) const { return causal_ ? tokens_.causal_keys(query) : tokens_.n_k; }
  /// The key of the same token as query i; the first key if that token comes before all keys.
  arma::uword own(arma::uword query) const {
    const arma::uword token = query + tokens_.n_k;  // n_q more than the key
    return token > tokens_.n_q ? token - tokens_.n_q : 0;
  }

  const TokenAlignment& tokens() const { return tokens_; }
  arma::uword queries() const { return start_.size() - 1; }
  std::size_t visits() const { return key_.size(); }
  std::size_t start(arma::uword query) const { return start_[query]; }
  std::uint32_t key(std::size_t e) const { return key_[e]; }
  std::uint32_t multiplicity(std::size_t e) const { return multiplicity_[e]; }

 private:
  TokenAlignment tokens_;
  bool causal_ = false;
  std::vector<std::size_t> start_ = {0};
  std::vector<std::uint32_t> key_, multiplicity_;
};

/// The number of pairs of a query and a key in a pattern of at most d keys for each query: the sum over the queries of
/// the minimum of d and the number of keys that are not masked.
template <typename T>
double most_visits(const Problem<T>& problem, double d);

/// Weights before normalisation. Column i of `rows` (n_k x n_q) has m_ij exp(q_i.k_j / sqrt(p) - top(i)) at the keys j
/// that query i attends to, with multiplicity m_ij. sums(i) is their sum, and top(i) the largest logit, including log
/// m_ij.
template <typename T>
struct PatternWeights {
  SparseColumns<T> rows;
  arma::Col<T> top, sums;
};

/// The weights for Q (n_q x p) and K (n_k x p).
/// Cost: with visits = the number of pairs in the pattern, 2 visits p flops, visits exponentials, and 12 bytes (double)
///   for each pair, beside the 8 of the pattern.
template <typename T>
PatternWeights<T> pattern_weights(const arma::Mat<T>& q, const arma::Mat<T>& k, const Pattern& pattern);

/// O~ = B~ V for B~^T = weights.rows, whose columns have been divided by weights.sums. The denominators are
/// weights.sums exp(weights.top).
template <typename T>
Approximation<T> from_divided(PatternWeights<T> weights, const Problem<T>& problem);

/// O~_i = sum_j b_ij V_j over the keys j that query i attends to, with b_ij = m_ij exp(q_i.k_j / sqrt(p)) / sum: a
/// softmax with -inf outside the pattern and log m_ij added inside. Q and K need not be those of the problem.
/// Guarantees: rows of B~ are non-negative and sum to 1; B~ = B if every query attends to all keys. The denominators
///   are the row sums over the pattern, so min_denominator is the smallest share of a query's attention inside the
///   pattern.
/// Cost: with visits = the number of pairs in the pattern, 2 visits (p + p_v) flops, visits exponentials, and 12 bytes
///   (double) for each pair, beside the 8 of the pattern.
template <typename T>
Approximation<T> sparse_softmax(const arma::Mat<T>& q, const arma::Mat<T>& k, const Problem<T>& problem,
                                const Pattern& pattern);

/// What these methods are where each query attends to all keys that are not masked: exact attention, with its row sums
/// as denominators.
/// Cost: that of exact_attention(), so that no pair takes memory.
template <typename T>
Approximation<T> softmax_over_all_keys(const Problem<T>& problem);

}  // namespace croquis
