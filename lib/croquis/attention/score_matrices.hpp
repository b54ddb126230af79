// The score matrices A, B and C, stored or as operators, for spectra. On a causal problem they are causal.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/linalg/linear_operator.hpp>

namespace croquis {

enum class ScoreMatrix {
  raw,         ///< A / max a_ij: A itself overflows from scores of 709 on, and scaling keeps ratios of singular values
  softmax,     ///< B
  kernelized,  ///< C
};

/// A score matrix by its products.
struct ScoreOperator {
  LinearOperator<double> matrix;
  double log_scale = 0;  ///< log max a_ij for raw: A is e^log_scale times the matrix. 0 for the others
  double frobenius = 0;  ///< ||.||_F, exact: squared entries are scores of 2 Q and K, for kernelized of sqrt(2) Q and
                         ///< sqrt(2) K, whose sums exact attention computes; or from C itself where squares underflow
};

/// The maximum of q_i.k_j / sqrt(p) over all queries i and the keys j that they attend to.
/// Cost: 2 n_q n_k p flops and n_q n_k exponentials.
double largest_log_score(const Problem<double>& problem);

/// The score matrix as an operator.
/// Cost: 2 n_q n_k p flops and n_q n_k exponentials for kernelized, twice that for the others and where squares
///   underflow; then each product costs as much as with exact_scores().
ScoreOperator score_operator(const Problem<double>& problem, ScoreMatrix which);

/// The matrix stored, n_q x n_k. Entries under a causal mask are 0. Throws std::invalid_argument unless there is memory
/// for two such matrices.
arma::mat score_matrix(const Problem<double>& problem, ScoreMatrix which);

/// B^T stored, n_k x n_q: the scores of a query are a contiguous column. Throws std::invalid_argument unless there is
/// memory for it.
template <typename T>
arma::Mat<T> transposed_softmax(const Problem<T>& problem);

}  // namespace croquis
