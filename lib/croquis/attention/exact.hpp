// Exact attention, streamed: the reference for every error.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/kernel/row_sums.hpp>
#include <croquis/linalg/linear_operator.hpp>

namespace croquis {

template <typename T>
struct ExactAttention {
  arma::Mat<T> output;        ///< O, n_q x p_v (unpadded rows)
  arma::Col<T> log_row_sums;  ///< log of the row sums of A, or of C (kernelized); -inf where C underflows
  RowSums<T> row_sums = {};   ///< these row sums in the two parts that weights need
};

/// O = B V or C V, and the row sums. Targets with a bias add it to the log-scores. On a causal problem all targets are
/// causal, and blocks of keys to which no query of a block attends are skipped, up to a tile of 64 keys.
/// Guarantees: scores are computed in blocks of 64 queries and 512 keys. The softmax keeps a running maximum for each
///   row, so scores of any size are safe. The norm-wise relative error of a row is O((p max|q_i||k_j| / sqrt(p) + n_k)
///   u). The bits are the same for any number of threads.
/// Cost: 2 n_q n_k (p + p_v) flops and n_q n_k exponentials, half of that in a causal problem; memory O((n_q + n_k) (p
///   + p_v)) and 256 KiB (double) for each thread.
template <typename T>
ExactAttention<T> exact_attention(const Problem<T>& problem, Target target);

/// The same for some of the queries, against all keys: row r of the output is row rows(r) of O.
/// Cost: 2 r n_k (p + p_v) flops for r rows, and O((n_q + n_k) (p + p_v)) memory.
/// Throws: std::invalid_argument unless there is a row, and rows are strictly ascending and below n_q.
template <typename T>
ExactAttention<T> exact_attention_rows(const Problem<T>& problem, Target target, const arma::uvec& rows);

/// The score matrix B or C (n_q x n_k) of a target as an operator: X -> B X and X -> B^T X, each streamed at the cost
/// of exact attention. The first B^T X also computes the row sums, with 2 n_q n_k p flops and n_q n_k exponentials.
template <typename T>
LinearOperator<T> exact_scores(const Problem<T>& problem, Target target);

/// B^T X or C^T X (n_k x c for X (n_q x c)) for known row sums: those of `problem`, or of a problem with more keys
/// that include these. They are not used for the kernelized target.
/// Cost: that of exact attention.
/// Throws: std::invalid_argument unless X, and the row sums if they are used, have n_q rows.
template <typename T>
arma::Mat<T> exact_transposed_product(const Problem<T>& problem, Target target, const RowSums<T>& row_sums,
                                      const arma::Mat<T>& x);

}  // namespace croquis
