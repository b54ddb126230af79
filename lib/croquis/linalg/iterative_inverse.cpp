#include <croquis/core/require.hpp>
#include <croquis/linalg/iterative_inverse.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/products.hpp>
#include <stdexcept>

namespace croquis {
namespace {

template <typename T>
arma::Mat<T> start_of(const arma::Mat<T>& n, InverseStart start) {
  if (start == InverseStart::identity) return arma::Mat<T>(n.n_rows, n.n_rows, arma::fill::eye);
  T scale = arma::norm(n, 1);
  if (start == InverseStart::transpose_both) scale *= arma::norm(n, "inf");
  if (scale == 0) throw std::runtime_error("iterative_inverse: the matrix is zero");
  return n.t() / scale;
}

}  // namespace

template <typename T>
IterativeInverse<T> iterative_inverse(const arma::Mat<T>& n, const InverseIteration& options) {
  require(n.n_rows == n.n_cols && n.n_rows > 0, "iterative_inverse", "a square matrix",
          {{"rows", n.n_rows}, {"cols", n.n_cols}});
  require(options.iterations >= 0 && options.tolerance >= 0, "iterative_inverse", "iterations >= 0, tolerance >= 0",
          {{"iterations", options.iterations}, {"tolerance", options.tolerance}});
  IterativeInverse<T> result{start_of(n, options.start), 0, 0};
  const arma::Mat<T> identity(n.n_rows, n.n_rows, arma::fill::eye);
  arma::Mat<T> nz = product(n, result.inverse);  // kept for the step and for the residual
  result.residual = frobenius_norm<T>(identity - nz);
  while (result.iterations < options.iterations && result.residual > options.tolerance) {
    arma::Mat<T> inner = 7 * identity - nz;
    inner = 15 * identity - product(nz, inner);
    inner = 13 * identity - product(nz, inner);
    result.inverse = T(0.25) * product(result.inverse, inner);
    nz = product(n, result.inverse);
    result.residual = frobenius_norm<T>(identity - nz);
    ++result.iterations;
    if (!result.inverse.is_finite())
      throw std::runtime_error("iterative_inverse: diverged; the start does not suit the matrix");
  }
  return result;
}

template IterativeInverse<float> iterative_inverse(const arma::Mat<float>&, const InverseIteration&);
template IterativeInverse<double> iterative_inverse(const arma::Mat<double>&, const InverseIteration&);

}  // namespace croquis
