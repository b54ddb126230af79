#include <cmath>
#include <croquis/core/choices.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/features/feature_maps.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <limits>
#include <vector>

namespace croquis {
namespace {
constexpr std::string_view kMapNames[] = {"trf", "prf", "hyperbolic", "sphere", "oprf", "saderf"};
}

arma::uword functions_of(FeatureMap map) {
  return map == FeatureMap::trf || map == FeatureMap::hyperbolic ? 2 : 1;
}

std::string_view name_of(FeatureMap map) {
  return kMapNames[static_cast<std::size_t>(map)];
}

std::vector<std::string> feature_map_names() {
  return {std::begin(kMapNames), std::end(kMapNames)};
}

FeatureMap feature_map(std::string_view name) {
  return static_cast<FeatureMap>(index_of_name(name, feature_map_names(), "map"));
}

template <typename T>
arma::Mat<T> log_elu_features(arma::Mat<T> x) {
  // log(1 + v) = log(u) + (v - (u - 1)) / u with u = 1 + v rounded, to first order in what the rounding lost.
  parallel_for(x.n_cols, 8 * x.n_rows, [&x](std::size_t c) {
    T* column = x.colptr(c);
    const auto positive = [](T value) { return T(0.5) * (value + std::abs(value)); };  // max(value, 0), no branch
    std::vector<T> log(x.n_rows);
    for (arma::uword i = 0; i < x.n_rows; ++i) log[i] = 1 + positive(column[i]);
    logarithm(log.data(), log.size());
    for (arma::uword i = 0; i < x.n_rows; ++i) {
      const T v = positive(column[i]), u = 1 + v, lost = v - (u - 1);
      column[i] = log[i] + lost / u + (column[i] - v);
    }
  });
  return x;
}

double optimal_exponent(double s, arma::uword p) {
  require(s >= 0 && std::isfinite(s) && p >= 1, "optimal_exponent", "s >= 0 and finite, p >= 1", {{"s", s}, {"p", p}});
  // 1 / rho = (root + b) / (2p) with b = 2s + p, which is rho with its numerator made rational; and so is root - p,
  // (root^2 - p^2) / (root + p) = 4s (s + 3p) / (root + p), so that nothing cancels for small s.
  const auto width = static_cast<double>(p);
  const double b = 2 * s + width, root = b * std::sqrt(1 + 8 * (width / b) * (s / b));
  return -s * (1 + 2 * (s + 3 * width) / (root + width)) / (8 * width);
}

template <typename T>
arma::rowvec raised_squares(const arma::Mat<T>& x) {
  arma::rowvec squares(x.n_cols, arma::fill::zeros);
  for (arma::uword c = 0; c < x.n_cols; ++c) {
    for (arma::uword i = 0; i < x.n_rows; ++i) squares[c] += std::pow(static_cast<double>(x(i, c)), 2);
  }
  squares /= static_cast<double>(x.n_rows);
  return squares + std::numeric_limits<T>::epsilon() * arma::mean(squares);
}

template <typename T>
arma::Row<T> balancing_scale(const arma::Mat<T>& x, const arma::Mat<T>& y) {
  require(x.n_cols == y.n_cols && x.n_rows >= 1 && y.n_rows >= 1, "balancing_scale", "points of one width",
          {{"x.cols", x.n_cols}, {"y.cols", y.n_cols}});
  const arma::rowvec squares_x = raised_squares(x), squares_y = raised_squares(y);
  if (squares_x.min() == 0 || squares_y.min() == 0) return arma::Row<T>(x.n_cols, arma::fill::ones);
  return arma::conv_to<arma::Row<T>>::from(arma::pow(squares_y, 0.25) / arma::pow(squares_x, 0.25));
}

template arma::Mat<float> log_elu_features(arma::Mat<float>);
template arma::Mat<double> log_elu_features(arma::Mat<double>);
template arma::rowvec raised_squares(const arma::Mat<float>&);
template arma::rowvec raised_squares(const arma::Mat<double>&);
template arma::Row<float> balancing_scale(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Row<double> balancing_scale(const arma::Mat<double>&, const arma::Mat<double>&);

}  // namespace croquis
