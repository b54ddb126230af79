// Row-wise operations on tall matrices, on several threads.
#pragma once

#include <armadillo>

namespace croquis {

/// x_i / ||x_i|| for every row; a zero row stays zero. A row is first scaled by its largest entry, so there is no
/// overflow or underflow.
template <typename T>
arma::Mat<T> unit_rows(arma::Mat<T> x);

/// ||x_i||^2 for every row, on several threads.
template <typename T>
arma::Col<T> squared_row_norms(const arma::Mat<T>& x);

/// Multiplies or divides row i of M by f_i, in place.
template <typename T>
void multiply_rows(arma::Mat<T>& m, const arma::Col<T>& f);
template <typename T>
void divide_rows(arma::Mat<T>& m, const arma::Col<T>& f);

/// The sum of each column.
template <typename T>
arma::Row<T> column_sums(const arma::Mat<T>& m);

/// factor M.
template <typename T>
arma::Mat<T> scaled(const arma::Mat<T>& m, T factor);

}  // namespace croquis
