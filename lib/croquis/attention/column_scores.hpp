// Score matrices of which some columns, and perhaps some rows, are known.
#pragma once

#include <croquis/linalg/linear_operator.hpp>
#include <croquis/random/key.hpp>

namespace croquis {

/// B~ (n_q x n_k) by columns J' and rows J. Row i is weights(k, i) on column columns(k), added up where a column is
/// repeated, and rest(i) on every column outside J'; rows in J are those of row_scores instead.
/// Shapes: weights d x n_q, rest 1 x n_q or empty (zero; needed where J' repeats a column), row_scores n_k x |J| or
/// empty.
template <typename T>
struct ColumnScores {
  arma::uword n_k = 0;   ///< keys, of which `columns` are some
  arma::uvec columns;    ///< J', d of them
  arma::Mat<T> weights;  ///< a query a column
  arma::Row<T> rest;
  arma::uvec rows;          ///< J; the same row twice is one row
  arma::Mat<T> row_scores;  ///< rows J of B, transposed
};

/// X -> B~ X and X -> B~^T X. Cost: 2 (n_q d + n_k |J|) flops a column of X.
template <typename T>
LinearOperator<T> as_operator(ColumnScores<T> scores);

/// B S S^T with S of Def. 3.1 (Skeinformer): d independent columns with probabilities p_i ~ weights(i), entry (k, i) of
/// the result's weights b_ij / (d p_j), j = columns(k); B = softmax(Q K^T / sqrt(p)) by the log of its row sums.
/// Guarantees: E = B on the columns with p_i > 0. When all weights are 0 the columns are uniform.
/// Randomness: sample_weighted of the random key. Cost: 2 n_q d p flops, n_q d exponentials.
template <typename T>
ColumnScores<T> importance_columns(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Col<T>& log_row_sums,
                                   arma::Col<T> weights, arma::uword d, const Key& draw_key);

/// Scores S (d x n_q, a query a column) to exp(S - log_row_sums): entries of B.
template <typename T>
void exponentiate(arma::Mat<T>& scores, const arma::Col<T>& log_row_sums);

}  // namespace croquis
