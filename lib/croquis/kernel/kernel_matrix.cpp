#include <cmath>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/kernel/kernel_matrix.hpp>
#include <memory>
#include <utility>

namespace croquis {

template <typename T>
arma::Mat<T> KernelMatrix<T>::columns(const arma::uvec& cols) const {
  const SerialBlas serial;
  const arma::uword largest = cols.is_empty() ? 0 : cols.max();
  require(cols.is_empty() || largest < n, "KernelMatrix::columns", "columns below n", {{"column", largest}, {"n", n}});
  return block(arma::regspace<arma::uvec>(0, n - 1), cols);
}

template <typename T>
arma::Mat<T> KernelMatrix<T>::dense() const {
  const SerialBlas serial;
  require_memory(2.0 * sizeof(T) * static_cast<double>(n) * static_cast<double>(n), "KernelMatrix::dense", {{"n", n}});
  const arma::uvec all = arma::regspace<arma::uvec>(0, n - 1);
  arma::Mat<T> matrix = arma::symmatu(block(all, all));
  matrix.diag() = diagonal;
  return matrix;
}

template <typename T>
KernelMatrix<T> gaussian_kernel_matrix(arma::Mat<T> x, T scale) {
  require(!x.is_empty(), "gaussian_kernel_matrix", "at least one point", {{"rows", x.n_rows}, {"cols", x.n_cols}});
  require(x.is_finite() && std::isfinite(scale), "gaussian_kernel_matrix", "finite points and a finite scale",
          {{"scale", scale}});
  // The kernel is invariant to translation, its rounding error is not.
  const auto centre = std::make_shared<const arma::Row<T>>(scale * arma::mean(x, 0));
  const auto points = std::make_shared<const arma::Mat<T>>(std::move(x));
  return {points->n_rows, arma::Col<T>(points->n_rows, arma::fill::ones),
          [points, centre, scale](const arma::uvec& rows, const arma::uvec& cols) -> arma::Mat<T> {
            const arma::Mat<T> left = points->rows(rows), right = points->rows(cols);
            return gaussian_kernel<T>({left, scale, centre.get()}, {right, scale, centre.get()});
          },
          [points, centre, scale] {
            return gaussian_entry_error(largest_squared_norm<T>({*points, scale, centre.get()}));
          }};
}

template <typename T>
KernelMatrix<T> stored_kernel_matrix(arma::Mat<T> matrix) {
  require(matrix.n_rows == matrix.n_cols && !matrix.is_empty(), "stored_kernel_matrix", "a square matrix",
          {{"rows", matrix.n_rows}, {"cols", matrix.n_cols}});
  const arma::Col<T> diagonal = matrix.diag();
  require(diagonal.is_finite() && diagonal.min() >= 0, "stored_kernel_matrix", "a finite, non-negative diagonal",
          {{"smallest", diagonal.min()}});
  const auto stored = std::make_shared<const arma::Mat<T>>(std::move(matrix));
  return {stored->n_rows, diagonal,
          [stored](const arma::uvec& rows, const arma::uvec& cols) -> arma::Mat<T> { return (*stored)(rows, cols); },
          [] { return T(1); }};
}

template struct KernelMatrix<float>;
template struct KernelMatrix<double>;
template KernelMatrix<float> gaussian_kernel_matrix(arma::Mat<float>, float);
template KernelMatrix<double> gaussian_kernel_matrix(arma::Mat<double>, double);
template KernelMatrix<float> stored_kernel_matrix(arma::Mat<float>);
template KernelMatrix<double> stored_kernel_matrix(arma::Mat<double>);

}  // namespace croquis
