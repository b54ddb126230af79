#include <bit>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sketch/srct.hpp>

namespace croquis {

SrctSketch::SrctSketch(arma::uword n, arma::uword d, const Key& key) : n_(n), signs_(key.child("signs")) {
  require(d >= 1 && d <= n && n >> 31 == 0, "SrctSketch", "1 <= d <= n < 2^31", {{"n", n}, {"d", d}});
  rows_ = sample_without_replacement(n, d, key.child("rows"));
}

// sqrt(n/d) D
template <typename T>
arma::Col<T> SrctSketch::scaled_signs() const {
  arma::Col<T> signs(n_);
  const T scale = std::sqrt(static_cast<T>(n_) / static_cast<T>(cols()));
  fill_signs(signs_, 0, n_, scale, signs.memptr());
  return signs;
}

// The work for one column, in flops.
std::size_t SrctSketch::work() const {
  return n_ * (4 + 3 * static_cast<std::size_t>(std::bit_width(n_)));
}

template <typename T>
arma::Mat<T> SrctSketch::left_of(const arma::Mat<T>& m) const {
  const CosineTransform<T> cosines(n_);
  const arma::Col<T> signs = scaled_signs<T>();
  arma::Mat<T> product(cols(), m.n_cols);
  parallel_for(m.n_cols, work(), [&](std::size_t c) {
    arma::Col<T> x = signs % m.col(c);
    cosines.apply(x.memptr());
    product.col(c) = x.elem(rows_);
  });
  return product;
}

template <typename T>
arma::Mat<T> SrctSketch::right_of(const arma::Mat<T>& m) const {
  return left_of(arma::Mat<T>(m.t())).t();
}

template <typename T>
arma::Mat<T> SrctSketch::expand_of(const arma::Mat<T>& m) const {
  const CosineTransform<T> cosines(n_);
  const arma::Col<T> signs = scaled_signs<T>();
  arma::Mat<T> product(n_, m.n_cols);
  parallel_for(m.n_cols, work(), [&](std::size_t c) {
    arma::Col<T> x(n_, arma::fill::zeros);
    x.elem(rows_) = m.col(c);  // no index occurs twice
    cosines.apply_transposed(x.memptr());
    product.col(c) = signs % x;
  });
  return product;
}

// By the formula, without a transform.
template <typename T>
arma::Mat<T> SrctSketch::dense() const {
  const CosineTransform<T> cosines(n_);
  const arma::Col<T> signs = scaled_signs<T>();
  arma::Mat<T> s(n_, cols());
  for (arma::uword j = 0; j < cols(); ++j) {
    for (arma::uword i = 0; i < n_; ++i) s(i, j) = signs(i) * cosines.entry(rows_(j), i);
  }
  return s;
}

static_assert(Sketch<SrctSketch, float> && Sketch<SrctSketch, double>);
CROQUIS_INSTANTIATE_SKETCH(SrctSketch);

}  // namespace croquis
