// Softmax over some keys a query: what windows, blocks and buckets have in common.
#pragma once

#include <croquis/attention/method.hpp>
#include <cstdint>
#include <vector>

namespace croquis {

/// The keys that each query meets: query i those at start[i] ... start[i + 1] - 1, each once, in ascending order.
class Pattern {
 public:
  /// Queries come one after the other. `keys` is sorted here; a key that stands in it m times is met once with
  /// multiplicity m, or with 1 unless `count` is set.
  void add(std::vector<std::uint32_t>& keys, bool count = false);
  /// Query i meets every key of 0 ... n-1.
  void add_all(arma::uword n);

  arma::uword queries() const { return start_.size() - 1; }
  std::size_t visits() const { return key_.size(); }
  std::size_t start(arma::uword query) const { return start_[query]; }
  std::uint32_t key(std::size_t e) const { return key_[e]; }
  std::uint32_t multiplicity(std::size_t e) const { return multiplicity_[e]; }

 private:
  std::vector<std::size_t> start_ = {0};
  std::vector<std::uint32_t> key_, multiplicity_;
};

/// O~_i = sum_j b_ij V_j over the keys j that query i meets, b_ij = m_ij exp(q_i.k_j / sqrt(p)) / sum: softmax with
/// -inf outside the pattern, and log m_ij added inside. Q and K need not be those of the problem. Guarantees: rows of
/// B~ are non-negative and sum to 1; B~ = B when all meet all. The denominators are the parts of the row
///   sums that are met: min_denominator is the smallest share of attention inside the pattern.
/// Cost: 2 visits (p + p_v) flops, visits exponentials, 12 bytes (double) a visit.
/// Throws std::invalid_argument unless every query meets a key.
template <typename T>
Approximation<T> sparse_softmax(const arma::Mat<T>& q, const arma::Mat<T>& k, const Problem<T>& problem,
                                const Pattern& pattern);

}  // namespace croquis
