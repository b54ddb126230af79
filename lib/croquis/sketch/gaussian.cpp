#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/sketch/gaussian.hpp>

namespace croquis {
namespace {

constexpr arma::uword kRowsPerBlock = 256;

arma::uword blocks_of(arma::uword n) {
  return (n + kRowsPerBlock - 1) / kRowsPerBlock;
}

}  // namespace

GaussianSketch::GaussianSketch(arma::uword n, arma::uword d, const Stream& stream) : n_(n) {
  require(d >= 1, "GaussianSketch", "d >= 1", {{"d", d}});
  columns_.reserve(d);
  for (arma::uword j = 0; j < d; ++j) columns_.push_back(stream.child(j));
}

template <typename T>
arma::Mat<T> GaussianSketch::rows_of(arma::uword first, arma::uword count) const {
  arma::Mat<T> block(count, cols());
  parallel_for(cols(), [&](std::size_t j) { fill_normal(columns_[j], first, count, block.colptr(j)); });
  return block / std::sqrt(static_cast<T>(cols()));
}

template <typename T>
arma::Mat<T> GaussianSketch::left(const arma::Mat<T>& m) const {
  require(m.n_rows == n_, "GaussianSketch::left", "a matrix with n rows", {{"rows", m.n_rows}, {"n", n_}});
  arma::Mat<T> product(cols(), m.n_cols, arma::fill::zeros);
  for (arma::uword b = 0; b < blocks_of(n_); ++b) {
    const arma::uword first = b * kRowsPerBlock, count = std::min(kRowsPerBlock, n_ - first);
    product += rows_of<T>(first, count).t() * m.rows(first, first + count - 1);
  }
  return product;
}

template <typename T>
arma::Mat<T> GaussianSketch::right(const arma::Mat<T>& m) const {
  require(m.n_cols == n_, "GaussianSketch::right", "a matrix with n columns", {{"cols", m.n_cols}, {"n", n_}});
  arma::Mat<T> product(m.n_rows, cols(), arma::fill::zeros);
  for (arma::uword b = 0; b < blocks_of(n_); ++b) {
    const arma::uword first = b * kRowsPerBlock, count = std::min(kRowsPerBlock, n_ - first);
    product += m.cols(first, first + count - 1) * rows_of<T>(first, count);
  }
  return product;
}

template <typename T>
arma::Mat<T> GaussianSketch::expand(const arma::Mat<T>& m) const {
  require(m.n_rows == cols(), "GaussianSketch::expand", "a matrix with d rows", {{"rows", m.n_rows}, {"d", cols()}});
  arma::Mat<T> product(n_, m.n_cols);
  for (arma::uword b = 0; b < blocks_of(n_); ++b) {
    const arma::uword first = b * kRowsPerBlock, count = std::min(kRowsPerBlock, n_ - first);
    product.rows(first, first + count - 1) = rows_of<T>(first, count) * m;
  }
  return product;
}

template <typename T>
arma::Mat<T> GaussianSketch::dense() const {
  return rows_of<T>(0, n_);
}

static_assert(Sketch<GaussianSketch, float> && Sketch<GaussianSketch, double>);
template arma::Mat<float> GaussianSketch::left(const arma::Mat<float>&) const;
template arma::Mat<double> GaussianSketch::left(const arma::Mat<double>&) const;
template arma::Mat<float> GaussianSketch::right(const arma::Mat<float>&) const;
template arma::Mat<double> GaussianSketch::right(const arma::Mat<double>&) const;
template arma::Mat<float> GaussianSketch::expand(const arma::Mat<float>&) const;
template arma::Mat<double> GaussianSketch::expand(const arma::Mat<double>&) const;
template arma::Mat<float> GaussianSketch::dense() const;
template arma::Mat<double> GaussianSketch::dense() const;

}  // namespace croquis
