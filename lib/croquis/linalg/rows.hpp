// Row-wise operations on tall matrices, most of them on several threads.
#pragma once

#include <armadillo>
#include <limits>

namespace croquis {

/// A row sum smaller than this may have lost all of its digits: each term that underflows is off by up to the smallest
/// normal number.
template <typename T>
constexpr T kLeastSum = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();

/// x_i / ||x_i|| for every row x_i; a zero row stays zero. A row is first divided by its largest |entry|, so there is
/// no overflow or underflow.
template <typename T>
arma::Mat<T> unit_rows(arma::Mat<T> x);

/// The derivatives of <G, unit_rows(X)> with respect to X: (I - x^ x^T) g / ||x|| for the rows x of X and g of G, with
/// x^ = x / ||x||. A zero row has no derivative, and gets zeros.
template <typename T>
arma::Mat<T> unit_rows_adjoint(const arma::Mat<T>& x, const arma::Mat<T>& cotangent);

/// The dot products a_i.b_i of the rows of A and B. Throws std::invalid_argument unless A and B have one size.
template <typename T>
arma::Col<T> row_products(const arma::Mat<T>& a, const arma::Mat<T>& b);

/// ||x_i||^2 for every row x_i.
template <typename T>
arma::Col<T> squared_row_norms(const arma::Mat<T>& x);

/// ||x_i|| for every row x_i. Squares that overflow or vanish do no harm: where the largest of them might, X is divided
/// by a power of two first. A norm below u times the largest may come out as 0.
template <typename T>
arma::Col<T> row_norms(const arma::Mat<T>& x);

/// Multiplies or divides row i of M by f_i, in place. Throws std::invalid_argument unless f has a number for each row.
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
