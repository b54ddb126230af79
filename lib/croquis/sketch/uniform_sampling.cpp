#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sketch/uniform_sampling.hpp>

namespace croquis {

UniformSampling::UniformSampling(arma::uword n, arma::uword d, const Key& key, Replacement replacement) : n_(n) {
  require(n >= 1 && d >= 1, "UniformSampling", "n >= 1, d >= 1", {{"n", n}, {"d", d}});
  indices_ =
      replacement == Replacement::with ? sample_with_replacement(n, d, key) : sample_without_replacement(n, d, key);
}

template <typename T>
T UniformSampling::scale() const {
  return std::sqrt(static_cast<T>(n_) / static_cast<T>(cols()));
}

template <typename T>
arma::Mat<T> UniformSampling::left(const arma::Mat<T>& m) const {
  require(m.n_rows == n_, "UniformSampling::left", "a matrix with n rows", {{"rows", m.n_rows}, {"n", n_}});
  return scale<T>() * m.rows(indices_);
}

template <typename T>
arma::Mat<T> UniformSampling::right(const arma::Mat<T>& m) const {
  require(m.n_cols == n_, "UniformSampling::right", "a matrix with n columns", {{"cols", m.n_cols}, {"n", n_}});
  return scale<T>() * m.cols(indices_);
}

template <typename T>
arma::Mat<T> UniformSampling::expand(const arma::Mat<T>& m) const {
  require(m.n_rows == cols(), "UniformSampling::expand", "a matrix with d rows", {{"rows", m.n_rows}, {"d", cols()}});
  arma::Mat<T> product(n_, m.n_cols, arma::fill::zeros);
  for (arma::uword j = 0; j < cols(); ++j) product.row(indices_(j)) += scale<T>() * m.row(j);
  return product;
}

template <typename T>
arma::Mat<T> UniformSampling::dense() const {
  arma::Mat<T> s(n_, cols(), arma::fill::zeros);
  for (arma::uword j = 0; j < cols(); ++j) s(indices_(j), j) = scale<T>();
  return s;
}

static_assert(Sketch<UniformSampling, float> && Sketch<UniformSampling, double>);
template arma::Mat<float> UniformSampling::left(const arma::Mat<float>&) const;
template arma::Mat<double> UniformSampling::left(const arma::Mat<double>&) const;
template arma::Mat<float> UniformSampling::right(const arma::Mat<float>&) const;
template arma::Mat<double> UniformSampling::right(const arma::Mat<double>&) const;
template arma::Mat<float> UniformSampling::expand(const arma::Mat<float>&) const;
template arma::Mat<double> UniformSampling::expand(const arma::Mat<double>&) const;
template arma::Mat<float> UniformSampling::dense() const;
template arma::Mat<double> UniformSampling::dense() const;

}  // namespace croquis
