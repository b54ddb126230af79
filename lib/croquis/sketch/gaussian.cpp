#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sketch/gaussian.hpp>
#include <croquis/sketch/row_blocks.hpp>

namespace croquis {

GaussianSketch::GaussianSketch(arma::uword n, arma::uword d, const Key& key) : n_(n) {
  require(n >= 1 && d >= 1, "GaussianSketch", "n >= 1, d >= 1", {{"n", n}, {"d", d}});
  columns_ = key.children(d);
}

// Normals of one column. The factor 1 / sqrt(d) is applied to the finished product.
template <typename T>
auto GaussianSketch::fill() const {
  return [this](arma::uword j, arma::uword first, arma::uword count, T* out) {
    fill_normal(columns_[j], first, count, out);
  };
}

template <typename T>
T GaussianSketch::scale() const {
  return 1 / std::sqrt(static_cast<T>(cols()));
}

template <typename T>
arma::Mat<T> GaussianSketch::left_of(const arma::Mat<T>& m) const {
  return scale<T>() * left_by_blocks(m, cols(), fill<T>());
}

template <typename T>
arma::Mat<T> GaussianSketch::right_of(const arma::Mat<T>& m) const {
  return scale<T>() * right_by_blocks(m, cols(), fill<T>());
}

template <typename T>
arma::Mat<T> GaussianSketch::expand_of(const arma::Mat<T>& m) const {
  return scale<T>() * expand_by_blocks(m, n_, fill<T>());
}

template <typename T>
arma::Mat<T> GaussianSketch::rows_of(arma::uword first, arma::uword count) const {
  require(count <= n_ && first <= n_ - count, "GaussianSketch::rows_of", "rows of S",
          {{"first", first}, {"count", count}, {"n", n_}});
  arma::Mat<T> rows = rows_by_columns<T>(first, count, cols(), fill<T>());
  rows *= scale<T>();
  return rows;
}

template <typename T>
arma::Mat<T> GaussianSketch::dense() const {
  return rows_of<T>(0, n_);
}

static_assert(Sketch<GaussianSketch, float> && Sketch<GaussianSketch, double>);
CROQUIS_INSTANTIATE_SKETCH(GaussianSketch);
template arma::Mat<float> GaussianSketch::rows_of(arma::uword, arma::uword) const;
template arma::Mat<double> GaussianSketch::rows_of(arma::uword, arma::uword) const;

}  // namespace croquis
