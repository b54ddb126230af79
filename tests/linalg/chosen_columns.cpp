#include <doctest/doctest.h>
#include <croquis/linalg/chosen_columns.hpp>

#include <cmath>
#include <vector>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"

using namespace croquis;

// Row counts around the lanes of all vectors (16 floats, 8 doubles), their doubles and fourfolds; a repeated index.
TEST_CASE_TEMPLATE("dots, weighted_sum: as the loops of the definition, and nothing beyond is touched", T, float,
                   double) {
  const std::vector<std::uint32_t> index = {4, 0, 4, 9, 1, 7, 7, 2, 3};
  const arma::Mat<T> weights = random_matrix<T>(index.size(), 1, Key(test_seed()).child("weights"));
  for (arma::uword rows = 0; rows <= 140; ++rows) {
    CAPTURE(rows);
    const arma::Mat<T> m = random_matrix<T>(rows, 10, Key(test_seed()).child(rows));
    const arma::Mat<T> x = random_matrix<T>(rows, 1, Key(test_seed()).child("x"));
    for (std::size_t count = 0; count <= index.size(); ++count) {
      std::vector<T> out(index.size() + 1, T(-7));
      dots(x.memptr(), m.memptr(), rows, index.data(), count, out.data());
      for (std::size_t e = 0; e < out.size(); ++e) {
        long double exact = e < count ? 0 : -7;
        for (arma::uword i = 0; e < count && i < rows; ++i) {
          exact += static_cast<long double>(x(i)) * static_cast<long double>(m(i, index[e]));
        }
        // Entries below 6: a rounding of at most 36 rows for every term.
        REQUIRE(std::fabs(static_cast<long double>(out[e]) - exact) <= 36.0L * rows * (rows + 1) * unit<T>());
      }
      std::vector<T> sum(rows + 1, T(-7));
      weighted_sum(weights.memptr(), m.memptr(), rows, index.data(), count, sum.data());
      CHECK(sum[rows] == T(-7));
      for (arma::uword i = 0; i < rows; ++i) {
        long double exact = 0;
        for (std::size_t e = 0; e < count; ++e)
          exact += static_cast<long double>(weights(e)) * static_cast<long double>(m(i, index[e]));
        REQUIRE(std::fabs(static_cast<long double>(sum[i]) - exact) <= 36.0L * 30 * unit<T>());
      }
    }
  }
}

TEST_CASE_TEMPLATE("squared_norms: as the loop of the definition, and nothing beyond is touched", T, float, double) {
  for (arma::uword rows = 0; rows <= 70; ++rows) {
    const arma::Mat<T> m = random_matrix<T>(rows, 9, Key(test_seed()).child(rows));
    for (std::size_t count = 0; count <= 9; ++count) {
      std::vector<T> norms(count + 1, T(-7));
      squared_norms(m.memptr(), rows, count, norms.data());
      CHECK(norms[count] == T(-7));
      for (std::size_t e = 0; e < count; ++e) {
        long double exact = 0;
        for (arma::uword i = 0; i < rows; ++i)
          exact += static_cast<long double>(m(i, e)) * static_cast<long double>(m(i, e));
        REQUIRE(std::fabs(static_cast<long double>(norms[e]) - exact) <= 36.0L * rows * (rows + 1) * unit<T>());
      }
    }
  }
}
