// Softmax over some keys a query: what windows, blocks, buckets and chosen keys have in common.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/linalg/sparse_columns.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace croquis {

/// The keys that each query meets: query i those at start[i] ... start[i + 1] - 1, each once, in ascending order. Under
/// a causal mask no query meets a later key, whatever it is given: the mask is applied here and nowhere else. Every
/// query meets a key: one that would meet none meets its own.
class Pattern {
 public:
  Pattern(TokenAlignment tokens, bool causal) : tokens_(tokens), causal_(causal) {}
  template <typename T>
  explicit Pattern(const Problem<T>& problem) : Pattern(problem.tokens(), problem.is_causal()) {}

  /// Queries come one after the other. `keys` is sorted here; a key that stands in it m times is met once with
  /// multiplicity m, or with 1 unless `count` is set. Later keys are left out under a causal mask.
  void add(std::vector<std::uint32_t>& keys, bool count = false);
  /// Query i meets every key that it may.
  void add_all();

  /// The keys that query i may meet are 0 ... visible(i) - 1.
  arma::uword visible(arma::uword query) const { return causal_ ? tokens_.causal_keys(query) : tokens_.n_k; }
  /// The key that is the token of query i; the first key where that token comes before all of them.
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

/// The sum over queries of the smaller of d and the number of keys that a query may meet: the visits of a pattern of at
/// most d keys a query.
template <typename T>
double most_visits(const Problem<T>& problem, double d);

/// Weights that are not divided yet: column i of `rows` (n_k x n_q) has m_ij exp(q_i.k_j / sqrt(p) - top(i)) at the
/// keys j that query i meets, sums(i) is their sum, and top(i) the largest logit, log m_ij included.
template <typename T>
struct PatternWeights {
  SparseColumns<T> rows;
  arma::Col<T> top, sums;
};

/// For Q (n_q x p) and K (n_k x p). Cost: 2 visits p flops, visits exponentials, 12 bytes (double) a visit.
template <typename T>
PatternWeights<T> pattern_weights(const arma::Mat<T>& q, const arma::Mat<T>& k, const Pattern& pattern);

/// O~ = B~ V for factors of B~ with apply() and apply_transposed(); the denominators are weights.sums exp(weights.top).
template <typename T, typename Factors>
Approximation<T> from_factors(std::shared_ptr<const Factors> factors, PatternWeights<T> weights,
                              const Problem<T>& problem) {
  Approximation<T> approximation =
      from_scores<T>({problem.n_q(), problem.n_k(), [factors](const arma::Mat<T>& x) { return factors->apply(x); },
                      [factors](const arma::Mat<T>& x) { return factors->apply_transposed(x); }},
                     problem);
  approximation.denominators = Denominators<T>{std::move(weights.sums), std::move(weights.top)};
  return approximation;
}

/// O~_i = sum_j b_ij V_j over the keys j that query i meets, b_ij = m_ij exp(q_i.k_j / sqrt(p)) / sum: softmax with
/// -inf outside the pattern, and log m_ij added inside. Q and K need not be those of the problem. Guarantees: rows of
/// B~ are non-negative and sum to 1; B~ = B when all meet all. The denominators are the parts of the row
///   sums that are met: min_denominator is the smallest share of attention inside the pattern.
/// Cost: 2 visits (p + p_v) flops, visits exponentials, 12 bytes (double) a visit.
template <typename T>
Approximation<T> sparse_softmax(const arma::Mat<T>& q, const arma::Mat<T>& k, const Problem<T>& problem,
                                const Pattern& pattern);

}  // namespace croquis
