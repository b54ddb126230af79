// Positive semi-definite kernel matrices, given by their blocks.
#pragma once

#include <armadillo>
#include <functional>

namespace croquis {

/// A symmetric positive semi-definite n x n matrix M, given by its diagonal and by blocks of its entries. Cheap to
/// copy.
template <typename T>
struct KernelMatrix {
  arma::uword n = 0;
  arma::Col<T> diagonal;
  /// M(rows, cols). Indices may occur more than once in both lists.
  std::function<arma::Mat<T>(const arma::uvec& rows, const arma::uvec& cols)> block;
  /// An estimate of the error of an entry relative to the diagonal, in units of u (gaussian_entry_error). Computing it
  /// may take a pass over the points.
  std::function<T()> entry_error = [] { return T(0); };

  /// All of M, n x n numbers. Throws std::invalid_argument unless there is memory for two such matrices.
  arma::Mat<T> dense() const;
  /// M(:, cols). Throws std::invalid_argument for a column that is not there.
  arma::Mat<T> columns(const arma::uvec& cols) const;
};

/// kappa(scale x_i, scale x_j) for the points in the rows of X (n x p), which are first centred about their mean.
/// Throws: std::invalid_argument without points, and unless they and the scale are finite.
template <typename T>
KernelMatrix<T> gaussian_kernel_matrix(arma::Mat<T> x, T scale = T(1));

/// A stored matrix. Throws std::invalid_argument unless it is square with a finite, non-negative diagonal.
template <typename T>
KernelMatrix<T> stored_kernel_matrix(arma::Mat<T> matrix);

}  // namespace croquis
