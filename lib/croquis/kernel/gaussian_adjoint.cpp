#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/kernel/gaussian_adjoint.hpp>
#include <croquis/kernel/gaussian_exponents.hpp>
#include <croquis/kernel/point_differences.hpp>
#include <croquis/kernel/streamed_adjoint.hpp>
#include <croquis/linalg/products.hpp>
#include <utility>

namespace croquis {

template <typename T>
GaussianAdjoint<T> gaussian_adjoint(const CentredPoints<T>& x, const CentredPoints<T>& y, const arma::Mat<T>& z,
                                    const arma::Mat<T>& cotangent) {
  require_one_space(x, y);
  const SerialBlas serial;
  const arma::Row<T> middle = middle_of(x.x, y.x);
  const arma::Mat<T> left = points_and_ones(x.x, middle, x.scale), right = points_and_ones(y.x, middle, y.scale);
  const arma::Col<T> zeros(x.x.n_rows, arma::fill::zeros);
  StreamedAdjoint<T> d = streamed_adjoint<T>(GaussianExponents<T>{x, y, x.centre_norm()},
                                             {z, cotangent, no_row_sums<T>(x.x.n_rows), zeros, left, right});
  return {towards(d.left, left, x.scale), towards(d.right, right, y.scale), std::move(d.x)};
}

template <typename T>
arma::Mat<T> gaussian_kernel_adjoint(const CentredPoints<T>& x, const arma::Mat<T>& kernel,
                                     const arma::Mat<T>& cotangent) {
  require(kernel.is_square() && kernel.n_rows == x.x.n_rows && arma::size(kernel) == arma::size(cotangent),
          "gaussian_kernel_adjoint", "a kernel matrix of the points, and its cotangent",
          {{"points", x.x.n_rows}, {"kernel.rows", kernel.n_rows}, {"cotangent.rows", cotangent.n_rows}});
  const SerialBlas serial;
  const arma::Mat<T> points = points_and_ones(x.x, middle_of(x.x, x.x), x.scale),
                     d = kernel % (cotangent + cotangent.t());
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
