#include "support/features.hpp"

#include <cmath>

using croquis::FeatureMap;

namespace {

long double inner(const Dense& a, arma::uword i, const Dense& b, arma::uword j) {
  long double sum = 0;
  for (arma::uword c = 0; c < a.cols; ++c) sum += a(i, c) * b(j, c);
  return sum;
}

long double squared_distance(const Dense& a, arma::uword i, const Dense& b, arma::uword j, long double sign) {
  return inner(a, i, a, i) + inner(b, j, b, j) + 2 * sign * inner(a, i, b, j);
}

// sum_k z^k / (k! (c)_k)
long double hypergeometric_0f1(long double c, long double z) {
  long double term = 1, sum = 1;
  for (int k = 0; k < 400; ++k) {
    term *= z / ((static_cast<long double>(k) + 1) * (c + static_cast<long double>(k)));
    sum += term;
  }
  return sum;
}

// FAVOR++'s a for the mean of ||x_i + y_j||^2 over all pairs.
long double plain_exponent(const Dense& x, const Dense& y) {
  long double s = 0;
  for (arma::uword i = 0; i < x.rows; ++i) {
    for (arma::uword j = 0; j < y.rows; ++j) s += squared_distance(x, i, y, j, 1);
  }
  s /= static_cast<long double>(x.rows * y.rows);
  const auto p = static_cast<long double>(x.cols);
  const long double rho = (std::sqrt((2 * s + p) * (2 * s + p) + 8 * p * s) - 2 * s - p) / (4 * s);
  return (1 - 1 / rho) / 8;
}

}  // namespace

void balance(Dense& x, Dense& y) {
  for (arma::uword c = 0; c < x.cols; ++c) {
    long double sx = 0, sy = 0;
    for (arma::uword i = 0; i < x.rows; ++i) sx += x(i, c) * x(i, c) / static_cast<long double>(x.rows);
    for (arma::uword j = 0; j < y.rows; ++j) sy += y(j, c) * y(j, c) / static_cast<long double>(y.rows);
    const long double psi = std::pow(sy / sx, 0.25L);
    for (arma::uword i = 0; i < x.rows; ++i) x(i, c) *= psi;
    for (arma::uword j = 0; j < y.rows; ++j) y(j, c) /= psi;
  }
}

Dense plain_scores(FeatureMap map, const Dense& w, Dense x, Dense y) {
  if (map == FeatureMap::saderf) balance(x, y);
  const bool bounded = map == FeatureMap::oprf || map == FeatureMap::saderf;
  const long double a = bounded ? plain_exponent(x, y) : 0, p = static_cast<long double>(x.cols);
  Dense scores(x.rows, y.rows);
  for (arma::uword i = 0; i < x.rows; ++i) {
    for (arma::uword j = 0; j < y.rows; ++j) {
      const long double halves = (inner(x, i, x, i) + inner(y, j, y, j)) / 2;
      long double sum = 0;
      for (arma::uword r = 0; r < w.rows; ++r) {
        const long double u = inner(w, r, x, i), v = inner(w, r, y, j), squared = inner(w, r, w, r);
        switch (map) {
          case FeatureMap::trf:
            sum += std::exp(halves) * (std::sin(u) * std::sin(v) + std::cos(u) * std::cos(v));
            break;
          case FeatureMap::prf:
            sum += std::exp(u + v - halves);
            break;
          case FeatureMap::hyperbolic:
            sum += (std::exp(u + v - halves) + std::exp(-u - v - halves)) / 2;
            break;
          case FeatureMap::sphere:
            sum += std::exp((u + v) * std::sqrt(p / squared) - halves);
            break;
          case FeatureMap::oprf:
          case FeatureMap::saderf:
            sum += std::pow(1 - 4 * a, p / 2) * std::exp(2 * a * squared + std::sqrt(1 - 4 * a) * (u + v) - halves);
            break;
        }
      }
      scores(i, j) = sum / static_cast<long double>(w.rows);
    }
  }
  return scores;
}

Dense sphere_means(FeatureMap map, Dense x, Dense y) {
  if (map == FeatureMap::saderf) balance(x, y);
  const bool bounded = map == FeatureMap::oprf || map == FeatureMap::saderf;
  const long double a = bounded ? plain_exponent(x, y) : 0, p = static_cast<long double>(x.cols);
  Dense means(x.rows, y.rows);
  for (arma::uword i = 0; i < x.rows; ++i) {
    for (arma::uword j = 0; j < y.rows; ++j) {
      const long double halves = (inner(x, i, x, i) + inner(y, j, y, j)) / 2;
      if (map == FeatureMap::trf) {
        means(i, j) = std::exp(halves) * hypergeometric_0f1(p / 2, -p * squared_distance(x, i, y, j, -1) / 4);
      } else {
        means(i, j) = std::pow(1 - 4 * a, p / 2) * std::exp(2 * a * p - halves) *
                      hypergeometric_0f1(p / 2, (1 - 4 * a) * p * squared_distance(x, i, y, j, 1) / 4);
      }
    }
  }
  return means;
}
