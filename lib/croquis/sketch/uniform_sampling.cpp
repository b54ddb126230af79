#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sketch/uniform_sampling.hpp>

namespace croquis {

UniformSampling::UniformSampling(arma::uword n, arma::uword d, const Key& key, SampleReplacement replacement) : n_(n) {
  require(n >= 1 && d >= 1, "UniformSampling", "n >= 1, d >= 1", {{"n", n}, {"d", d}});
  indices_ = replacement == SampleReplacement::with ? sample_with_replacement(n, d, key)
                                                    : sample_without_replacement(n, d, key);
}

template <typename T>
T UniformSampling::scale() const {
  return std::sqrt(static_cast<T>(n_) / static_cast<T>(cols()));
}

template <typename T>
arma::Mat<T> UniformSampling::left_of(const arma::Mat<T>& m) const {
  return scale<T>() * m.rows(indices_);
}

template <typename T>
arma::Mat<T> UniformSampling::right_of(const arma::Mat<T>& m) const {
  return scale<T>() * m.cols(indices_);
}

template <typename T>
arma::Mat<T> UniformSampling::expand_of(const arma::Mat<T>& m) const {
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
CROQUIS_INSTANTIATE_SKETCH(UniformSampling);

}  // namespace croquis
