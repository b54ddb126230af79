#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/sketch/gaussian.hpp>
#include <croquis/sketch/row_blocks.hpp>

namespace croquis {

GaussianSketch::GaussianSketch(arma::uword n, arma::uword d, const Stream& stream) : n_(n) {
  require(d >= 1, "GaussianSketch", "d >= 1", {{"d", d}});
  columns_.reserve(d);
  for (arma::uword j = 0; j < d; ++j) columns_.push_back(stream.child(j));
}

template <typename T>
arma::Mat<T> GaussianSketch::rows_of(arma::uword first, arma::uword count) const {
  arma::Mat<T> block(count, cols());
  parallel_for(cols(), 8 * count, [&](std::size_t j) { fill_normal(columns_[j], first, count, block.colptr(j)); });
  return block / std::sqrt(static_cast<T>(cols()));
}

template <typename T>
arma::Mat<T> GaussianSketch::left(const arma::Mat<T>& m) const {
  require(m.n_rows == n_, "GaussianSketch::left", "a matrix with n rows", {{"rows", m.n_rows}, {"n", n_}});
  return left_by_blocks(m, cols(), [&](arma::uword first, arma::uword count) { return rows_of<T>(first, count); });
}

template <typename T>
arma::Mat<T> GaussianSketch::right(const arma::Mat<T>& m) const {
  require(m.n_cols == n_, "GaussianSketch::right", "a matrix with n columns", {{"cols", m.n_cols}, {"n", n_}});
  return right_by_blocks(m, cols(), [&](arma::uword first, arma::uword count) { return rows_of<T>(first, count); });
}

template <typename T>
arma::Mat<T> GaussianSketch::expand(const arma::Mat<T>& m) const {
  require(m.n_rows == cols(), "GaussianSketch::expand", "a matrix with d rows", {{"rows", m.n_rows}, {"d", cols()}});
  return expand_by_blocks(m, n_, [&](arma::uword first, arma::uword count) { return rows_of<T>(first, count); });
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
template arma::Mat<float> GaussianSketch::rows_of(arma::uword, arma::uword) const;
template arma::Mat<double> GaussianSketch::rows_of(arma::uword, arma::uword) const;

}  // namespace croquis
