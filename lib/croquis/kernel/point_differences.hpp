// Sums of weighted differences of points as products of matrices.
#pragma once

#include <armadillo>

namespace croquis {

/// A point amidst the rows of X and Y: the median of each column over at most 128 equally spaced rows of X and as many
/// of Y. A few rows that are far away hardly move it.
template <typename T>
arma::Row<T> middle_of(const arma::Mat<T>& x, const arma::Mat<T>& y) {
  constexpr arma::uword most = 128;
  const auto some = [](const arma::Mat<T>& rows) {
    const arma::uword step = 1 + rows.n_rows / most;
    arma::Mat<T> chosen((rows.n_rows + step - 1) / step, rows.n_cols);
    for (arma::uword i = 0; i < chosen.n_rows; ++i) chosen.row(i) = rows.row(i * step);
    return chosen;
  };
  return arma::median(arma::join_cols(some(x), some(y)), 0);
}

/// [X 1] for the rows scale (x_i - middle). The difference is taken of the points as they are given: scaled ones would
/// be rounded first, relative to how far they are from 0.
template <typename T>
arma::Mat<T> points_and_ones(const arma::Mat<T>& x, const arma::Row<T>& middle, T scale) {
  arma::Mat<T> rows(x.n_rows, x.n_cols + 1, arma::fill::none);
  for (arma::uword c = 0; c < x.n_cols; ++c) rows.col(c) = scale * (x.col(c) - middle[c]);
  rows.tail_cols(1).ones();
  return rows;
}

/// scale sum_j d_ij (y_j - x_i) = scale (D Y - (D 1) o x) from the products D [Y 1] and the points [X 1] about the same
/// middle. An entry is off by about u sum_j |d_ij| (|y_j| + |x_i|), in lengths from the middle.
template <typename T>
arma::Mat<T> towards(const arma::Mat<T>& products, const arma::Mat<T>& points, T scale) {
  const arma::uword p = points.n_cols - 1;
  const arma::Col<T> sums = products.col(p);
  arma::Mat<T> result = products.head_cols(p);
  for (arma::uword c = 0; c < p; ++c) result.col(c) = scale * (result.col(c) - sums % points.col(c));
  return result;
}

}  // namespace croquis
