#include <doctest/doctest.h>
#include <croquis/inputs/biases.hpp>

#include <cmath>
#include <limits>
#include <set>

#include "support/dense.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE("alibi_bias: falls by the slope a token on either side") {
  CHECK(identical(alibi_bias(4, 0.5), arma::mat(arma::vec{-1.5, -1, -0.5, 0, -0.5, -1, -1.5})));
  CHECK(alibi_bias(1, 0.5).n_elem == 1);
  CHECK(contains(refusal([] { alibi_bias(0, 1); }), "n >= 1"));
  CHECK(contains(refusal([] { alibi_bias(3, std::nan("")); }), "a finite slope"));
  CHECK(contains(refusal([] { alibi_bias(5, -1e308); }), "also n - 1 times it, got slope = -1e+308, n = 5"));
  CHECK(alibi_bias(2, 1e308)(0) == -1e308);
}

TEST_CASE("t5_bias: buckets of T5's encoder with 32 buckets and distance 128") {
  // Bucket of a distance as T5's relative_position_bucket gives it (bidirectional): one each below 8, then by
  // logarithm.
  const auto bucket = [](int t) {
    const int side = t > 0 ? 16 : 0, distance = std::abs(t);
    if (distance < 8) return side + distance;
    const int steps = static_cast<int>(std::log(distance / 8.0) / std::log(128.0 / 8.0) * 8);
    return side + std::min(8 + steps, 15);
  };
  const arma::uword n = 300;
  const arma::vec b = t5_bias(n, {32, 128, 1.5}, Key(test_seed()));
  for (int i = 0; i < 599; ++i) {
    for (int j = 0; j < 599; j += 7) {
      const bool same = b(static_cast<arma::uword>(i)) == b(static_cast<arma::uword>(j));
      REQUIRE(same == (bucket(i - 299) == bucket(j - 299)));
    }
  }
  // bucket 16 stands for t > 0 at distance 0, which there is none of
  CHECK(std::set<double>(b.begin(), b.end()).size() == 31);
  CHECK(identical(arma::mat(2 * t5_bias(n, {32, 128, 1}, Key(1))), arma::mat(t5_bias(n, {32, 128, 2}, Key(1)))));
  CHECK(identical(arma::mat(t5_bias(100, {32, 128, 1}, Key(1))),
                  arma::mat(t5_bias(n, {32, 128, 1}, Key(1)).subvec(200, 398))));
  for (const int buckets : {2, 3, 5}) {
    CHECK(contains(refusal([&] { t5_bias(4, {buckets, 128, 1}, Key(1)); }), "an even number of buckets"));
  }
  CHECK(contains(refusal([] { t5_bias(4, {32, 8, 1}, Key(1)); }), "max_distance > buckets / 4"));
  CHECK(contains(refusal([] { t5_bias(4, {32, 128, -1}, Key(1)); }), "sigma >= 0 and finite"));
}

TEST_CASE("random_bias: independent N(0, sigma^2), and a longer one has the shorter one in its middle") {
  const arma::vec b = random_bias(20000, 3, Key(test_seed()).child("bias")) / 3;
  CHECK(sample_is_normal({b.begin(), b.end()}, 1e-9));
  std::vector<double> before, after;
  for (arma::uword t = 1; t < 20000; ++t) {
    before.push_back(b(19999 - t));
    after.push_back(b(19999 + t));
  }
  CHECK(samples_are_uncorrelated(before, after, 1e-9));
  CHECK(identical(arma::mat(random_bias(7, 1, Key(2))), arma::mat(random_bias(50, 1, Key(2)).subvec(43, 55))));
  CHECK(random_bias(3, 0, Key(2)).is_zero());
  for (const double sigma : {-1.0, std::numeric_limits<double>::infinity()}) {
    CHECK(contains(refusal([&] { random_bias(3, sigma, Key(2)); }), "sigma >= 0 and finite"));
  }
}
