#include <doctest/doctest.h>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sketch/sjlt.hpp>

#include <cmath>
#include <vector>

#include "support/capture.hpp"
#include "support/seed.hpp"
#include "support/sketch_distributions.hpp"
#include "support/sketches.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

Sampler sjlt(arma::uword n, arma::uword d, arma::uword s) {
  return sampler_of([=](const Key& key) { return SjltSketch(n, d, s, key); });
}

// Columns drawn with replacement: those that meet add up.
Sampler sjlt_with_replacement(arma::uword n, arma::uword d, arma::uword s) {
  return [=](const Key& key) {
    arma::mat m(n, d, arma::fill::zeros);
    for (arma::uword i = 0; i < n; ++i) {
      const arma::uvec columns = sample_with_replacement(d, s, key.child(i));
      const std::uint32_t signs = key.child(i).child("signs").block(0)[0];
      for (arma::uword t = 0; t < s; ++t) {
        m(i, columns(t)) += ((signs >> t & 1) == 0 ? 1 : -1) / std::sqrt(static_cast<double>(s));
      }
    }
    return m;
  };
}

using RowDistribution = std::vector<std::pair<arma::rowvec, double>>;

MatrixDistribution two_rows(const RowDistribution& row) {
  MatrixDistribution distribution;
  for_products(row, 2, [&](const std::vector<arma::rowvec>& rows, double probability) {
    distribution.add(arma::join_cols(rows[0], rows[1]), probability);
  });
  return distribution;
}

// d = 3, s = 2: the zero at one of three places, four pairs of signs.
MatrixDistribution law_of_two_of_three() {
  RowDistribution row;
  const double a = 1 / std::sqrt(2.0);
  for (const double x : {a, -a}) {
    for (const double y : {a, -a}) {
      row.push_back({{0, x, y}, 1.0 / 12});
      row.push_back({{x, 0, y}, 1.0 / 12});
      row.push_back({{x, y, 0}, 1.0 / 12});
    }
  }
  return two_rows(row);
}

// d = 3, s = 1: +-1 at one of three places.
MatrixDistribution law_of_count_sketch() {
  RowDistribution row;
  for (const double x : {1.0, -1.0}) {
    row.push_back({{x, 0, 0}, 1.0 / 6});
    row.push_back({{0, x, 0}, 1.0 / 6});
    row.push_back({{0, 0, x}, 1.0 / 6});
  }
  return two_rows(row);
}

}  // namespace

TEST_CASE_TEMPLATE("SjltSketch: left, right and expand are products with dense()", T, float, double) {
  const Key key = Key(test_seed()).child("products");
  const arma::uword sizes[][3] = {{1, 1, 1}, {1, 4, 2}, {3, 8, 8}, {5, 5, 1}, {100, 1, 1}, {600, 20, 4}, {1025, 7, 3}};
  for (const auto& [n, d, s] : sizes) {
    CAPTURE_BINDING(n);
    check_products<T>(SjltSketch(n, d, s, key.child(n)), key.child("operands"));
  }
}

TEST_CASE("SjltSketch: a row has s entries +-1/sqrt(s) at different columns") {
  for (const arma::uword s : {1U, 3U, 9U}) {
    const arma::mat m = SjltSketch(1500, 9, s, Key(test_seed()).child(s)).dense<double>();
    const double entry = 1 / std::sqrt(static_cast<double>(s));
    for (arma::uword i = 0; i < m.n_rows; ++i) {
      REQUIRE(arma::accu(m.row(i) != 0) == s);
      REQUIRE(arma::accu(arma::abs(m.row(i)) == entry) == s);
    }
  }
}

TEST_CASE("SjltSketch: row i is made of the words i s ... i s + s - 1 alone, in every block of rows") {
  constexpr arma::uword n = 2100, d = 7, s = 3;
  const Key key = Key(test_seed()).child("words");
  arma::mat expected(n, d, arma::fill::zeros);
  for (arma::uword i = 0; i < n; ++i) {
    std::vector<std::uint64_t> words(s);
    fill_words(key, i * s, s, words.data());
    std::vector<arma::uword> left = {0, 1, 2, 3, 4, 5, 6};
    for (const std::uint64_t word : words) {
      arma::uword& drawn = left[place_of(word, left.size())];
      expected(i, drawn) = (is_negative(word) ? -1 : 1) / std::sqrt(3.0);
      drawn = left.front();
      left.erase(left.begin());
    }
  }
  CHECK(identical(SjltSketch(n, d, s, key).dense<double>(), expected));
}

TEST_CASE("SjltSketch: E[S S^T] = I in every entry, and mutants are rejected") {
  // Two rows meet in H columns, hypergeometric with mean s^2/d; off the diagonal H fair signs over s: variance
  // (s^2/d) / s^2 = 1/d, size at most 1. On it exactly 1.
  constexpr arma::uword n = 13, d = 6, s = 3;
  constexpr std::uint64_t trials = 20000;
  const SecondMoment moment(n, 0, 0, 1.0 / d, 1);
  CHECK(detectable(1.0 / d, 1, 91, trials) < 0.022);
  const auto accepts = [&](const Sampler& sampler) { return second_moment_is_identity(sampler, moment, trials); };
  const Sampler sampler = sjlt(n, d, s);
  CHECK(accepts(sampler));
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(double{s}))));      // no scale
  CHECK_FALSE(accepts(scaled(sampler, 1 / std::sqrt(double{s}))));  // 1/s
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(double{s} / d))));  // 1/sqrt(d)
  CHECK_FALSE(accepts(one_sign_key_for_all_rows(sampler)));
  CHECK_FALSE(accepts(sjlt_with_replacement(n, d, s)));
  CHECK_FALSE(accepts(mutant(sampler, [](arma::mat& m) { m.row(0).zeros(); })));
}

TEST_CASE("SjltSketch: the joint distribution of two rows, s = 2 and s = 1, and mutants are rejected") {
  // 144 matrices, 208 draws each, deviation 14.4: half of the distributions with a probability off by 50 % are rejected
  // (7.1 deviations); 36 matrices, 833 draws, off by 24 %.
  const std::pair<MatrixDistribution, Sampler> cases[] = {{law_of_two_of_three(), sjlt(2, 3, 2)},
                                                          {law_of_count_sketch(), sjlt(2, 3, 1)}};
  for (const auto& [distribution, sampler] : cases) {
    const std::uint64_t trials = 30000;
    CHECK(distribution.is_distribution_of(sampler, trials));
    CHECK_FALSE(distribution.is_distribution_of(scaled(sampler, std::sqrt(2.0)), trials));
    CHECK_FALSE(distribution.is_distribution_of(first_row_without_sign(sampler), trials));
    CHECK_FALSE(distribution.is_distribution_of(last_row_without_sign(sampler), trials));
    CHECK_FALSE(distribution.is_distribution_of(one_sign_key_for_all_rows(sampler), trials));
    CHECK_FALSE(distribution.is_distribution_of(seed_that_does_not_reach_the_draw(sampler), trials));
    CHECK_FALSE(distribution.is_distribution_of(mutant(sampler, [](arma::mat& m) { m.row(1) = m.row(0); }), trials));
  }
  const MatrixDistribution distribution = law_of_two_of_three();
  CHECK_FALSE(distribution.is_distribution_of(sjlt_with_replacement(2, 3, 2), 30000));
  CHECK_FALSE(distribution.is_distribution_of(sjlt(2, 3, 1), 30000));
  CHECK_FALSE(distribution.is_distribution_of(mutant(sjlt(2, 3, 2),  // one sign for all entries of a row
                                                     [](arma::mat& m) {
                                                       for (arma::uword i = 0; i < 2; ++i) {
                                                         const double sign = arma::accu(m.row(i)) < 0 ? -1 : 1;
                                                         m.row(i) = sign * arma::abs(m.row(i));
                                                       }
                                                     }),
                                              30000));
}

TEST_CASE("SjltSketch: every entry is there with probability s/d and fair, and mutants are rejected") {
  // 4,000 keys, 1,714 nonzeros an entry, deviation 31; off by 13 % is seen half of the time (7.2 deviations).
  const double p = 3.0 / 7;
  const Sampler sampler = sjlt(60, 7, 3);
  CHECK(entries_follow(sampler, p, 4000));
  CHECK_FALSE(entries_follow(first_row_without_sign(sampler), p, 4000));
  CHECK_FALSE(entries_follow(last_row_without_sign(sampler), p, 4000));
  CHECK_FALSE(entries_follow(mutant(sampler,  // the last column is never drawn
                                    [](arma::mat& m) {
                                      m.col(0) += m.col(6);
                                      m.col(6).zeros();
                                    }),
                             p, 4000));
}

TEST_CASE("SjltSketch: rows of a long draw are independent, and mutants are rejected") {
  // 6,000 rows; generated 1,024 at a time, from two words a block. A mutant that repeats them has p at that lag in the
  // place of p^2: 1,200 of 3,000 pairs, not 480.
  const std::vector<arma::uword> lags = {1, 2, 3, 64, 1024};
  const Key key = Key(test_seed()).child("long");
  const Sampler sampler = sjlt(6000, 5, 2);
  CHECK(long_draw_follows(sampler, key, 0.4, lags));
  CHECK_FALSE(long_draw_follows(one_sign_key_for_all_columns(sampler), key, 0.4, lags));
  for (const arma::uword period : {1U, 1024U}) {
    const Sampler periodic = mutant(sampler, [period](arma::mat& s) {
      for (arma::uword i = period; i < s.n_rows; ++i) s.row(i) = s.row(i % period);
    });
    CHECK_FALSE(long_draw_follows(periodic, key, 0.4, lags));
  }
}

TEST_CASE("SjltSketch: keys of other names are independent, and mutants are rejected") {
  // Equal pairs: 20,000 / 144 = 139, deviation 12. With shared places 20,000 / 16.
  const MatrixDistribution distribution = law_of_two_of_three();
  const Sampler sampler = sjlt(2, 3, 2);
  CHECK(distribution.holds_across_keys(sampler, 20000));
  CHECK_FALSE(distribution.holds_across_keys(seed_that_does_not_reach_the_draw(sampler), 20000));
  const Sampler shared_places = [&](const Key& key) {
    const arma::mat places = arma::abs(sampler(Key(test_seed())));
    const std::uint32_t bits = key.block(0)[0];
    arma::mat signs(2, 3);
    for (arma::uword e = 0; e < 6; ++e) signs(e) = (bits >> e & 1) == 0 ? 1 : -1;
    return arma::mat(places % signs);
  };
  CHECK_FALSE(distribution.holds_across_keys(shared_places, 20000));
}

TEST_CASE_TEMPLATE("SjltSketch: the same bits for any number of threads", T, float, double) {
  check_thread_counts<T>(SjltSketch(5000, 24, 5, Key(test_seed()).child("threads")), Key(test_seed()));
}

TEST_CASE("SjltSketch: wrong sizes are refused") {
  CHECK(refusal([] { SjltSketch(5, 3, 4, Key(1)); }) ==
        "SjltSketch: n >= 1, 1 <= s <= d < 2^32, got n = 5, d = 3, s = 4");
  CHECK(contains(refusal([] { SjltSketch(5, 3, 0, Key(1)); }), "got n = 5, d = 3, s = 0"));
  CHECK(contains(refusal([] { SjltSketch(0, 3, 1, Key(1)); }), "got n = 0, d = 3, s = 1"));
  CHECK(contains(refusal([] { SjltSketch(5, 0, 0, Key(1)); }), "got n = 5, d = 0, s = 0"));
  CHECK(contains(refusal([] { SjltSketch(5, arma::uword{1} << 32, 1, Key(1)); }), "d = 4294967296"));
  // n s is 2^64.
  const SjltSketch long_sketch(arma::uword{1} << 62, 8, 4, Key(1));
  CHECK(contains(refusal([&] { long_sketch.expand(arma::mat(8, 1)); }), "SjltSketch: needs"));
  check_refusals(SjltSketch(5, 3, 2, Key(1)));
}
