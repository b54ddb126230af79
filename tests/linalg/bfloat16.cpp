#include <doctest/doctest.h>
#include <bit>
#include <cmath>
#include <croquis/linalg/bfloat16.hpp>
#include <limits>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

float widened(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// x rounded to 8 significant bits by arithmetic: nearbyint rounds to nearest, ties to even.
float rounded(float x) {
  if (x == 0) return x;
  int exponent = 0;
  const double fraction = std::frexp(static_cast<double>(x), &exponent);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8));
}

}  // namespace

TEST_CASE("bfloat16: rounding is to nearest, ties to even, within 2^-8") {
  const arma::fmat x = random_matrix<float>(37, 40, Key(test_seed()).child("bfloat16 rounding"));
  arma::fmat all = arma::join_rows(x, 1e-30f * x, 1e30f * x);
  // Ties: halves of the last of 8 bits, odd and even, and their neighbours.
  for (int i = 0; i < 37; ++i) {
    const float tie = 1 + static_cast<float>(2 * i + 1) * 0x1p-8f;
    all(static_cast<arma::uword>(i), 0) = tie;
    all(static_cast<arma::uword>(i), 1) = -std::nextafter(tie, 2.0f);
    all(static_cast<arma::uword>(i), 2) = std::nextafter(tie, 0.0f);
  }
  const Bfloat16Columns columns = bfloat16_columns(all.memptr(), all.n_rows, all.n_cols);
  CHECK(columns.stride == 38);
  for (arma::uword j = 0; j < all.n_cols; ++j) {
    for (arma::uword i = 0; i < all.n_rows; ++i) {
      const float found = widened(columns.column(j)[i]);
      CHECK(found == rounded(all(i, j)));
      CHECK(std::fabs(found - all(i, j)) <= kBfloat16Roundoff * static_cast<double>(std::fabs(all(i, j))));
    }
    CHECK(columns.column(j)[37] == 0);
  }
  for (const float e : all) CHECK(rounded_to_bfloat16(static_cast<double>(e)) == static_cast<double>(rounded(e)));
  CHECK(rounded_to_bfloat16(1e300) == doctest::Approx(1e300).epsilon(kBfloat16Roundoff));
  CHECK(rounded_to_bfloat16(0) == 0);
}

TEST_CASE("bfloat16: products against dense sums of the rounded entries") {
  const Key draw_key = Key(test_seed()).child("bfloat16 products");
  for (const std::size_t m : {1U, 15U, 16U, 33U, 64U, 65U, 127U, 130U}) {
    for (const std::size_t n : {1U, 2U, 5U, 6U, 13U}) {
      for (const std::size_t k : {1U, 2U, 7U, 128U, 129U, 300U}) {
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        const Key key = draw_key.child(m).child(n).child(k);
        const arma::fmat a = random_matrix<float>(m + 3, k, key.child("a")),
                         b = random_matrix<float>(k, n, key.child("b"));
        const Bfloat16Columns columns = bfloat16_columns(b.memptr(), k, n);
        arma::fmat c(m, n, arma::fill::value(std::numeric_limits<float>::quiet_NaN()));
        bfloat16_product(m, n, k, a.memptr() + 2, m + 3, columns.column(0), columns.stride, c.memptr());
        double worst = 0;
        for (std::size_t i = 0; i < m; ++i) {
          for (std::size_t j = 0; j < n; ++j) {
            double sum = 0, sizes = 0;
            for (std::size_t t = 0; t < k; ++t) {
              const double term = static_cast<double>(rounded(a(i + 2, t))) * static_cast<double>(rounded(b(t, j)));
              sum += term;
              sizes += std::fabs(term);
            }
            // k + 1 additions in float, each with an error of at most half an epsilon of the sizes so far.
            const double bound = static_cast<double>(k + 1) * 0x1p-24 * 1.001;
            raise(worst, std::fabs(static_cast<double>(c(i, j)) - sum) / (bound * sizes));
          }
        }
        CHECK(worst <= 1);
      }
    }
  }
}

TEST_CASE("bfloat16: a row does not depend on the others, nor on what follows an odd number of terms") {
  const Key draw_key = Key(test_seed()).child("bfloat16 rows");
  const arma::fmat a = random_matrix<float>(100, 33, draw_key.child("a")),
                   b = random_matrix<float>(34, 7, draw_key.child("b"));
  const Bfloat16Columns columns = bfloat16_columns(b.memptr(), 34, 7);
  arma::fmat all(100, 7), one(1, 7);
  bfloat16_product(100, 7, 33, a.memptr(), 100, columns.column(0), columns.stride, all.memptr());
  for (const arma::uword i : {0U, 40U, 63U, 64U, 99U}) {
    bfloat16_product(1, 7, 33, a.memptr() + i, 100, columns.column(0), columns.stride, one.memptr());
    CHECK(arma::approx_equal(one, arma::fmat(all.row(i)), "absdiff", 0));
  }
  const arma::fmat without = b.head_rows(33);
  const Bfloat16Columns odd = bfloat16_columns(without.memptr(), 33, 7);
  arma::fmat same(100, 7);
  bfloat16_product(100, 7, 33, a.memptr(), 100, odd.column(0), odd.stride, same.memptr());
  CHECK(arma::approx_equal(same, all, "absdiff", 0));
}
