#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/kernel/gaussian_adjoint.hpp>
#include <croquis/kernel/gaussian_exponents.hpp>
#include <croquis/kernel/streamed_adjoint.hpp>
#include <croquis/linalg/products.hpp>
#include <utility>

namespace croquis {
namespace {

// The centred points, and a column of ones, which brings the sums of rows along.
template <typename T>
arma::Mat<T> points_and_ones(const CentredPoints<T>& points) {
  arma::Mat<T> rows(points.x.n_rows, points.x.n_cols + 1, arma::fill::none);
  rows.head_cols(points.x.n_cols) = points.scale * points.x;
  if (points.centre) rows.head_cols(points.x.n_cols).each_row() -= *points.centre;
  rows.tail_cols(1).ones();
  return rows;
}

// scale (D Y - (D 1) o x) from the products D [Y 1] and the points [X 1].
template <typename T>
arma::Mat<T> towards(const arma::Mat<T>& products, const arma::Mat<T>& points, T scale) {
  const arma::uword p = points.n_cols - 1;
  const arma::Col<T> sums = products.col(p);
  arma::Mat<T> result = products.head_cols(p);
  for (arma::uword c = 0; c < p; ++c) result.col(c) = scale * (result.col(c) - sums % points.col(c));
  return result;
}

}  // namespace

template <typename T>
GaussianAdjoint<T> gaussian_adjoint(const CentredPoints<T>& x, const CentredPoints<T>& y, const arma::Mat<T>& z,
                                    const arma::Mat<T>& cotangent) {
  require_one_space(x, y);
  const SerialBlas serial;
  const arma::Mat<T> left = points_and_ones(x), right = points_and_ones(y);
  const arma::Col<T> zeros(x.x.n_rows, arma::fill::zeros);
  StreamedAdjoint<T> d =
      streamed_adjoint<T>(GaussianExponents<T>{x, y, x.centre_norm()}, {z, cotangent, zeros, zeros, left, right});
  return {towards(d.left, left, x.scale), towards(d.right, right, y.scale), std::move(d.x)};
}

template <typename T>
arma::Mat<T> gaussian_kernel_adjoint(const CentredPoints<T>& x, const arma::Mat<T>& kernel,
                                     const arma::Mat<T>& cotangent) {
  require(kernel.is_square() && kernel.n_rows == x.x.n_rows && arma::size(kernel) == arma::size(cotangent),
          "gaussian_kernel_adjoint", "a kernel matrix of the points, and its cotangent",
          {{"points", x.x.n_rows}, {"kernel.rows", kernel.n_rows}, {"cotangent.rows", cotangent.n_rows}});
  const SerialBlas serial;
  const arma::Mat<T> points = points_and_ones(x), d = kernel % (cotangent + cotangent.t());
  return towards(product(d, points), points, x.scale);
}

template GaussianAdjoint<float> gaussian_adjoint(const CentredPoints<float>&, const CentredPoints<float>&,
                                                 const arma::Mat<float>&, const arma::Mat<float>&);
template GaussianAdjoint<double> gaussian_adjoint(const CentredPoints<double>&, const CentredPoints<double>&,
                                                  const arma::Mat<double>&, const arma::Mat<double>&);
template arma::Mat<float> gaussian_kernel_adjoint(const CentredPoints<float>&, const arma::Mat<float>&,
                                                  const arma::Mat<float>&);
template arma::Mat<double> gaussian_kernel_adjoint(const CentredPoints<double>&, const arma::Mat<double>&,
                                                   const arma::Mat<double>&);

}  // namespace croquis
