// Score matrices of which some columns, and possibly some rows, are stored.
#pragma once

#include <croquis/kernel/row_sums.hpp>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/random/key.hpp>

namespace croquis {

/// B~ (n_q x n_k), given by columns J' and rows J. Entry (i, columns(k)) is weights(k, i); if a column occurs several
/// times, its weights add up. Every column outside J' has the entry rest(i) in row i. The rows in J are those of
/// row_scores instead.
/// Shapes: weights d x n_q; rest 1 x n_q, or empty for zero (required if a column of J' occurs several times);
///   row_scores n_k x |J|, or empty.
template <typename T>
struct ColumnScores {
  arma::uword n_k = 0;   ///< number of keys
  arma::uvec columns;    ///< J', d indices of keys
  arma::Mat<T> weights;  ///< one column for each query
  arma::Row<T> rest;
  arma::uvec rows;          ///< J; repetitions are allowed and change nothing
  arma::Mat<T> row_scores;  ///< rows J of B, transposed
};

/// X -> B~ X and X -> B~^T X.
/// Cost: 2 (n_q d + n_k |J|) flops for each column of X.
/// Throws: std::invalid_argument unless the sizes agree, those of an X too.
template <typename T>
LinearOperator<T> as_operator(ColumnScores<T> scores);

/// B S S^T with the S of Skeinformer Def. 3.1, for B = softmax(Q K^T / sqrt(p)), whose row sums are given: d
/// independent columns, column j with probability p_j proportional to weights(j). Entry (k, i) of the result's weights
/// is b_ij / (d p_j) with j = columns(k). If all weights are 0, the columns are uniform.
/// Guarantees: the mean of the matrix is B on the columns with p_j > 0, and 0 on the others.
/// Randomness: the columns are sample_weighted on draw_key.
/// Cost: 2 n_q d p flops, n_q d exponentials.
/// Throws: std::invalid_argument unless there is a weight for each key and a row sum for each query.
template <typename T>
ColumnScores<T> importance_columns(const arma::Mat<T>& q, const arma::Mat<T>& k, const RowSums<T>& row_sums,
                                   arma::Col<T> weights, arma::uword d, const Key& draw_key);

/// Replaces the scores S (d x n_q, one column for each query) by the entries of B, exp(s_ki) over the sum of row i, at
/// most 1 each, also where rounding says otherwise.
template <typename T>
void exponentiate(arma::Mat<T>& scores, const RowSums<T>& row_sums);

}  // namespace croquis
