#include <algorithm>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/vector_math.hpp>

namespace croquis {
namespace {

constexpr arma::uword kRowsPerBlock = 256;

// ||x_i||^2 / 2 of rows first ..., which the product has next.
template <typename T>
void half_squared_norms(const arma::Mat<T>& x, arma::uword first, arma::Col<T>& h) {
  h.zeros();
  for (arma::uword c = 0; c < x.n_cols; ++c) {
    const T* column = x.colptr(c) + first;
    for (arma::uword i = 0; i < h.n_elem; ++i) h[i] += column[i] * column[i];
  }
  h *= T(0.5);
}

// What a block is computed in, kept by the thread: fresh memory for every block would cost more than its exponentials.
template <typename T>
struct Workspace {
  arma::Mat<T> products;
  arma::Col<T> heights;

  static Workspace& of_thread() {
    thread_local Workspace workspace;
    return workspace;
  }
};

}  // namespace

template <typename T>
arma::Mat<T> gaussian_kernel(const arma::Mat<T>& x, const arma::Mat<T>& y) {
  require(x.n_cols == y.n_cols, "gaussian_kernel", "points of one dimension",
          {{"x.cols", x.n_cols}, {"y.cols", y.n_cols}});
  const arma::Col<T> hy = T(0.5) * squared_row_norms(y);
  arma::Mat<T> kernel(x.n_rows, y.n_rows, arma::fill::none);
  parallel_for((x.n_rows + kRowsPerBlock - 1) / kRowsPerBlock, [&](std::size_t b) {
    const arma::uword first = b * kRowsPerBlock, count = std::min(kRowsPerBlock, x.n_rows - first);
    auto& [block, hx] = Workspace<T>::of_thread();
    block.set_size(count, y.n_rows);
    hx.set_size(count);
    half_squared_norms(x, first, hx);
    product_nt_rows(x, y, first, block);
    for (arma::uword j = 0; j < y.n_rows; ++j) {
      const T *from = block.colptr(j), *h = hx.memptr();
      const T height = hy.at(j);
      T* to = kernel.colptr(j) + first;
      for (arma::uword i = 0; i < count; ++i) to[i] = std::min(from[i] - h[i] - height, T(0));
      exp_shifted(to, count, T(0));
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
