#include <doctest/doctest.h>
#include <croquis/nystrom/segment_means.hpp>

#include <vector>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("segment_means: any n and d, the first n mod d segments one row longer", T, float, double) {
  const Key draw_key = Key(test_seed()).child("means");
  for (arma::uword n = 1; n <= 13; ++n) {
    const arma::Mat<T> x = random_matrix<T>(n, 3, draw_key.child(n));
    for (arma::uword d = 1; d <= n; ++d) {
      // Row by row: a segment is full when it has its n / d rows, or one more while longer ones are owed.
      Dense sums(d, 3);
      std::vector<arma::uword> sizes(d);
      arma::uword segment = 0, owed = n - d * (n / d);
      for (arma::uword i = 0; i < n; ++i) {
        for (arma::uword c = 0; c < 3; ++c) sums(segment, c) += static_cast<long double>(x(i, c));
        ++sizes[segment];
        const bool longer = owed > 0;
        if (sizes[segment] == n / d + (longer ? 1 : 0)) {
          ++segment;
          owed -= longer ? 1 : 0;
        }
      }
      REQUIRE(segment == d);  // all rows are in a segment, and the last is full
      for (arma::uword s = 0; s < d; ++s) {
        for (arma::uword c = 0; c < 3; ++c) sums(s, c) /= static_cast<long double>(sizes[s]);
      }
      // A sum of at most 13 entries below 7, and a quotient.
      CHECK(distance(segment_means(x, d), sums) <= 14 * 7 * unit<T>());
    }
  }
}

TEST_CASE_TEMPLATE("segment_means: d = n gives the rows themselves, d = 1 their mean", T, float, double) {
  const arma::Mat<T> x = random_matrix<T>(9, 4, Key(test_seed()).child("ends"));
  CHECK(identical(segment_means(x, 9), x));
  CHECK(distance(segment_means(x, 1), arma::mean(x, 0)) <= 2 * 10 * 7 * unit<T>());
}

TEST_CASE("segment_means: more segments than rows and none are refused") {
  const arma::mat x(5, 2, arma::fill::ones);
  CHECK(refusal([&] { segment_means(x, 6); }) == "segment_means: 1 <= d <= n, got d = 6, n = 5");
  CHECK(contains(refusal([&] { segment_means(x, 0); }), "got d = 0"));
}

TEST_CASE_TEMPLATE("spread_segments: the adjoint of segment_means, for any n and d", T, float, double) {
  const Key draw_key = Key(test_seed()).child("adjoint");
  for (arma::uword n = 1; n <= 13; ++n) {
    const arma::Mat<T> identity(n, n, arma::fill::eye);
    for (arma::uword d = 1; d <= n; ++d) {
      const arma::Mat<T> x = random_matrix<T>(d, 3, draw_key.child(n).child(d));
      // The matrix of the means, transposed. A product with one entry of 1 / length, rounded once more.
      CHECK(distance(spread_segments(x, n), transposed(Dense(segment_means(identity, d))) * Dense(x)) <=
            4 * 7 * unit<T>());
    }
  }
  CHECK(contains(refusal([] { spread_segments(arma::mat(6, 2, arma::fill::ones), 5); }), "got d = 6, n = 5"));
}
