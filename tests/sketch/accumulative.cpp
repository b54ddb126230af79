#include <doctest/doctest.h>
#include <croquis/random/indices.hpp>
#include <croquis/sketch/accumulative.hpp>

#include <cmath>

#include "support/capture.hpp"
#include "support/seed.hpp"
#include "support/sketch_distributions.hpp"
#include "support/sketches.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

Sampler accumulative(arma::uword n, arma::uword d, arma::uword m) {
  return sampler_of([=](const Key& key) { return AccumulativeSketch(n, d, m, key); });
}

enum class Signs { fair, none, one_an_addend };
enum class Places { with_replacement, different_in_a_column };

// The definition with other draws, and its mutants.
Sampler by_definition(arma::uword n, arma::uword d, arma::uword m, Signs signs, Places places) {
  return [=](const Key& key) {
    const Key other = key.child("by definition");
    const double scale = std::sqrt(static_cast<double>(n) / static_cast<double>(d * m));
    arma::mat s(n, d, arma::fill::zeros);
    for (arma::uword j = 0; j < d; ++j) {
      const Key column = other.child(j);
      const arma::uvec drawn = places == Places::with_replacement ? sample_with_replacement(n, m, column)
                                                                  : sample_without_replacement(n, m, column);
      for (arma::uword a = 0; a < m; ++a) {
        const std::uint32_t bits = signs == Signs::fair            ? column.child("signs").block(0)[0]
                                   : signs == Signs::one_an_addend ? other.child("signs").block(0)[0]
                                                                   : 0U;
        s(drawn(a), j) += (bits >> a & 1) == 0 ? scale : -scale;
      }
    }
    return s;
  };
}

// n = 2, d = 2, m = 2: a column is one of 16 pairs of signed indices.
MatrixDistribution law_of_two_by_two() {
  const double a = std::sqrt(0.5);  // sqrt(n / (d m))
  const std::vector<std::pair<arma::vec, double>> pick = {
      {{a, 0}, 0.25}, {{-a, 0}, 0.25}, {{0, a}, 0.25}, {{0, -a}, 0.25}};
  MatrixDistribution distribution;
  for_products(pick, 4, [&](const std::vector<arma::vec>& picks, double probability) {
    distribution.add(arma::join_rows(picks[0] + picks[1], picks[2] + picks[3]), probability);
  });
  return distribution;
}

}  // namespace

TEST_CASE_TEMPLATE("AccumulativeSketch: left, right and expand are products with dense(), repeated indices included", T,
                   float, double) {
  const Key key = Key(test_seed()).child("products");
  const arma::uword sizes[][3] = {{1, 1, 1}, {1, 4, 3}, {3, 8, 20}, {5, 5, 1}, {100, 1, 4}, {600, 20, 5}};
  for (const auto& [n, d, m] : sizes) {
    CAPTURE_BINDING(n);
    const AccumulativeSketch sketch(n, d, m, key.child(n));
    const Dense s = sketch.dense<T>();
    // Terms +-scale that may cancel: m of them in an entry of left and right, at most d m in one of expand, and m in an
    // entry of dense().
    const double scale = std::sqrt(static_cast<double>(n) / static_cast<double>(d * m));
    const auto bound = [&, &m = m](arma::uword terms, const Dense& x) {
      return (static_cast<double>(terms + m) + 6) * unit<T>() * static_cast<double>(terms) * scale *
             static_cast<double>(largest_entry_of(x));
    };
    const arma::Mat<T> tall = random_matrix<T>(n, 5, key.child("tall")),
                       wide = random_matrix<T>(5, n, key.child("wide")),
                       small = random_matrix<T>(d, 5, key.child("small"));
    CHECK(distance(sketch.left(tall), transposed(s) * tall) <= bound(m, tall));
    CHECK(distance(sketch.right(wide), Dense(wide) * s) <= bound(m, wide));
    CHECK(distance(sketch.expand(small), s * small) <= bound(d * m, small));
  }
}

TEST_CASE("AccumulativeSketch: a column holds m units of sqrt(n / (d m)), cancelled or not") {
  const arma::uword n = 50, d = 30, m = 7;
  const arma::mat s = AccumulativeSketch(n, d, m, Key(test_seed()).child("units")).dense<double>();
  const arma::mat units = s / std::sqrt(50.0 / 210);
  CHECK(distance(units, arma::round(units)) <= 64 * unit<double>());
  for (arma::uword j = 0; j < d; ++j) {
    const auto total = static_cast<int>(std::lround(arma::accu(arma::abs(units.col(j)))));
    CHECK(total <= 7);
    CHECK(total % 2 == 1);
  }
}

TEST_CASE("AccumulativeSketch: E[S S^T] = I in every entry, and mutants are rejected") {
  // e_a = r_a [i_a = i]. Of a column, times n/(d m): on the diagonal (sum_a e_a)^2, mean m/n, variance
  // m/n + 3 m (m - 1)/n^2 - m^2/n^2, at most m^2; off it (sum_a e_a)(sum_a e'_a), variance m (m - 1)/n^2, at most
  // m^2/4. Of d columns: the mean of d, with variance 1/d of it.
  constexpr double n = 7, d = 3, m = 4;
  constexpr std::uint64_t trials = 20000;
  constexpr double scale = n / (d * m);
  const double diagonal = scale * scale * d * (m / n + 3 * m * (m - 1) / (n * n) - m * m / (n * n));
  const SecondMoment moment(7, diagonal, n * m - 1, (m - 1) / (d * m), n * m / 4);
  CHECK(detectable(diagonal, n * m - 1, 28, trials) < 0.065);
  CHECK(detectable((m - 1) / (d * m), n * m / 4, 28, trials) < 0.03);
  const auto accepts = [&](const Sampler& sampler) { return second_moment_is_identity(sampler, moment, trials); };
  const Sampler sampler = accumulative(7, 3, 4);
  CHECK(accepts(sampler));
  CHECK(accepts(by_definition(7, 3, 4, Signs::fair, Places::with_replacement)));
  CHECK_FALSE(accepts(by_definition(7, 3, 4, Signs::none, Places::with_replacement)));
  CHECK_FALSE(accepts(scaled(sampler, 2)));                 // no 1/sqrt(m)
  CHECK_FALSE(accepts(scaled(sampler, 0.5)));               // 1/m
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(1 / n))));  // no sqrt(n)
  CHECK_FALSE(accepts(scaled(accumulative(7, 3, 1), 2)));   // the same addend m times
  CHECK_FALSE(accepts(one_sign_key_for_all_rows(sampler)));
  CHECK_FALSE(accepts(mutant(sampler, [](arma::mat& s) { s.row(0).zeros(); })));
}

TEST_CASE("AccumulativeSketch: the joint distribution of a 2 x 2 sketch of two addends, and mutants are rejected") {
  // A column is one of nine vectors; the rarest pairs have probability 1/256: 156 draws, deviation 12.5; off by 55 % is
  // seen half of the time (6.8 deviations).
  const MatrixDistribution distribution = law_of_two_by_two();
  const auto accepts = [&](const Sampler& sampler) { return distribution.is_distribution_of(sampler, 40000); };
  const Sampler sampler = accumulative(2, 2, 2);
  CHECK(accepts(sampler));
  CHECK(accepts(by_definition(2, 2, 2, Signs::fair, Places::with_replacement)));
  CHECK_FALSE(accepts(by_definition(2, 2, 2, Signs::none, Places::with_replacement)));
  CHECK_FALSE(accepts(by_definition(2, 2, 2, Signs::one_an_addend, Places::with_replacement)));  // E[S S^T] is I still
  CHECK_FALSE(accepts(by_definition(2, 2, 2, Signs::fair, Places::different_in_a_column)));
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(2.0))));
  CHECK_FALSE(accepts(first_row_without_sign(sampler)));
  CHECK_FALSE(accepts(last_row_without_sign(sampler)));
  CHECK_FALSE(accepts(one_sign_key_for_all_columns(sampler)));
  CHECK_FALSE(accepts(one_sign_key_for_all_rows(sampler)));
  CHECK_FALSE(accepts(seed_that_does_not_reach_the_draw(sampler)));
}

TEST_CASE("AccumulativeSketch: one addend is +-sqrt(n/d) at a uniform index; entries are fair, mutants rejected") {
  // 10,000 keys, an entry is there with probability 1/20: 500 times, deviation 22; off by 32 % is seen half of the
  // time (7.2 deviations).
  const Sampler sampler = accumulative(20, 10, 1);
  CHECK(entries_follow(sampler, 0.05, 10000));
  CHECK_FALSE(entries_follow(first_row_without_sign(sampler), 0.05, 10000));
  CHECK_FALSE(entries_follow(last_row_without_sign(sampler), 0.05, 10000));
}

TEST_CASE("AccumulativeSketch: keys of other names are independent, and mutants are rejected") {
  const MatrixDistribution distribution = law_of_two_by_two();
  const Sampler sampler = accumulative(2, 2, 2);
  CHECK(distribution.holds_across_keys(sampler, 20000));
  CHECK_FALSE(distribution.holds_across_keys(seed_that_does_not_reach_the_draw(sampler), 20000));
  CHECK_FALSE(distribution.holds_across_keys(seed_that_does_not_reach_the_first_column(sampler), 20000));
}

TEST_CASE_TEMPLATE("AccumulativeSketch: the same bits for any number of threads", T, float, double) {
  check_thread_counts<T>(AccumulativeSketch(1000, 500, 20, Key(test_seed()).child("threads")), Key(test_seed()));
}

TEST_CASE("AccumulativeSketch: wrong sizes are refused") {
  CHECK(refusal([] { AccumulativeSketch(5, 3, 0, Key(1)); }) ==
        "AccumulativeSketch: 1 <= n < 2^32, d >= 1, m >= 1, got n = 5, d = 3, m = 0");
  CHECK(contains(refusal([] { AccumulativeSketch(5, 0, 1, Key(1)); }), "got n = 5, d = 0, m = 1"));
  CHECK(contains(refusal([] { AccumulativeSketch(0, 3, 1, Key(1)); }), "got n = 0, d = 3, m = 1"));
  // d m is 2^64.
  const AccumulativeSketch many(5, 2, arma::uword{1} << 63, Key(1));
  CHECK(contains(refusal([&] { many.left(arma::mat(5, 1)); }), "AccumulativeSketch: needs"));
  check_refusals(AccumulativeSketch(5, 3, 2, Key(1)));
}
