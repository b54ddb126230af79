#include <algorithm>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/kernel/gaussian_exponents.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/vector_math.hpp>

namespace croquis {
namespace {

constexpr arma::uword kRowsPerBlock = 256;

// Rows first ... of the centred points.
template <typename T>
void get_centred(const CentredPoints<T>& points, arma::uword first, arma::uword count, arma::Mat<T>& to) {
  to.set_size(count, points.x.n_cols);
  for (arma::uword c = 0; c < to.n_cols; ++c) {
    const T *from = points.x.colptr(c) + first, shift = points.centre ? (*points.centre)[c] : T(0);
    T* column = to.colptr(c);
    for (arma::uword i = 0; i < count; ++i) column[i] = points.scale * from[i] - shift;
  }
}

// ||x_i||^2 / 2 of every row.
template <typename T>
void half_squared_norms(const arma::Mat<T>& x, arma::Col<T>& h) {
  h.zeros(x.n_rows);
  for (arma::uword c = 0; c < x.n_cols; ++c) {
    const T* column = x.colptr(c);
    for (arma::uword i = 0; i < h.n_elem; ++i) h[i] += column[i] * column[i];
  }
  h *= T(0.5);
}

// Memory for one block, which each thread keeps, because new memory for every block would cost more than its
// exponentials.
template <typename T>
struct Workspace {
  arma::Mat<T> points, products;
  arma::Col<T> half_norms;

  static Workspace& of_thread() {
    thread_local Workspace workspace;
    return workspace;
  }
};

}  // namespace

template <typename T>
T largest_squared_norm(const CentredPoints<T>& points) {
  const arma::Mat<T>& x = points.x;
  arma::Col<T> largest(blocks_of(x.n_rows, kRowsPerBlock), arma::fill::zeros);
  parallel_for(largest.n_elem, 4 * kRowsPerBlock * x.n_cols, [&](std::size_t b) {
    const arma::uword first = b * kRowsPerBlock, count = std::min(kRowsPerBlock, x.n_rows - first);
    T norms[kRowsPerBlock] = {};
    for (arma::uword c = 0; c < x.n_cols; ++c) {
      const T *from = x.colptr(c) + first, shift = points.centre ? (*points.centre)[c] : T(0);
      for (arma::uword i = 0; i < count; ++i) {
        const T entry = points.scale * from[i] - shift;
        norms[i] += entry * entry;
      }
    }
    largest[b] = *std::max_element(norms, norms + count);
  });
  return largest.is_empty() ? T(0) : largest.max();
}

template <typename T>
arma::Mat<T> gaussian_kernel(const CentredPoints<T>& x, const CentredPoints<T>& y) {
  require_one_space(x, y);
  const arma::uword rows = x.x.n_rows, cols = y.x.n_rows;
  arma::Mat<T> points_y;
  arma::Col<T> hy;
  get_centred(y, 0, cols, points_y);
  half_squared_norms(points_y, hy);
  const T centre_norm = x.centre_norm();
  const GivenRows<T> given_y{y.x, 0, cols, hy.memptr()};
  arma::Mat<T> kernel(rows, cols, arma::fill::none);
  parallel_for(blocks_of(rows, kRowsPerBlock), [&](std::size_t b) {
    const arma::uword first = b * kRowsPerBlock, count = std::min(kRowsPerBlock, rows - first);
    auto& [points_x, block, hx] = Workspace<T>::of_thread();
    get_centred(x, first, count, points_x);
    half_squared_norms(points_x, hx);
    block.set_size(count, cols);
    product_nt_block(T(1), points_x, 0, points_y, 0, block);
    const GivenRows<T> given_x{x.x, first, count, hx.memptr()};
    const DirectExponents<T> direct(given_x, given_y, x.scale, centre_norm);
    for (arma::uword j = 0; j < cols; ++j) {
      const T *from = block.colptr(j), *h = hx.memptr();
      const T height = hy.at(j);
      T* to = kernel.colptr(j) + first;
      for (arma::uword i = 0; i < count; ++i) to[i] = std::min(from[i] - h[i] - height, T(0));
      if (direct.needed()) direct.correct(j, to);
      exp_shifted(to, count, T(0));
    }
  });
  return kernel;
}

template <typename T>
arma::Mat<T> gaussian_kernel(const CentredPoints<T>& x) {
  arma::Mat<T> kernel = arma::symmatu(gaussian_kernel(x, x));
  kernel.diag().ones();
  return kernel;
}

template <typename T>
arma::Mat<T> gaussian_product(const CentredPoints<T>& x, const CentredPoints<T>& y, const arma::Mat<T>& z,
                              const StreamedExtra<T>& extra) {
  require_one_space(x, y);
  require(y.x.n_rows == z.n_rows, "gaussian_product", "a row of Z for every row of Y",
          {{"y.rows", y.x.n_rows}, {"z.rows", z.n_rows}});
  return streamed_product<T>(GaussianExponents<T>{x, y, x.centre_norm()}, z, extra);
}

template float largest_squared_norm(const CentredPoints<float>&);
template double largest_squared_norm(const CentredPoints<double>&);
template arma::Mat<float> gaussian_kernel(const CentredPoints<float>&, const CentredPoints<float>&);
template arma::Mat<double> gaussian_kernel(const CentredPoints<double>&, const CentredPoints<double>&);
template arma::Mat<float> gaussian_kernel(const CentredPoints<float>&);
template arma::Mat<double> gaussian_kernel(const CentredPoints<double>&);
template arma::Mat<float> gaussian_product(const CentredPoints<float>&, const CentredPoints<float>&,
                                           const arma::Mat<float>&, const StreamedExtra<float>&);
template arma::Mat<double> gaussian_product(const CentredPoints<double>&, const CentredPoints<double>&,
                                            const arma::Mat<double>&, const StreamedExtra<double>&);

}  // namespace croquis
