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

// Some rows of moved points without gaps, with two coordinates more. x_i.y_j - ||x_i||^2 / 2 - ||y_j||^2 / 2 is one
// product: of (x, 1, -||x||^2 / 2) and (y, -||y||^2 / 2, 1).
template <typename T>
void take(const MovedPoints<T>& points, arma::uword top, arma::uword count, bool is_left, arma::Mat<T>& block) {
  const arma::Mat<T>& x = points.x;
  const arma::uword p = x.n_cols;
  block.set_size(count, p + 2);
  T *height = block.colptr(is_left ? p + 1 : p), *one = block.colptr(is_left ? p : p + 1);
  std::fill_n(height, count, T(0));
  std::fill_n(one, count, T(1));
  for (arma::uword c = 0; c < p; ++c) {
    const T *from = x.colptr(c) + top, shift = points.centre ? (*points.centre)[c] : T(0);
    T* to = block.colptr(c);
    for (arma::uword i = 0; i < count; ++i) {
      to[i] = points.scale * from[i] - shift;
      height[i] -= to[i] * to[i];
    }
  }
  for (arma::uword i = 0; i < count; ++i) height[i] *= T(0.5);
}

template <typename T>
struct GaussianExponents {
  const MovedPoints<T>&x, &y;

  arma::uword rows() const { return x.x.n_rows; }
  arma::uword cols() const { return y.x.n_rows; }
  RowScale row_scale() const { return RowScale::none; }
  void take_columns(arma::uword j0, arma::uword count) const { take(y, j0, count, false, columns_of_thread()); }
  void fill(arma::uword i0, arma::uword, arma::Mat<T>& block) const {
    thread_local arma::Mat<T> rows;
    take(x, i0, block.n_rows, true, rows);
    product_nt_block(T(1), rows, 0, columns_of_thread(), 0, block);
  }

 private:
  static arma::Mat<T>& columns_of_thread() {
    thread_local arma::Mat<T> columns;
    return columns;
  }
};

}  // namespace

template <typename T>
arma::Mat<T> gaussian_kernel(const arma::Mat<T>& x, const arma::Mat<T>& y) {
  require_one_dimension(x, y);
  const arma::Col<T> hy = T(0.5) * squared_row_norms(y);
  arma::Mat<T> kernel(x.n_rows, y.n_rows, arma::fill::none);
  parallel_for(blocks_of(x.n_rows, kRowsPerBlock), [&](std::size_t b) {
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
arma::Mat<T> gaussian_product(const MovedPoints<T>& x, const MovedPoints<T>& y, const arma::Mat<T>& z,
                              const StreamedExtra<T>& extra) {
  require_one_dimension(x.x, y.x);
  require(y.x.n_rows == z.n_rows, "gaussian_product", "a row of Z for every row of Y",
          {{"y.rows", y.x.n_rows}, {"z.rows", z.n_rows}});
  return streamed_product<T>(GaussianExponents<T>{x, y}, z, extra);
}

template arma::Mat<float> gaussian_kernel(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Mat<double> gaussian_kernel(const arma::Mat<double>&, const arma::Mat<double>&);
template arma::Mat<float> gaussian_kernel(const arma::Mat<float>&);
template arma::Mat<double> gaussian_kernel(const arma::Mat<double>&);
template arma::Mat<float> gaussian_product(const MovedPoints<float>&, const MovedPoints<float>&,
                                           const arma::Mat<float>&, const StreamedExtra<float>&);
template arma::Mat<double> gaussian_product(const MovedPoints<double>&, const MovedPoints<double>&,
                                            const arma::Mat<double>&, const StreamedExtra<double>&);

}  // namespace croquis
