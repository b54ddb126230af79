#include <algorithm>
#include <croquis/core/power_of_two.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/rows.hpp>
#include <limits>

namespace croquis {
namespace {

template <typename T>
void require_factors(const arma::Mat<T>& m, const arma::Col<T>& f, const char* where) {
  require(f.n_elem == m.n_rows, where, "a factor for each row", {{"rows", m.n_rows}, {"factors", f.n_elem}});
}

}  // namespace

template <typename T>
arma::Mat<T> unit_rows(arma::Mat<T> x) {
  arma::Col<T> size = arma::max(arma::abs(x), 1);
  size.replace(T(0), T(1));
  x.each_col() /= size;
  arma::Col<T> norm = arma::sqrt(arma::sum(arma::square(x), 1));
  norm.replace(T(0), T(1));
  x.each_col() /= norm;
  return x;
}

template <typename T>
arma::Mat<T> unit_rows_adjoint(const arma::Mat<T>& x, const arma::Mat<T>& cotangent) {
  arma::Col<T> size = arma::max(arma::abs(x), 1);
  const arma::uvec zero = arma::find(size == 0);
  size.replace(T(0), T(1));
  const arma::Mat<T> unit = unit_rows(x);
  // ||x|| in two factors, of which neither overflows.
  const arma::Col<T> inner = row_products<T>(unit, x.each_col() / size);
  arma::Mat<T> result = cotangent - unit.each_col() % row_products(unit, cotangent);
  result.each_col() /= inner;
  result.each_col() /= size;
  result.rows(zero).zeros();
  return result;
}

template <typename T>
arma::Col<T> row_products(const arma::Mat<T>& a, const arma::Mat<T>& b) {
  require(arma::size(a) == arma::size(b), "row_products", "two matrices of the same size",
          {{"A.rows", a.n_rows}, {"B.rows", b.n_rows}, {"A.cols", a.n_cols}, {"B.cols", b.n_cols}});
  constexpr arma::uword block = 1024;
  arma::Col<T> products(a.n_rows, arma::fill::zeros);
  parallel_for(blocks_of(a.n_rows, block), 2 * block * a.n_cols, [&](std::size_t i) {
    const arma::uword first = i * block, count = std::min(block, a.n_rows - first);
    T* sum = products.memptr() + first;
    for (arma::uword c = 0; c < a.n_cols; ++c) {
      const T *x = a.colptr(c) + first, *y = b.colptr(c) + first;
      for (arma::uword r = 0; r < count; ++r) sum[r] += x[r] * y[r];
    }
  });
  return products;
}

template <typename T>
arma::Col<T> squared_row_norms(const arma::Mat<T>& x) {
  return row_products(x, x);
}

template <typename T>
arma::Col<T> row_norms(const arma::Mat<T>& x) {
  constexpr T u = std::numeric_limits<T>::epsilon(), least = std::numeric_limits<T>::min() / (u * u);
  const arma::Col<T> squares = squared_row_norms(x);
  if (squares.is_empty() || (squares.max() >= least && squares.is_finite())) return arma::sqrt(squares);
  const T unit = power_of_two_below(largest_entry(x));
  return unit * arma::sqrt(squared_row_norms(over_power_of_two(x)));
}

template <typename T>
void multiply_rows(arma::Mat<T>& m, const arma::Col<T>& f) {
  require_factors(m, f, "multiply_rows");
  parallel_for(m.n_cols, m.n_rows, [&](std::size_t c) {
    T* column = m.colptr(c);
    for (arma::uword i = 0; i < m.n_rows; ++i) column[i] *= f[i];
  });
}

template <typename T>
void divide_rows(arma::Mat<T>& m, const arma::Col<T>& f) {
  require_factors(m, f, "divide_rows");
  parallel_for(m.n_cols, m.n_rows, [&](std::size_t c) {
    T* column = m.colptr(c);
    for (arma::uword i = 0; i < m.n_rows; ++i) column[i] /= f[i];
  });
}

template <typename T>
arma::Row<T> column_sums(const arma::Mat<T>& m) {
  constexpr arma::uword lanes = 64;  // partial sums; a single sum would wait for every addition
  arma::Row<T> sums(m.n_cols);
  parallel_for(m.n_cols, m.n_rows / 4, [&](std::size_t c) {
    const T* column = m.colptr(c);
    T lane[lanes] = {};
    arma::uword i = 0;
    for (; i + lanes <= m.n_rows; i += lanes) {
      for (arma::uword k = 0; k < lanes; ++k) lane[k] += column[i + k];
    }
    for (arma::uword k = 0; i < m.n_rows; ++i, ++k) lane[k] += column[i];
    for (arma::uword half = lanes / 2; half > 0; half /= 2) {
      for (arma::uword k = 0; k < half; ++k) lane[k] += lane[k + half];
    }
    sums[c] = lane[0];
  });
  return sums;
}

template <typename T>
arma::Mat<T> scaled(const arma::Mat<T>& m, T factor) {
  arma::Mat<T> result(m.n_rows, m.n_cols, arma::fill::none);
  parallel_for(m.n_cols, m.n_rows, [&](std::size_t c) {
    const T* from = m.colptr(c);
    T* to = result.colptr(c);
    for (arma::uword i = 0; i < m.n_rows; ++i) to[i] = factor * from[i];
  });
  return result;
}

template void multiply_rows(arma::Mat<float>&, const arma::Col<float>&);
template void multiply_rows(arma::Mat<double>&, const arma::Col<double>&);
template void divide_rows(arma::Mat<float>&, const arma::Col<float>&);
template void divide_rows(arma::Mat<double>&, const arma::Col<double>&);
template arma::Row<float> column_sums(const arma::Mat<float>&);
template arma::Row<double> column_sums(const arma::Mat<double>&);
template arma::Mat<float> scaled(const arma::Mat<float>&, float);
template arma::Mat<double> scaled(const arma::Mat<double>&, double);
template arma::Col<float> squared_row_norms(const arma::Mat<float>&);
template arma::Col<float> row_norms(const arma::Mat<float>&);
template arma::Col<double> squared_row_norms(const arma::Mat<double>&);
template arma::Col<double> row_norms(const arma::Mat<double>&);
template arma::Col<float> row_products(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Col<double> row_products(const arma::Mat<double>&, const arma::Mat<double>&);
template arma::Mat<float> unit_rows_adjoint(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Mat<double> unit_rows_adjoint(const arma::Mat<double>&, const arma::Mat<double>&);
template arma::Mat<float> unit_rows(arma::Mat<float>);
template arma::Mat<double> unit_rows(arma::Mat<double>);

}  // namespace croquis
