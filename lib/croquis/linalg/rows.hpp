// Row-wise operations on tall matrices, on several threads.
#pragma once

#include <armadillo>

namespace croquis {

/// x_i / ||x_i|| for every row; a zero row stays zero. No overflow or underflow: a row is scaled by its largest entry
/// first.
template <typename T>
arma::Mat<T> unit_rows(arma::Mat<T> x);

/// ||x_i||^2 for every row, on several threads.
template <typename T>
arma::Col<T> squared_row_norms(const arma::Mat<T>& x);

/// Row i of M times or divided by f_i, in place.
template <typename T>
void multiply_rows(arma::Mat<T>& m, const arma::Col<T>& f);
template <typename T>
void divide_rows(arma::Mat<T>& m, const arma::Col<T>& f);

/// Sums over the rows, a number a column.
template <typename T>
arma::Row<T> column_sums(const arma::Mat<T>& m);

/// factor M.
template <typename T>
arma::Mat<T> scaled(const arma::Mat<T>& m, T factor);

}  // namespace croquis
