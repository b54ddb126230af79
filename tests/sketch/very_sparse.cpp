#include <doctest/doctest.h>
#include <croquis/sketch/very_sparse.hpp>

#include <cmath>
#include <limits>

#include "support/capture.hpp"
#include "support/seed.hpp"
#include "support/sketch_distributions.hpp"
#include "support/sketches.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

Sampler very_sparse(arma::uword n, arma::uword d, double q) {
  return sampler_of([=](const Key& key) { return VerySparseSketch(n, d, q, key); });
}

// Independent entries sqrt(q/d) {+1, 0, -1} with probabilities 1/2q, 1 - 1/q, 1/2q.
MatrixDistribution law_of_entries(arma::uword n, arma::uword d, double q) {
  MatrixDistribution distribution;
  const double a = std::sqrt(q / static_cast<double>(d));
  const std::vector<std::pair<double, double>> entry = {{a, 0.5 / q}, {0, 1 - 1 / q}, {-a, 0.5 / q}};
  for_products(entry, n * d, [&](const std::vector<double>& entries, double probability) {
    distribution.add(arma::reshape(arma::vec(entries), n, d), probability);
  });
  return distribution;
}

// A gap of one more: no two nonzeros of a column are neighbours.
void spread(arma::mat& s) {
  for (arma::uword j = 0; j < s.n_cols; ++j) {
    for (arma::uword i = 1; i < s.n_rows; ++i) {
      if (s(i - 1, j) != 0) s(i, j) = 0;
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("VerySparseSketch: left, right and expand are products with dense()", T, float, double) {
  const Key key = Key(test_seed()).child("products");
  const std::pair<arma::uword, arma::uword> sizes[] = {{1, 1}, {1, 4}, {3, 8}, {5, 5}, {100, 1}, {1000, 20}};
  for (const auto& [n, d] : sizes) {
    CAPTURE_BINDING(n);
    check_products<T>(VerySparseSketch(n, d, key.child(n)), key.child("operands"));
    check_products<T>(VerySparseSketch(n, d, 1, key.child(n)), key.child("operands"));
  }
}

TEST_CASE("VerySparseSketch: q is sqrt(n) by default; q = 1 has no zeros and q of 1e15 no nonzeros") {
  const Key key = Key(test_seed()).child("q");
  CHECK(VerySparseSketch(100, 3, key).q() == 10);
  CHECK(arma::accu(arma::abs(VerySparseSketch(500, 4, 1, key).dense<double>()) == 0.5) == 2000);
  // 2,000 entries: a nonzero with probability 2e-12.
  CHECK(arma::accu(VerySparseSketch(500, 4, 1e15, key).dense<double>() != 0) == 0);
}

TEST_CASE("VerySparseSketch: E[S S^T] = I in every entry, and mutants are rejected") {
  // On the diagonal q/d Binomial(d, 1/q): variance (q - 1)/d, between 0 and q. Off it the sum of d products of entries:
  // variance d (q/d)^2 / q^2 = 1/d, size at most q.
  constexpr arma::uword n = 13, d = 6;
  constexpr std::uint64_t trials = 20000;
  const double q = std::sqrt(13.0);
  const SecondMoment moment(n, (q - 1) / d, q - 1, 1.0 / d, q);
  CHECK(detectable((q - 1) / d, q - 1, 91, trials) < 0.036);
  CHECK(detectable(1.0 / d, q, 91, trials) < 0.024);
  const auto accepts = [&](const Sampler& sampler) { return second_moment_is_identity(sampler, moment, trials); };
  const Sampler sampler = very_sparse(n, d, q);
  CHECK(accepts(sampler));
  CHECK_FALSE(accepts(scaled(sampler, 1 / std::sqrt(q))));                             // no sqrt(q)
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(q))));                                 // q
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(6.0))));                               // no 1/sqrt(d)
  CHECK_FALSE(accepts(scaled(very_sparse(n, d, q / 2), std::sqrt(2.0))));              // +1 and -1 with 1/q each
  CHECK_FALSE(accepts(scaled(very_sparse(n, d, std::sqrt(16.0)), std::sqrt(q / 4))));  // 16 in the place of n
  CHECK_FALSE(accepts(one_sign_key_for_all_rows(sampler)));
  CHECK_FALSE(accepts(mutant(sampler, spread)));
  CHECK_FALSE(accepts(mutant(sampler, [](arma::mat& m) { m.row(0).zeros(); })));
}

TEST_CASE("VerySparseSketch: the joint distribution of a column and of a 2 x 2 sketch, and mutants are rejected") {
  // The rarest matrices are drawn 20,000/256 = 78 times, deviation 8.8 (off by 77 % is seen half of the time), and
  // 20,000/1296 = 15 times; entries alone to 3 %, see below.
  struct Case {
    arma::uword n, d;
    double q;
  };
  for (const auto& [n, d, q] : {Case{4, 1, 2}, Case{2, 2, 3}}) {
    const MatrixDistribution distribution = law_of_entries(n, d, q);
    const auto accepts = [&](const Sampler& sampler) { return distribution.is_distribution_of(sampler, 20000); };
    const Sampler sampler = very_sparse(n, d, q);
    CHECK(accepts(sampler));
    CHECK_FALSE(accepts(scaled(sampler, std::sqrt(2.0))));
    CHECK_FALSE(accepts(scaled(very_sparse(n, d, q / 2), std::sqrt(2.0))));
    CHECK_FALSE(accepts(first_row_without_sign(sampler)));
    CHECK_FALSE(accepts(last_row_without_sign(sampler)));
    CHECK_FALSE(accepts(one_sign_key_for_all_rows(sampler)));
    CHECK_FALSE(accepts(mutant(sampler, spread)));
    CHECK_FALSE(accepts(seed_that_does_not_reach_the_draw(sampler)));
    if (d > 1) CHECK_FALSE(accepts(one_sign_key_for_all_columns(sampler)));
  }
}

TEST_CASE("VerySparseSketch: every entry is there with probability 1/q and fair, and mutants are rejected") {
  // 4,000 keys, 1,000 nonzeros an entry, deviation 27; off by 20 % is seen half of the time (7.1 deviations).
  const Sampler sampler = very_sparse(60, 5, 4);
  CHECK(entries_follow(sampler, 0.25, 4000));
  CHECK_FALSE(entries_follow(first_row_without_sign(sampler), 0.25, 4000));
  CHECK_FALSE(entries_follow(last_row_without_sign(sampler), 0.25, 4000));
  CHECK_FALSE(entries_follow(mutant(sampler, spread), 0.25, 4000));
}

TEST_CASE("VerySparseSketch: rows and columns of a long draw are independent, and mutants are rejected") {
  // 20,000 rows, q = 3: a column has 6,667 nonzeros, deviation 67, so that q is known to 7 %; two columns have 2,222 in
  // common.
  const std::vector<arma::uword> lags = {1, 2, 3, 64, 128};
  const Key key = Key(test_seed()).child("long");
  const Sampler sampler = very_sparse(20000, 4, 3);
  CHECK(long_draw_follows(sampler, key, 1.0 / 3, lags));
  CHECK_FALSE(long_draw_follows(one_sign_key_for_all_columns(sampler), key, 1.0 / 3, lags));
  CHECK_FALSE(long_draw_follows(mutant(sampler, spread), key, 1.0 / 3, lags));
  CHECK_FALSE(long_draw_follows(very_sparse(20000, 4, 3.3), key, 1.0 / 3, lags));
}

TEST_CASE("VerySparseSketch: keys of other names are independent, and mutants are rejected") {
  // Equal pairs for q = 3: (2/36 + 4/9)^4 = 1/16 of 20,000.
  const MatrixDistribution distribution = law_of_entries(2, 2, 3);
  const Sampler sampler = very_sparse(2, 2, 3);
  CHECK(distribution.holds_across_keys(sampler, 20000));
  CHECK_FALSE(distribution.holds_across_keys(seed_that_does_not_reach_the_draw(sampler), 20000));
  CHECK_FALSE(distribution.holds_across_keys(seed_that_does_not_reach_the_first_column(sampler), 20000));
}

TEST_CASE_TEMPLATE("VerySparseSketch: the same bits for any number of threads", T, float, double) {
  check_thread_counts<T>(VerySparseSketch(50000, 40, Key(test_seed()).child("threads")), Key(test_seed()));
}

TEST_CASE("VerySparseSketch: wrong sizes are refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  CHECK(refusal([] { VerySparseSketch(5, 0, Key(1)); }) == "VerySparseSketch: 1 <= n < 2^32, d >= 1, got n = 5, d = 0");
  CHECK(contains(refusal([] { VerySparseSketch(0, 2, Key(1)); }), "got n = 0, d = 2"));
  CHECK(refusal([] { VerySparseSketch(5, 2, 0.5, Key(1)); }) == "VerySparseSketch: q >= 1 and finite, got q = 0.5");
  CHECK(contains(refusal([&] { VerySparseSketch(5, 2, nan, Key(1)); }), "q >= 1 and finite"));
  CHECK(contains(refusal([&] { VerySparseSketch(5, 2, infinity, Key(1)); }), "q >= 1 and finite"));
  check_refusals(VerySparseSketch(5, 3, Key(1)));
}
