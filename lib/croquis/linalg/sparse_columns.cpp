#include <algorithm>
#include <array>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/chosen_columns.hpp>
#include <croquis/linalg/sparse_columns.hpp>
#include <croquis/linalg/transpose.hpp>

namespace croquis {
namespace {

constexpr arma::uword kColumnsAtOnce = 8, kRowsAtOnce = 512;

// y[i] += value x[i]
template <typename T>
void add_scaled(T value, const T* x, T* y, arma::uword count) {
  for (arma::uword i = 0; i < count; ++i) y[i] += value * x[i];
}

}  // namespace

// Eight columns of M together, so that an index is read once for all of them.
template <typename T>
arma::Mat<T> SparseColumns<T>::times(const arma::Mat<T>& m) const {
  arma::Mat<T> product(rows, m.n_cols);
  const arma::uword groups = (m.n_cols + kColumnsAtOnce - 1) / kColumnsAtOnce;
  parallel_for(groups, kColumnsAtOnce * value.size(), [&](std::size_t g) {
    const arma::uword first = g * kColumnsAtOnce, width = std::min(kColumnsAtOnce, m.n_cols - first);
    std::vector<std::array<T, kColumnsAtOnce>> sums(rows);  // zeros
    std::array<T, kColumnsAtOnce> x{};
    for (arma::uword j = 0; j < cols; ++j) {
      for (arma::uword c = 0; c < width; ++c) x[c] = m.at(j, first + c);
      for (std::size_t e = start[j]; e < start[j + 1]; ++e) {
        add_scaled(value[e], x.data(), sums[index[e]].data(), kColumnsAtOnce);
      }
    }
    for (arma::uword c = 0; c < width; ++c) {
      for (arma::uword i = 0; i < rows; ++i) product.at(i, first + c) = sums[i][c];
    }
  });
  return product;
}

template <typename T>
arma::Mat<T> SparseColumns<T>::transposed_times(const arma::Mat<T>& m) const {
  const arma::Mat<T> rows_of_m = transposed(m);  // contiguous, and a row of the product is a sum of some of them
  arma::Mat<T> product(m.n_cols, cols, arma::fill::none);
  const arma::uword groups = (cols + kRowsAtOnce - 1) / kRowsAtOnce;
  parallel_for(groups, (value.size() / std::max<arma::uword>(1, groups) + 1) * m.n_cols, [&](std::size_t g) {
    for (arma::uword j = g * kRowsAtOnce; j < std::min(cols, (g + 1) * kRowsAtOnce); ++j) {
      weighted_sum(value.data() + start[j], rows_of_m.memptr(), m.n_cols, index.data() + start[j],
                   start[j + 1] - start[j], product.colptr(j));
    }
  });
  return transposed(product);
}

template <typename T>
arma::Mat<T> SparseColumns<T>::after(const arma::Mat<T>& m) const {
  arma::Mat<T> product(m.n_rows, cols, arma::fill::zeros);
  parallel_for(cols, (value.size() / std::max<arma::uword>(1, cols) + 1) * m.n_rows, [&](std::size_t j) {
    for (std::size_t e = start[j]; e < start[j + 1]; ++e) {
      add_scaled(value[e], m.colptr(index[e]), product.colptr(j), m.n_rows);
    }
  });
  return product;
}

// By blocks of rows, because two columns of M may add to the same column of the product.
template <typename T>
arma::Mat<T> SparseColumns<T>::transposed_after(const arma::Mat<T>& m) const {
  arma::Mat<T> product(m.n_rows, rows, arma::fill::zeros);
  const arma::uword blocks = (m.n_rows + kRowsAtOnce - 1) / kRowsAtOnce;
  parallel_for(blocks, kRowsAtOnce * value.size(), [&](std::size_t b) {
    const arma::uword first = b * kRowsAtOnce, count = std::min(kRowsAtOnce, m.n_rows - first);
    for (arma::uword j = 0; j < cols; ++j) {
      for (std::size_t e = start[j]; e < start[j + 1]; ++e) {
        add_scaled(value[e], m.colptr(j) + first, product.colptr(index[e]) + first, count);
      }
    }
  });
  return product;
}

template <typename T>
arma::Mat<T> SparseColumns<T>::dense() const {
  arma::Mat<T> c(rows, cols, arma::fill::zeros);
  for (arma::uword j = 0; j < cols; ++j) {
    for (std::size_t e = start[j]; e < start[j + 1]; ++e) c(index[e], j) += value[e];
  }
  return c;
}

template struct SparseColumns<float>;
template struct SparseColumns<double>;

}  // namespace croquis
