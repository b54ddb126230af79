#include <doctest/doctest.h>
#include <croquis/sketch/rademacher.hpp>

#include <cmath>

#include "support/capture.hpp"
#include "support/seed.hpp"
#include "support/sketch_distributions.hpp"
#include "support/sketches.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

Sampler rademacher(arma::uword n, arma::uword d) {
  return sampler_of([n, d](const Key& key) { return RademacherSketch(n, d, key); });
}

// All 2^(n d) matrices of signs, equally likely.
MatrixDistribution law_of_signs(arma::uword n, arma::uword d) {
  MatrixDistribution distribution;
  const std::vector<std::pair<double, double>> sign = {{1, 0.5}, {-1, 0.5}};
  for_products(sign, n * d, [&](const std::vector<double>& signs, double probability) {
    distribution.add(arma::reshape(arma::vec(signs), n, d) / std::sqrt(static_cast<double>(d)), probability);
  });
  return distribution;
}

}  // namespace

TEST_CASE_TEMPLATE("RademacherSketch: left, right and expand are products with dense()", T, float, double) {
  const Key key = Key(test_seed()).child("products");
  const std::pair<arma::uword, arma::uword> sizes[] = {{1, 1}, {1, 4}, {3, 8}, {5, 5}, {127, 3}, {256, 5}, {600, 3}};
  for (const auto& [n, d] : sizes) {
    CAPTURE_BINDING(n);
    check_products<T>(RademacherSketch(n, d, key.child(n)), key.child("operands"));
  }
}

TEST_CASE("RademacherSketch: E[S S^T] = I in every entry, and mutants are rejected") {
  // Off the diagonal the mean of d products of signs, variance 1/d, size at most 1; on it exactly 1.
  constexpr arma::uword n = 13, d = 6;
  constexpr std::uint64_t trials = 20000;
  const SecondMoment moment(n, 0, 0, 1.0 / d, 1);
  CHECK(detectable(1.0 / d, 1, 91, trials) < 0.022);
  const auto accepts = [&](const Sampler& sampler) { return second_moment_is_identity(sampler, moment, trials); };
  const Sampler sampler = rademacher(n, d);
  CHECK(accepts(sampler));
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(6.0))));      // no scale
  CHECK_FALSE(accepts(scaled(sampler, 1 / std::sqrt(6.0))));  // 1/d
  CHECK_FALSE(accepts(one_sign_key_for_all_rows(sampler)));
  CHECK_FALSE(accepts(mutant(sampler, [](arma::mat& s) { s.row(0).zeros(); })));
  CHECK_FALSE(accepts(mutant(sampler, [](arma::mat& s) { s.tail_rows(1) = s.row(0); })));
}

TEST_CASE("RademacherSketch: all matrices of signs are equally likely, and mutants are rejected") {
  // 64 matrices, 312 draws each, deviation 17.5: half of the distributions with a probability off by 40 % are rejected
  // (6.9 deviations). Every mutant never draws half of the matrices or more, or draws others.
  const MatrixDistribution distribution = law_of_signs(3, 2);
  const auto accepts = [&](const Sampler& sampler) { return distribution.is_distribution_of(sampler, 20000); };
  const Sampler sampler = rademacher(3, 2);
  CHECK(accepts(sampler));
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(2.0))));
  CHECK_FALSE(accepts(first_row_without_sign(sampler)));
  CHECK_FALSE(accepts(last_row_without_sign(sampler)));
  CHECK_FALSE(accepts(one_sign_key_for_all_columns(sampler)));
  CHECK_FALSE(accepts(one_sign_key_for_all_rows(sampler)));
  CHECK_FALSE(accepts(seed_that_does_not_reach_the_draw(sampler)));
}

TEST_CASE("RademacherSketch: every entry is fair over the keys, and mutants are rejected") {
  // 2,000 keys, deviation 22: one in two entries with P(+) = 0.58 is rejected (7.2 deviations).
  const Sampler sampler = rademacher(300, 3);
  CHECK(entries_follow(sampler, 1, 2000));
  CHECK_FALSE(entries_follow(first_row_without_sign(sampler), 1, 2000));
  CHECK_FALSE(entries_follow(last_row_without_sign(sampler), 1, 2000));
}

TEST_CASE("RademacherSketch: rows and columns of a long draw are independent, and mutants are rejected") {
  // 5,000 rows of 8 columns. A mutant that repeats a block of 128 bits agrees with itself at lag 128 in 2,500 pairs.
  const std::vector<arma::uword> lags = {1, 2, 31, 32, 64, 127, 128, 256, 1024};
  const Key key = Key(test_seed()).child("long");
  const Sampler sampler = rademacher(5000, 8);
  CHECK(long_draw_follows(sampler, key, 1, lags));
  CHECK_FALSE(long_draw_follows(one_sign_key_for_all_columns(sampler), key, 1, lags));
  for (const arma::uword period : {32U, 128U}) {
    const Sampler periodic = mutant(sampler, [period](arma::mat& s) {
      for (arma::uword i = period; i < s.n_rows; ++i) s.row(i) = s.row(i % period);
    });
    CHECK_FALSE(long_draw_follows(periodic, key, 1, lags));
  }
}

TEST_CASE("RademacherSketch: keys of other names are independent, and mutants are rejected") {
  // Equal pairs: 20,000 / 64 = 312, deviation 17.5. Keys that share the first column have 20,000 / 8.
  const MatrixDistribution distribution = law_of_signs(3, 2);
  const Sampler sampler = rademacher(3, 2);
  CHECK(distribution.holds_across_keys(sampler, 20000));
  CHECK_FALSE(distribution.holds_across_keys(seed_that_does_not_reach_the_draw(sampler), 20000));
  CHECK_FALSE(distribution.holds_across_keys(seed_that_does_not_reach_the_first_column(sampler), 20000));
}

TEST_CASE_TEMPLATE("RademacherSketch: the sign of S_ij is bit i of the key's child j", T, float, double) {
  const Key key = Key(test_seed()).child("bits");
  const arma::Mat<T> s = RademacherSketch(300, 4, key).dense<T>();
  for (arma::uword j = 0; j < 4; ++j) {
    for (arma::uword i = 0; i < 300; ++i) {
      const std::uint32_t word = key.child(j).block(i / 128)[i % 128 / 32];
      REQUIRE(s(i, j) == ((word >> i % 32 & 1) == 0 ? T(0.5) : T(-0.5)));
    }
  }
}

TEST_CASE_TEMPLATE("RademacherSketch: the same bits for any number of threads", T, float, double) {
  check_thread_counts<T>(RademacherSketch(5000, 24, Key(test_seed()).child("threads")), Key(test_seed()));
}

TEST_CASE("RademacherSketch: wrong sizes are refused") {
  CHECK(refusal([] { RademacherSketch(5, 0, Key(1)); }) == "RademacherSketch: n >= 1, d >= 1, got n = 5, d = 0");
  CHECK(contains(refusal([] { RademacherSketch(0, 2, Key(1)); }), "got n = 0, d = 2"));
  for (const arma::uword first : {arma::uword{3}, ~arma::uword{0}, ~arma::uword{0} - 2}) {
    CHECK(contains(refusal([&] { RademacherSketch(5, 2, Key(1)).rows_of<double>(first, 3); }), "rows of S"));
  }
  check_refusals(RademacherSketch(5, 3, Key(1)));
}
