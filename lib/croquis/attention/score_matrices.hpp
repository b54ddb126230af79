// The score matrices A, B and C themselves, stored or as operators: what spectra are taken of. On a causal problem
// they are causal.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/linalg/linear_operator.hpp>

namespace croquis {

enum class ScoreMatrix {
  raw,         ///< A / max a_ij: A itself overflows from scores of 709 on, and the scale is nothing to its spectrum
  softmax,     ///< B
  kernelized,  ///< C
};

/// A score matrix by its products.
struct ScoreOperator {
  LinearOperator<double> matrix;
  double log_scale = 0;  ///< log max a_ij for raw: A is e^log_scale times the matrix. 0 for the others
  double frobenius = 0;  ///< ||.||_F, exact: squared entries are the scores of sqrt(2) Q and sqrt(2) K, whose row sums
                         ///< attention has anyway
};

/// max q_i.k_j / sqrt(p) over the keys that query i attends to. Cost: 2 n^2 p flops, blocks of 256 queries.
double largest_log_score(const Problem<double>& problem);

/// Cost: that of exact attention three times; then a product that of exact attention.
ScoreOperator score_operator(const Problem<double>& problem, ScoreMatrix which);

/// The matrix stored, n_q x n_k. Entries under a causal mask are 0.
arma::mat score_matrix(const Problem<double>& problem, ScoreMatrix which);

/// B^T stored, n_k x n_q: the scores of a query are a contiguous column.
template <typename T>
arma::Mat<T> transposed_softmax(const Problem<T>& problem);

}  // namespace croquis
