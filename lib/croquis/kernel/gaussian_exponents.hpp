// The exponents of the Gaussian kernel, by blocks.
#pragma once

#include <algorithm>
#include <armadillo>
#include <croquis/core/require.hpp>
#include <croquis/kernel/direct_exponents.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/kernel/streamed_product.hpp>
#include <croquis/linalg/products.hpp>

namespace croquis {

/// Throws std::invalid_argument unless both are points of one dimension, with one scale and one centre.
template <typename T>
void require_one_space(const CentredPoints<T>& x, const CentredPoints<T>& y) {
  require(x.x.n_cols == y.x.n_cols, "gaussian_kernel", "points of one dimension",
          {{"x.cols", x.x.n_cols}, {"y.cols", y.x.n_cols}});
  require(x.scale == y.scale && x.centre == y.centre, "gaussian_kernel", "points of one scale and one centre",
          {{"x.scale", x.scale}, {"y.scale", y.scale}});
  const arma::uword width = x.centre == nullptr ? x.x.n_cols : x.centre->n_elem;
  require(width == x.x.n_cols, "gaussian_kernel", "a centre as wide as the points",
          {{"centre", width}, {"x.cols", x.x.n_cols}});
}

/// Some rows of centred points without gaps, with two additional coordinates. x_i.y_j - ||x_i||^2 / 2 - ||y_j||^2 / 2
/// is then a single product of (x, 1, -||x||^2 / 2) and (y, -||y||^2 / 2, 1).
template <typename T>
struct AugmentedRows {
  arma::Mat<T> rows;
  arma::Col<T> half_norms;
  arma::uword first = 0;
};

template <typename T>
void get_augmented(const CentredPoints<T>& points, arma::uword top, arma::uword count, bool is_left,
                   AugmentedRows<T>& augmented) {
  arma::Mat<T>& block = augmented.rows;
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
  augmented.first = top;
  augmented.half_norms.set_size(count);
  for (arma::uword i = 0; i < count; ++i) {
    height[i] *= T(0.5);
    augmented.half_norms[i] = -height[i];
  }
}

/// The exponents -||x_i - y_j||^2 / 2 of centred points, for streamed_product() and streamed_adjoint().
template <typename T>
struct GaussianExponents {
  const CentredPoints<T>&x, &y;
  T centre_norm;

  arma::uword rows() const { return x.x.n_rows; }
  arma::uword cols() const { return y.x.n_rows; }
  RowScale row_scale() const { return RowScale::none; }
  void begin_columns(arma::uword j0, arma::uword count) const {
    get_augmented(y, j0, count, false, columns_of_thread());
  }
  void fill(arma::uword i0, arma::uword, arma::Mat<T>& block) const {
    thread_local AugmentedRows<T> rows;
    get_augmented(x, i0, block.n_rows, true, rows);
    const AugmentedRows<T>& columns = columns_of_thread();
    product_nt_block(T(1), rows.rows, 0, columns.rows, 0, block);
    const GivenRows<T> given_x{x.x, i0, block.n_rows, rows.half_norms.memptr()},
        given_y{y.x, columns.first, block.n_cols, columns.half_norms.memptr()};
    const DirectExponents<T> direct(given_x, given_y, x.scale, centre_norm);
    for (arma::uword j = 0; direct.needed() && j < block.n_cols; ++j) direct.correct(j, block.colptr(j));
  }

 private:
  static AugmentedRows<T>& columns_of_thread() {
    thread_local AugmentedRows<T> columns;
    return columns;
  }
};

}  // namespace croquis
