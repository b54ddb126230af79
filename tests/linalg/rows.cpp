#include <doctest/doctest.h>
#include <croquis/linalg/rows.hpp>

#include <cmath>
#include <limits>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {
constexpr arma::uword kRows = 2100, kCols = 3;  // more than two blocks of rows
}

TEST_CASE_TEMPLATE("squared_row_norms: sums of squares, row by row", T, float, double) {
  const arma::Mat<T> x = random_matrix<T>(kRows, kCols, Key(test_seed()));
  const arma::Col<T> norms = squared_row_norms(x);
  REQUIRE(norms.n_elem == kRows);
  for (arma::uword i = 0; i < kRows; ++i) {
    long double sum = 0;
    for (arma::uword j = 0; j < kCols; ++j)
      sum += static_cast<long double>(x(i, j)) * static_cast<long double>(x(i, j));
    REQUIRE(std::fabs(static_cast<double>(static_cast<long double>(norms(i)) - sum)) <=
            static_cast<double>(kCols + 1) * unit<T>() * static_cast<double>(sum));
  }
}

TEST_CASE_TEMPLATE("row_norms: also of rows whose squares overflow or vanish, and of rows of zeros", T, float, double) {
  const arma::Mat<T> x = random_matrix<T>(kRows, kCols, Key(test_seed()));
  const T half_of_range = std::sqrt(std::numeric_limits<T>::max());
  for (const T factor : {T(1), half_of_range, T(1) / half_of_range, 64 * std::numeric_limits<T>::min()}) {
    CAPTURE(factor);
    arma::Mat<T> scaled = factor * x;
    scaled.row(5).zeros();
    const arma::Col<T> norms = row_norms(scaled);
    REQUIRE(norms.n_elem == kRows);
    for (arma::uword i = 0; i < kRows; ++i) {
      long double sum = 0;  // has more exponents than any T
      for (arma::uword j = 0; j < kCols; ++j) {
        const long double entry = static_cast<long double>(scaled(i, j)) / static_cast<long double>(factor);
        sum += entry * entry;
      }
      const long double length = std::sqrt(sum) * static_cast<long double>(factor);
      REQUIRE(std::fabs(static_cast<double>((static_cast<long double>(norms(i)) - length) / factor)) <=
              static_cast<double>(kCols + 2) * unit<T>() * static_cast<double>(std::sqrt(sum)));
    }
  }
  CHECK(arma::all(row_norms(arma::Mat<T>(4, 2, arma::fill::zeros)) == 0));
  CHECK(row_norms(arma::Mat<T>(0, 2)).is_empty());
}

TEST_CASE_TEMPLATE("column_sums: column by column", T, float, double) {
  const arma::Mat<T> x = random_matrix<T>(kRows, kCols, Key(test_seed()));
  const arma::Row<T> sums = column_sums(x);
  REQUIRE(sums.n_elem == kCols);
  for (arma::uword j = 0; j < kCols; ++j) {
    long double sum = 0, size = 0;
    for (arma::uword i = 0; i < kRows; ++i) {
      sum += static_cast<long double>(x(i, j));
      size += std::fabs(static_cast<long double>(x(i, j)));
    }
    CHECK(std::fabs(static_cast<long double>(sums(j)) - sum) <= kRows * unit<T>() * size);
  }
  CHECK(column_sums(arma::Mat<T>(0, 2)).is_zero());
}

TEST_CASE_TEMPLATE("multiply_rows, divide_rows, scaled: entry by entry", T, float, double) {
  const arma::Mat<T> x = random_matrix<T>(kRows, kCols, Key(test_seed()));
  const arma::Col<T> f = arma::abs(random_matrix<T>(kRows, 1, Key(test_seed()).child("f"))) + T(0.5);
  arma::Mat<T> multiplied = x, divided = x;
  multiply_rows(multiplied, f);
  divide_rows(divided, f);
  const arma::Mat<T> tripled = scaled(x, T(3));
  for (arma::uword i = 0; i < kRows; ++i) {
    for (arma::uword j = 0; j < kCols; ++j) {
      REQUIRE(multiplied(i, j) == x(i, j) * f(i));
      REQUIRE(divided(i, j) == x(i, j) / f(i));
      REQUIRE(tripled(i, j) == 3 * x(i, j));
    }
  }
}

TEST_CASE_TEMPLATE("unit_rows: rows of length 1, a zero row stays zero, large and small ones do not overflow", T, float,
                   double) {
  arma::Mat<T> x = random_matrix<T>(5, 4, Key(test_seed()));
  x.row(1).zeros();
  x.row(2) *= std::sqrt(std::numeric_limits<T>::max());
  x.row(3) *= std::sqrt(std::numeric_limits<T>::min());
  const arma::Mat<T> u = unit_rows(x);
  for (const arma::uword i : {0U, 2U, 3U, 4U}) {
    CHECK(std::abs(static_cast<double>(arma::norm(u.row(i))) - 1) <= 10 * unit<T>());
    CHECK(arma::dot(u.row(i), x.row(i) / arma::abs(x.row(i)).max()) > 0);
  }
  CHECK(arma::all(u.row(1) == T(0)));
}

TEST_CASE("row_products, multiply_rows, divide_rows: sizes that do not fit are refused") {
  arma::mat x(3, 2, arma::fill::ones);
  CHECK(refusal([&] { row_products(x, arma::mat(3, 1)); }) ==
        "row_products: two matrices of the same size, got A.rows = 3, B.rows = 3, A.cols = 2, B.cols = 1");
  CHECK(refusal([&] { multiply_rows(x, arma::vec(2)); }) ==
        "multiply_rows: a factor for each row, got rows = 3, factors = 2");
  CHECK(refusal([&] { divide_rows(x, arma::vec(4)); }) ==
        "divide_rows: a factor for each row, got rows = 3, factors = 4");
}

TEST_CASE_TEMPLATE("unit_rows_adjoint: the part across each row over its length, and none of a zero row", T, float,
                   double) {
  arma::Mat<T> x = T(3) * random_matrix<T>(5, 4, Key(test_seed()).child("x"));
  x.row(1).zeros();
  const arma::Mat<T> g = random_matrix<T>(5, 4, Key(test_seed()).child("g")), found = unit_rows_adjoint(x, g);
  for (arma::uword i = 0; i < 5; ++i) {
    long double squares = 0, inner = 0;
    for (arma::uword c = 0; c < 4; ++c) {
      squares += static_cast<long double>(x(i, c)) * static_cast<long double>(x(i, c));
      inner += static_cast<long double>(x(i, c)) * static_cast<long double>(g(i, c));
    }
    const auto scale = static_cast<double>(arma::norm(g.row(i)) / std::sqrt(squares));
    for (arma::uword c = 0; c < 4; ++c) {
      const long double across =
          static_cast<long double>(g(i, c)) - inner / squares * static_cast<long double>(x(i, c));
      if (i == 1) {
        CHECK(found(i, c) == 0);
      } else {
        CHECK(std::abs(static_cast<double>(found(i, c) - across / std::sqrt(squares))) <= 40 * unit<T>() * scale);
      }
    }
  }
  // Neither the squares of a row nor its length overflow or vanish.
  const T size = std::ldexp(T(1), std::numeric_limits<T>::max_exponent / 2 + 5);
  for (const T factor : {size, 1 / size}) {
    CHECK(identical(unit_rows_adjoint<T>(factor * x, g), arma::Mat<T>(found / factor)));
  }
}
