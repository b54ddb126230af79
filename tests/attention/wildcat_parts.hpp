// Parts of wildcat in long double, for its tests.
#pragma once

#include <algorithm>
#include <cmath>

#include "support/attention.hpp"

/// The w with w e^w = x >= 0, by bisection.
inline long double lambert(long double x) {
  long double low = 0, high = std::max(1.0L, std::log1p(x));
  for (int i = 0; i < 200; ++i) {
    const long double middle = (low + high) / 2;
    (middle * std::exp(middle) < x ? low : high) = middle;
  }
  return low;
}

/// tau^2 of Eq. 4 as it stands there.
inline long double squared_temperature(long double query, long double key, long double n, long double p) {
  const long double b = std::log(n) * std::sqrt(p) / (query * key) + 2,
                    rho = std::sqrt(1 + std::exp(lambert(2 / std::exp(2.0L)) + 2));
  return key / query * b / (2 * lambert(b / (2 * rho)));
}

inline Dense about_mean(const Dense& k) {
  Dense centred = k;
  for (arma::uword c = 0; c < k.cols; ++c) {
    long double mean = 0;
    for (arma::uword j = 0; j < k.rows; ++j) mean += k(j, c) / static_cast<long double>(k.rows);
    for (arma::uword j = 0; j < k.rows; ++j) centred(j, c) -= mean;
  }
  return centred;
}

/// exp(factor x_i.y_j / sqrt(p)), for moderate norms.
inline Dense scaled_exponentials(const Dense& x, const Dense& y, long double factor = 1) {
  Dense a = logits_of(x, y);
  for (long double& e : a.entries) e = std::exp(factor * e);
  return a;
}
