#include <algorithm>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/kernel/streamed_product.hpp>
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

template <typename T>
void require_one_dimension(const arma::Mat<T>& x, const arma::Mat<T>& y) {
  require(x.n_cols == y.n_cols, "gaussian_kernel", "points of one dimension",
          {{"x.cols", x.n_cols}, {"y.cols", y.n_cols}});
}

template <typename T>
struct GaussianExponents {
  const arma::Mat<T>&x, &y;

  arma::uword rows() const { return x.n_rows; }
  arma::uword cols() const { return y.n_rows; }
  bool normalised() const { return false; }
  bool is_nothing(arma::uword, arma::uword) const { return false; }
  void fill(arma::uword j0, arma::uword i0, arma::Mat<T>& block) const {
    thread_local arma::Col<T> hx, hy;
    hx.set_size(block.n_cols);
    hy.set_size(block.n_rows);
    half_squared_norms(x, i0, hx);
    half_squared_norms(y, j0, hy);
    product_nt_block(T(1), y, j0, x, i0, block);
    for (arma::uword i = 0; i < block.n_cols; ++i) {
      T* column = block.colptr(i);
      const T *h = hy.memptr(), height = hx[i];
      for (arma::uword j = 0; j < block.n_rows; ++j) column[j] = std::min(column[j] - h[j] - height, T(0));
    }
  }
};

}  // namespace

template <typename T>
arma::Mat<T> gaussian_kernel(const arma::Mat<T>& x, const arma::Mat<T>& y) {
  require_one_dimension(x, y);
  const arma::Col<T> hy = T(0.5) * squared_row_norms(y);
  arma::Mat<T> kernel(x.n_rows, y.n_rows, arma::fill::none);
  parallel_for((x.n_rows + kRowsPerBlock - 1) / kRowsPerBlock, [&](std::size_t b) {
    const arma::uword first = b * kRowsPerBlock, count = std::min(kRowsPerBlock, x.n_rows - first);
    auto& [block, hx] = Workspace<T>::of_thread();
    block.set_size(count, y.n_rows);
    hx.set_size(count);
    half_squared_norms(x, first, hx);
    product_nt_block(T(1), x, first, y, 0, block);
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

template <typename T>
arma::Mat<T> gaussian_product(const arma::Mat<T>& x, const arma::Mat<T>& y, const arma::Mat<T>& z, arma::Col<T>* last) {
  require_one_dimension(x, y);
  require(y.n_rows == z.n_rows, "gaussian_product", "a row of Z for every row of Y",
          {{"y.rows", y.n_rows}, {"z.rows", z.n_rows}});
  return streamed_product<T>(GaussianExponents<T>{x, y}, z, {.last = last});
}

template arma::Mat<float> gaussian_kernel(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Mat<double> gaussian_kernel(const arma::Mat<double>&, const arma::Mat<double>&);
template arma::Mat<float> gaussian_kernel(const arma::Mat<float>&);
template arma::Mat<double> gaussian_kernel(const arma::Mat<double>&);
template arma::Mat<float> gaussian_product(const arma::Mat<float>&, const arma::Mat<float>&, const arma::Mat<float>&,
                                           arma::Col<float>*);
template arma::Mat<double> gaussian_product(const arma::Mat<double>&, const arma::Mat<double>&,
                                            const arma::Mat<double>&, arma::Col<double>*);

}  // namespace croquis
