#include <algorithm>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/linalg/vector_math.hpp>

namespace croquis {
namespace {

constexpr arma::uword kColumnsPerBlock = 16;

template <typename T>
arma::Col<T> half_squared_norms(const arma::Mat<T>& x) {
  return T(0.5) * arma::sum(arma::square(x), 1);
}

}  // namespace

template <typename T>
arma::Mat<T> gaussian_kernel(const arma::Mat<T>& x, const arma::Mat<T>& y) {
  require(x.n_cols == y.n_cols, "gaussian_kernel", "points of one dimension",
          {{"x.cols", x.n_cols}, {"y.cols", y.n_cols}});
  const arma::Col<T> hx = half_squared_norms(x), hy = half_squared_norms(y);
  const arma::Mat<T> yt = y.t();
  arma::Mat<T> kernel(x.n_rows, y.n_rows);
  const arma::uword blocks = (y.n_rows + kColumnsPerBlock - 1) / kColumnsPerBlock;
  parallel_for(blocks, [&](std::size_t b) {
    const arma::uword first = b * kColumnsPerBlock, count = std::min(kColumnsPerBlock, y.n_rows - first);
    arma::Mat<T> block(kernel.colptr(first), x.n_rows, count, false, true);
    block = x * yt.cols(first, first + count - 1);
    for (arma::uword j = 0; j < count; ++j) {
      T* column = block.colptr(j);
      for (arma::uword i = 0; i < x.n_rows; ++i) column[i] = std::min(column[i] - hx(i) - hy(first + j), T(0));
      exp_shifted(column, x.n_rows, T(0));
    }
  });
  return kernel;
}

template <typename T>
arma::Mat<T> gaussian_kernel(const arma::Mat<T>& x) {
  arma::Mat<T> kernel = arma::symmatu(gaussian_kernel(x, x));
  kernel.diag().ones();
  return kernel;
}

template arma::Mat<float> gaussian_kernel(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Mat<double> gaussian_kernel(const arma::Mat<double>&, const arma::Mat<double>&);
template arma::Mat<float> gaussian_kernel(const arma::Mat<float>&);
template arma::Mat<double> gaussian_kernel(const arma::Mat<double>&);

}  // namespace croquis
