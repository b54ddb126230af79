#include <algorithm>
#include <bit>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/hadamard.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sketch/srht.hpp>

namespace croquis {

SrhtSketch::SrhtSketch(arma::uword n, arma::uword d, const Key& key)
    : n_(n), length_(next_power_of_two(n)), signs_(key.child("signs")) {
  require(n >= 1 && d >= 1 && d <= length_, "SrhtSketch", "n >= 1, 1 <= d <= n', the next power of two",
          {{"n", n}, {"d", d}, {"n'", length_}});
  rows_ = sample_without_replacement(length_, d, key.child("rows"));
}

// D / sqrt(d), which combines the factor sqrt(n'/d) and the 1 / sqrt(n') of H.
template <typename T>
arma::Col<T> SrhtSketch::scaled_signs() const {
  arma::Col<T> signs(n_);
  fill_signs(signs_, 0, n_, 1 / std::sqrt(static_cast<T>(cols())), signs.memptr());
  return signs;
}

// Calls body(c, x) for every column c, with an x of n' entries. A few columns share one x, because new memory costs
// more than a transform.
template <typename T, typename Body>
void SrhtSketch::for_columns(arma::uword count, const Body& body) const {
  constexpr arma::uword group = 8;
  const std::size_t work = group * length_ * (2 + static_cast<std::size_t>(std::bit_width(length_)));
  parallel_for((count + group - 1) / group, work, [&](std::size_t g) {
    arma::Col<T> x(length_);
    for (arma::uword c = g * group; c < std::min(count, (g + 1) * group); ++c) body(c, x);
  });
}

template <typename T>
arma::Mat<T> SrhtSketch::left_of(const arma::Mat<T>& m) const {
  const arma::Col<T> signs = scaled_signs<T>();
  arma::Mat<T> product(cols(), m.n_cols);
  for_columns<T>(m.n_cols, [&](arma::uword c, arma::Col<T>& x) {
    const T* column = m.colptr(c);
    for (arma::uword i = 0; i < n_; ++i) x[i] = signs[i] * column[i];
    std::fill(x.begin() + n_, x.end(), T(0));
    hadamard_transform(x.memptr(), length_);
    T* out = product.colptr(c);
    for (arma::uword j = 0; j < cols(); ++j) out[j] = x[rows_[j]];
  });
  return product;
}

template <typename T>
arma::Mat<T> SrhtSketch::right_of(const arma::Mat<T>& m) const {
  return left_of(arma::Mat<T>(m.t())).t();
}

template <typename T>
arma::Mat<T> SrhtSketch::expand_of(const arma::Mat<T>& m) const {
  const arma::Col<T> signs = scaled_signs<T>();
  arma::Mat<T> product(n_, m.n_cols);
  for_columns<T>(m.n_cols, [&](arma::uword c, arma::Col<T>& x) {
    x.zeros();
    const T* column = m.colptr(c);
    for (arma::uword j = 0; j < cols(); ++j) x[rows_[j]] = column[j];  // no index occurs twice
    hadamard_transform(x.memptr(), length_);
    T* out = product.colptr(c);
    for (arma::uword i = 0; i < n_; ++i) out[i] = signs[i] * x[i];
  });
  return product;
}

template <typename T>
arma::Mat<T> SrhtSketch::dense() const {
  const arma::Col<T> signs = scaled_signs<T>();
  arma::Mat<T> s(n_, cols());
  for (arma::uword j = 0; j < cols(); ++j) {
    for (arma::uword i = 0; i < n_; ++i) s(i, j) = std::popcount(i & rows_(j)) % 2 == 0 ? signs(i) : -signs(i);
  }
  return s;
}

static_assert(Sketch<SrhtSketch, float> && Sketch<SrhtSketch, double>);
CROQUIS_INSTANTIATE_SKETCH(SrhtSketch);

}  // namespace croquis
