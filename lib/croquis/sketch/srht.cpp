#include <bit>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/hadamard.hpp>
#include <croquis/sampling/indices.hpp>
#include <croquis/sketch/draws.hpp>
#include <croquis/sketch/srht.hpp>

namespace croquis {

SrhtSketch::SrhtSketch(arma::uword n, arma::uword d, const Stream& stream)
    : n_(n), length_(next_power_of_two(n)), signs_(stream.child("signs")) {
  require(n >= 1 && d >= 1 && d <= length_, "SrhtSketch", "n >= 1, 1 <= d <= n', the next power of two",
          {{"n", n}, {"d", d}, {"n'", length_}});
  rows_ = sample_without_replacement(length_, d, stream.child("rows"));
}

// D / sqrt(d): the factor sqrt(n'/d) and the 1 / sqrt(n') of H in one.
template <typename T>
arma::Col<T> SrhtSketch::scaled_signs() const {
  arma::Col<T> signs(n_);
  fill_signs(signs_, 0, n_, 1 / std::sqrt(static_cast<T>(cols())), signs.memptr());
  return signs;
}

// Of one column, in flops.
std::size_t SrhtSketch::work() const {
  return length_ * (2 + static_cast<std::size_t>(std::bit_width(length_)));
}

template <typename T>
arma::Mat<T> SrhtSketch::left(const arma::Mat<T>& m) const {
  require(m.n_rows == n_, "SrhtSketch::left", "a matrix with n rows", {{"rows", m.n_rows}, {"n", n_}});
  const arma::Col<T> signs = scaled_signs<T>();
  arma::Mat<T> product(cols(), m.n_cols);
  parallel_for(m.n_cols, work(), [&](std::size_t c) {
    arma::Col<T> x(length_, arma::fill::zeros);
    x.head(n_) = signs % m.col(c);
    hadamard_transform(x.memptr(), length_);
    product.col(c) = x.elem(rows_);
  });
  return product;
}

template <typename T>
arma::Mat<T> SrhtSketch::right(const arma::Mat<T>& m) const {
  require(m.n_cols == n_, "SrhtSketch::right", "a matrix with n columns", {{"cols", m.n_cols}, {"n", n_}});
  return left(arma::Mat<T>(m.t())).t();
}

template <typename T>
arma::Mat<T> SrhtSketch::expand(const arma::Mat<T>& m) const {
  require(m.n_rows == cols(), "SrhtSketch::expand", "a matrix with d rows", {{"rows", m.n_rows}, {"d", cols()}});
  const arma::Col<T> signs = scaled_signs<T>();
  arma::Mat<T> product(n_, m.n_cols);
  parallel_for(m.n_cols, work(), [&](std::size_t c) {
    arma::Col<T> x(length_, arma::fill::zeros);
    x.elem(rows_) = m.col(c);  // different rows
    hadamard_transform(x.memptr(), length_);
    product.col(c) = signs % x.head(n_);
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
template arma::Mat<float> SrhtSketch::left(const arma::Mat<float>&) const;
template arma::Mat<double> SrhtSketch::left(const arma::Mat<double>&) const;
template arma::Mat<float> SrhtSketch::right(const arma::Mat<float>&) const;
template arma::Mat<double> SrhtSketch::right(const arma::Mat<double>&) const;
template arma::Mat<float> SrhtSketch::expand(const arma::Mat<float>&) const;
template arma::Mat<double> SrhtSketch::expand(const arma::Mat<double>&) const;
template arma::Mat<float> SrhtSketch::dense() const;
template arma::Mat<double> SrhtSketch::dense() const;

}  // namespace croquis
