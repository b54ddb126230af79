// Products with a dense sketch that is generated in blocks of rows and never stored.
#pragma once

#include <algorithm>
#include <armadillo>

namespace croquis {

constexpr arma::uword kRowsPerBlock = 256;

/// body(first, count) for consecutive blocks of 0 ... n-1, in order.
template <typename Body>
void for_row_blocks(arma::uword n, const Body& body) {
  for (arma::uword first = 0; first < n; first += kRowsPerBlock) body(first, std::min(kRowsPerBlock, n - first));
}

/// S^T M, where rows_of(first, count) are rows of S (n x d).
template <typename T, typename Rows>
arma::Mat<T> left_by_blocks(const arma::Mat<T>& m, arma::uword d, const Rows& rows_of) {
  arma::Mat<T> product(d, m.n_cols, arma::fill::zeros);
  for_row_blocks(m.n_rows, [&](arma::uword first, arma::uword count) {
    product += rows_of(first, count).t() * m.rows(first, first + count - 1);
  });
  return product;
}

/// M S.
template <typename T, typename Rows>
arma::Mat<T> right_by_blocks(const arma::Mat<T>& m, arma::uword d, const Rows& rows_of) {
  arma::Mat<T> product(m.n_rows, d, arma::fill::zeros);
  for_row_blocks(m.n_cols, [&](arma::uword first, arma::uword count) {
    product += m.cols(first, first + count - 1) * rows_of(first, count);
  });
  return product;
}

/// S M, S with n rows.
template <typename T, typename Rows>
arma::Mat<T> expand_by_blocks(const arma::Mat<T>& m, arma::uword n, const Rows& rows_of) {
  arma::Mat<T> product(n, m.n_cols);
  for_row_blocks(n, [&](arma::uword first, arma::uword count) {
    product.rows(first, first + count - 1) = rows_of(first, count) * m;
  });
  return product;
}

}  // namespace croquis
