// Plain dense matrices in long double: what the references of the tests are computed with, in loops.
#pragma once

#include <algorithm>
#include <armadillo>
#include <limits>
#include <vector>

struct Dense {
  arma::uword rows = 0, cols = 0;
  std::vector<long double> entries;  // row by row

  Dense() = default;
  Dense(arma::uword rows_, arma::uword cols_) : rows(rows_), cols(cols_), entries(rows_ * cols_, 0.0L) {}
  template <typename E>
  requires arma::is_arma_type<E>::value Dense(const E& expression)  // NOLINT: tests read better with the conversions
      : Dense(arma::Mat<typename E::elem_type>(expression)) {}
  template <typename T>
  Dense(const arma::Mat<T>& m) : Dense(m.n_rows, m.n_cols) {  // NOLINT: tests read better with the conversion
    for (arma::uword i = 0; i < rows; ++i) {
      for (arma::uword j = 0; j < cols; ++j) (*this)(i, j) = static_cast<long double>(m(i, j));
    }
  }

  long double& operator()(arma::uword i, arma::uword j) { return entries[i * cols + j]; }
  long double operator()(arma::uword i, arma::uword j) const { return entries[i * cols + j]; }
};

Dense identity(arma::uword n);
Dense transposed(const Dense& a);
Dense operator*(const Dense& a, const Dense& b);
Dense operator+(const Dense& a, const Dense& b);
Dense operator-(const Dense& a, const Dense& b);
Dense operator*(long double factor, const Dense& a);
/// A^-1 by Gauss-Jordan elimination with partial pivoting; A must be regular.
Dense inverted(Dense a);
arma::mat in_double(const Dense& a);

/// Makes `most` the larger one of the two, or infinity where x is NaN, which std::max and arma's max() pass over.
void raise(double& most, long double x);

long double frobenius(const Dense& a);

/// max |a_ij|; NaN, here and in the next two, where an entry is: no comparison with it is true.
long double largest_entry_of(const Dense& a);

/// max_i ||x_i|| over rows.
double largest_row(const Dense& x);

/// max_i sum_j |a_ij|.
double largest_row_sum(const Dense& a);

/// max |a_ij - b_ij|; infinity when the sizes differ or an entry is NaN, so that no comparison passes by accident.
double distance(const Dense& a, const Dense& b);

/// The unit roundoff of T: one operation is off by at most this, relatively.
template <typename T>
constexpr double unit() {
  return static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
}

/// Every bit of every entry the same.
template <typename T>
bool identical(const arma::Mat<T>& a, const arma::Mat<T>& b) {
  return arma::size(a) == arma::size(b) && std::equal(a.begin(), a.end(), b.begin());
}
