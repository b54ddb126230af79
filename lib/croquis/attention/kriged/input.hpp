// What the kriged coreset computes once for a problem, whatever d and the draw are.
#pragma once

#include <armadillo>
#include <croquis/attention/problem.hpp>
#include <croquis/sampling/leaf_means.hpp>
#include <cstdint>
#include <mutex>
#include <vector>

namespace croquis {

/// The smallest and the largest entries of the columns of a matrix.
template <typename T>
struct ColumnRanges {
  arma::Row<T> minima, maxima;
};

/// A problem with centred queries, keys and values. A vector that is added to all keys does not change their softmax.
/// Rows of B~ sum to 1, so the mean of the values is added to the output at the end.
template <typename T>
struct KrigedInput {
  explicit KrigedInput(const Problem<T>& given);

  /// The centred keys as rows, n_k x p, and the standard deviations of their coordinates, divided by the largest entry,
  /// for screens. Built on first use.
  const arma::Mat<T>& key_rows() const;
  const arma::Col<T>& key_deviations() const;

  ColumnRanges<T> given_ranges;     // of V
  T value_size = 1;                 // a power of two by which V has been divided where its squares could overflow
  ColumnRanges<T> value_ranges;     // of V, divided
  Problem<T> problem;               // with these values
  CentredColumns<T> queries, keys;  // p x n_q, p x n_k
  arma::Row<T> value_mean;
  arma::Mat<T> value_columns;    // centred, and below each of them 1: (p_v + 1) x n_k
  arma::Col<T> value_norms;      // |v_j| of the centred values
  T value_rms = 0;               // root of the mean of their squares
  arma::Row<T> lowest, highest;  // of the centred columns of V
  T scale = 1;                   // 1 / sqrt(p)

 private:
  mutable std::once_flag rows_made_, deviations_made_;
  mutable arma::Mat<T> key_rows_;
  mutable arma::Col<T> key_deviations_;
};

/// N queries with their exact rows.
template <typename T>
struct ExactRows {
  arma::Mat<T> queries;             // N x p
  arma::Mat<T> weights;             // softmax over the keys, one column a query: n_k x N
  arma::Col<T> log_sums;            // log row sums
  arma::Mat<T> values;              // weights^T times the values and 1: N x (p_v + 1)
  std::vector<std::uint32_t> leaf;  // for every query, its leaf of the query tree
};

/// Cost: 2 N n_k (p + p_v) flops, N n_k exponentials and numbers of memory.
template <typename T>
ExactRows<T> exact_rows_of(const KrigedInput<T>& input, arma::Mat<T> queries, const std::vector<std::uint32_t>& leaf);

/// The rows of `first`, then those of `second`.
template <typename T>
ExactRows<T> joined(ExactRows<T> first, const ExactRows<T>& second);

/// The mean, over all pairs of rows, of the attention that two rows have in common: sum_j min(b_rj, b_sj), which is 1
/// minus their total variation distance. 1 for a single row. Cost: N^2 n_k flops.
template <typename T>
double mean_overlap(const ExactRows<T>& rows);

/// w_j = 0.8 c ||v_j|| (sum_r counts_r b_rj^2)^{1/2} + 0.2 / n_k, where c makes the first term sum to 0.8. The first
/// term says how much key j can change the exact rows. Rows beyond the last of `counts` do not count. The importance is
/// uniform if all values are equal.
template <typename T>
arma::Col<T> key_importance(const KrigedInput<T>& input, const ExactRows<T>& rows, const arma::Col<T>& counts);

}  // namespace croquis
