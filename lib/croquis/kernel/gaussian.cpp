#include <algorithm>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/kernel/streamed_product.hpp>
#include <croquis/linalg/gemm.hpp>
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

// Some rows of moved points, without gaps, and ||.||^2 / 2 of them.
template <typename T>
struct PointBlock {
  arma::Mat<T> moved;  // with a column more
  arma::Col<T> heights;

  void take(const MovedPoints<T>& points, arma::uword top, arma::uword count) {
    const arma::Mat<T>& x = points.x;
    moved.set_size(count, x.n_cols + 1);
    heights.zeros(count);
    T* height = heights.memptr();
    for (arma::uword c = 0; c < x.n_cols; ++c) {
      const T *from = x.colptr(c) + top, shift = points.centre ? (*points.centre)[c] : T(0);
      T* to = moved.colptr(c);
      for (arma::uword i = 0; i < count; ++i) {
        to[i] = points.scale * from[i] - shift;
        height[i] += to[i] * to[i];
      }
    }
    heights *= T(0.5);
  }
};

// x_i.y_j - ||y_j||^2 / 2 is one product, with a coordinate more: 1 in x and the rest in y. ||x_i||^2 / 2 is the shift.
template <typename T>
struct GaussianExponents {
  const MovedPoints<T>&x, &y;

  arma::uword rows() const { return x.x.n_rows; }
  arma::uword cols() const { return y.x.n_rows; }
  RowScale row_scale() const { return RowScale::none; }
  void shift(arma::uword i0, arma::Col<T>& h) const {
    thread_local PointBlock<T> block;
    block.take(x, i0, h.n_elem);
    h = block.heights;
  }
  void take_columns(arma::uword j0, arma::uword count) const {
    PointBlock<T>& block = columns_of_thread();
    block.take(y, j0, count);
    block.moved.col(block.moved.n_cols - 1) = -block.heights;
  }
  void fill(arma::uword i0, arma::uword, arma::Mat<T>& block) const {
    thread_local PointBlock<T> points;
    points.take(x, i0, block.n_rows);
    points.moved.col(points.moved.n_cols - 1).ones();
    narrow_gemm(CblasTrans, block.n_rows, block.n_cols, points.moved.n_cols, T(1), points.moved.memptr(),
                columns_of_thread().moved.memptr(), block.n_cols, T(0), block.memptr(), block.n_rows);
  }

 private:
  static PointBlock<T>& columns_of_thread() {
    thread_local PointBlock<T> block;
    return block;
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
