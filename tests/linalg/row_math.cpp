#include <doctest/doctest.h>
#include <croquis/linalg/row_math.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"
#include "support/ulps.hpp"

using namespace croquis;

namespace {

constexpr std::size_t kMostRows = 70;  // more than twice the 32 lanes of the widest vectors in float, and odd tails

}  // namespace

TEST_CASE_TEMPLATE("raise_to_row_maxima: the largest of every row and of what was there, for any number of rows", T,
                   float, double) {
  for (std::size_t rows = 1; rows <= kMostRows; ++rows) {
    for (const std::size_t cols : {0, 1, 5}) {
      std::vector<T> x(rows * cols), top(rows + 1, T(-40)), expected = top;
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = T((k * 37) % 101) - T(60);  // below -40 and above
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < cols; ++j) expected[i] = std::max(expected[i], x[i + j * rows]);
      }
      raise_to_row_maxima(x.data(), rows, cols, top.data());
      REQUIRE(top == expected);
    }
  }
}

TEST_CASE_TEMPLATE("exp_shifted_rows: exponentials within 2 ulp and row sums, 1 for arguments above 0, 0 for NaN", T,
                   float, double) {
  for (std::size_t rows = 1; rows <= kMostRows; ++rows) {
    for (const std::size_t cols : {0, 1, 5}) {
      std::vector<T> x(rows * cols), shift(rows), sum(rows + 1, T(2));
      for (std::size_t i = 0; i < rows; ++i) shift[i] = T(i % 7);
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = T((k * 37) % 101) / 8 - T(9);  // shifted: -15 to 3.5
      std::vector<T> y = x;
      exp_shifted_rows(y.data(), rows, cols, shift.data(), sum.data());
      for (std::size_t i = 0; i < rows; ++i) {
        long double total = 2;
        for (std::size_t j = 0; j < cols; ++j) {
          const T argument = std::min(x[i + j * rows] - shift[i], T(0));
          REQUIRE(ulps(y[i + j * rows], std::exp(static_cast<long double>(argument))) <= 2);
          total += static_cast<long double>(y[i + j * rows]);
        }
        REQUIRE(std::fabs(static_cast<long double>(sum[i]) - total) <=
                (static_cast<long double>(cols) + 1) * unit<T>() * total);
      }
      REQUIRE(sum[rows] == T(2));
    }
  }
  T nothing[] = {std::numeric_limits<T>::quiet_NaN()}, zero = 0, sum = 0;
  exp_shifted_rows(nothing, 1, 1, &zero, &sum);
  CHECK(nothing[0] == 0);
}

TEST_CASE_TEMPLATE("scale_rows: rows times factors, and a product of a column and a row beside them", T, float,
                   double) {
  constexpr std::size_t cols = 3, gap = 2;
  for (std::size_t rows = 1; rows <= kMostRows; ++rows) {
    const std::size_t stride = rows + gap;
    std::vector<T> x(rows * cols), f(rows), g(rows), r = {T(2), T(-0.5), T(7)}, y(stride * cols, T(-1));
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = T((k * 37) % 101) / 8 - T(5);
    for (std::size_t i = 0; i < rows; ++i) f[i] = T(i % 7) + T(0.1), g[i] = T(1) / T(i + 1);
    const auto expected = [&](std::size_t i, std::size_t j, bool both) {
      return static_cast<long double>(f[i]) * x[i + j * rows] + (both ? static_cast<long double>(g[i]) * r[j] : 0);
    };
    for (const bool both : {false, true}) {
      scale_rows(x.data(), rows, cols, f.data(), both ? g.data() : nullptr, both ? r.data() : nullptr, y.data(),
                 stride);
      for (std::size_t j = 0; j < cols; ++j) {
        for (std::size_t i = 0; i < stride; ++i) {
          const T found = y[i + j * stride];
          // Two products of at most 6.1 x 7.6 and 7, and their sum.
          if (i < rows)
            REQUIRE(std::fabs(static_cast<long double>(found) - expected(i, j, both)) <= 3 * 54 * unit<T>());
          if (i >= rows) REQUIRE(found == T(-1));
        }
      }
    }
    scale_rows(x.data(), rows, cols, f.data(), g.data(), r.data(), y.data(), stride);
    scale_rows(x.data(), rows, cols, f.data(), g.data(), r.data(), x.data(), rows);
    for (std::size_t j = 0; j < cols; ++j) {
      for (std::size_t i = 0; i < rows; ++i) REQUIRE(x[i + j * rows] == y[i + j * stride]);  // in place
    }
  }
}

TEST_CASE_TEMPLATE("squared_distances: are sums of squared differences, for any number of rows", T, float, double) {
  const std::size_t cols = 5;
  for (const std::size_t rows : {1U, 7U, 8U, 64U, 67U}) {
    const arma::Mat<T> x = random_matrix<T>(rows, cols, Key(test_seed()).child(rows)) + T(1e5);
    const arma::Mat<T> y = random_matrix<T>(cols, 1, Key(test_seed()).child("y")) + T(1e5);
    std::vector<T> sums(rows, T(-1));
    squared_distances(x.memptr(), rows, cols, y.memptr(), sums.data());
    for (std::size_t i = 0; i < rows; ++i) {
      long double expected = 0;
      for (std::size_t c = 0; c < cols; ++c) {
        const long double gap = static_cast<long double>(x(i, c)) - y(c, 0);
        expected += gap * gap;
      }
      // A difference, its square and cols sums round.
      REQUIRE(std::abs(static_cast<double>(sums[i] - expected)) <=
              (cols + 3) * unit<T>() * static_cast<double>(expected));
    }
  }
}
