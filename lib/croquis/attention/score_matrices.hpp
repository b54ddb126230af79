// The score matrices A, B and C themselves, stored or as operators: what spectra are taken of.
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

/// max q_i.k_j / sqrt(p). Cost: 2 n^2 p flops, blocks of 256 queries.
double largest_log_score(const Problem<double>& problem);

/// Cost: that of exact attention three times; then a product that of exact attention.
ScoreOperator score_operator(const Problem<double>& problem, ScoreMatrix which);

/// The matrix stored, n x n.
arma::mat score_matrix(const Problem<double>& problem, ScoreMatrix which);

}  // namespace croquis
