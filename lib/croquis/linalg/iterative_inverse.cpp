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
  // c I - M takes no pass of its own: products come with their sign, and the diagonal is all that c I adds.
  arma::Mat<T> nz, inner;
  const auto look = [&] {
    nz = product(n, result.inverse);
    inner = -nz;
    inner.diag() += T(1);
    result.residual = frobenius_norm<T>(inner);
  };
  look();
  while (result.iterations < options.iterations && result.residual > options.tolerance) {
    inner.diag() += T(6);  // 7 I - N Z
    inner = product(nz, inner, T(-1));
    inner.diag() += T(15);
    inner = product(nz, inner, T(-1));
    inner.diag() += T(13);
    result.inverse = product(result.inverse, inner, T(0.25));
    look();
    ++result.iterations;
    if (!result.inverse.is_finite())
      throw std::runtime_error("iterative_inverse: diverged; the start does not suit the matrix");
  }
  return result;
}

template IterativeInverse<float> iterative_inverse(const arma::Mat<float>&, const InverseIteration&);
template IterativeInverse<double> iterative_inverse(const arma::Mat<double>&, const InverseIteration&);

}  // namespace croquis
