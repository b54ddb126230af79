#include <algorithm>
#include <cmath>
#include <croquis/core/choices.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/point_kernels.hpp>
#include <croquis/linalg/row_math.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <memory>
#include <utility>

namespace croquis {
namespace {

constexpr double kFar = 1e4;  // its exponential is 0

void add_absolute_differences(const arma::mat& x, const double* y, double* sum) {
  for (arma::uword c = 0; c < x.n_cols; ++c) {
    const double* column = x.colptr(c);
    for (arma::uword i = 0; i < x.n_rows; ++i) sum[i] += std::abs(column[i] - y[c]);
  }
}

// sum[i] <- the kernel, from the squared distance (laplace: the distance) of the points.
void to_kernel(arma::vec& sum, PointKernel kernel, double bandwidth) {
  const double rate = kernel == PointKernel::matern32 ? std::sqrt(3.0) : std::sqrt(5.0);
  for (double& s : sum) {
    const double distance = kernel == PointKernel::laplace ? s / bandwidth : rate * (std::sqrt(s) / bandwidth);
    s = -std::min(distance, kFar);
  }
  if (kernel == PointKernel::laplace) {
    exp_shifted(sum.memptr(), sum.n_elem, 0.0);
    return;
  }
  arma::vec factor = 1 - sum;
  if (kernel == PointKernel::matern52) factor += arma::square(sum) / 3;
  exp_shifted(sum.memptr(), sum.n_elem, 0.0);
  sum %= factor;
  sum.clamp(0.0, 1.0);
}

arma::mat kernel_block(const arma::mat& x, const arma::mat& y_transposed, PointKernel kernel, double bandwidth) {
  arma::mat block(x.n_rows, y_transposed.n_cols, arma::fill::zeros);
  parallel_for(block.n_cols, 4 * x.n_elem, [&](std::size_t j) {
    arma::vec column(block.colptr(j), block.n_rows, false, true);
    if (kernel == PointKernel::laplace) {
      add_absolute_differences(x, y_transposed.colptr(j), column.memptr());
    } else {
      squared_distances(x.memptr(), x.n_rows, x.n_cols, y_transposed.colptr(j), column.memptr());
    }
    to_kernel(column, kernel, bandwidth);
  });
  return block;
}

}  // namespace

const std::vector<std::string>& point_kernel_names() {
  static const std::vector<std::string> names = {"gaussian", "laplace", "matern32",
                                                 "matern52"};  // in the order of the enum
  return names;
}

PointKernel point_kernel(const std::string& name) {
  return static_cast<PointKernel>(index_of_name(name, point_kernel_names(), "kernel", "kernel"));
}

KernelMatrix<double> point_kernel_matrix(arma::mat x, PointKernel kernel, double bandwidth) {
  require(!x.is_empty() && x.is_finite(), "point_kernel_matrix", "at least one point, all finite",
          {{"rows", x.n_rows}, {"cols", x.n_cols}});
  require(bandwidth >= kSmallestBandwidth && bandwidth <= kLargestBandwidth, "point_kernel_matrix",
          "a bandwidth from 1e-100 to 1e100", {{"bandwidth", bandwidth}});
  if (kernel == PointKernel::gaussian) return gaussian_kernel_matrix(std::move(x), 1 / bandwidth);
  const auto points = std::make_shared<const arma::mat>(std::move(x));
  const auto block = [=](const arma::uvec& rows, const arma::uvec& cols) -> arma::mat {
    const SerialBlas serial;
    return kernel_block(points->rows(rows), arma::mat(points->rows(cols)).t(), kernel, bandwidth);
  };
  // The relative error of a distance is that of a sum of p terms, and s exp(-s) is below 1/2.
  const double entry_error = 1 + static_cast<double>(points->n_cols) / 2;
  return {points->n_rows, arma::vec(points->n_rows, arma::fill::ones), block, [=] { return entry_error; }};
}

}  // namespace croquis
