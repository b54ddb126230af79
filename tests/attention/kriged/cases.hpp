// What the tests of the kriged coreset share.
#pragma once

#include <croquis/attention/kriged/sized.hpp>
#include <memory>

#include "support/approximations.hpp"

/// The kriged coreset of given sizes.
template <typename T>
croquis::Approximation<T> sized(const croquis::Problem<T>& problem, const croquis::KrigedSizes& sizes,
                                const croquis::KrigedCoresetOptions& options = {},
                                const croquis::Key& draw_key = croquis::Key(1)) {
  return croquis::kriged_of_sizes<T>(std::make_shared<const croquis::KrigedInput<T>>(problem), sizes, options,
                                     draw_key);
}

constexpr croquis::KrigedSizes kSmall{.landmarks = 6, .checks = 4, .exact_rows = 2, .cells = 9, .window = 20};

/// The sizes of mode=coreset have no check rows.
constexpr croquis::KrigedSizes kUnchecked{.landmarks = 6, .checks = 0, .exact_rows = 2, .cells = 9};

/// Smooth enough for small inverses, and far from low rank.
inline croquis::Problem<double> rectangle(arma::uword n_q, arma::uword n_k, const char* name) {
  return random_rectangle<double>(n_q, n_k, 5, 3, 2, croquis::Key(test_seed()).child(name));
}

/// (X^T X + ridge I)^-1 X^T Y, the other way round than in the library.
inline Dense ridge_fit(const Dense& x, const Dense& y, double ridge) {
  return inverted(transposed(x) * x + static_cast<long double>(ridge) * identity(x.cols)) * (transposed(x) * y);
}
