#include <doctest/doctest.h>
#include <croquis/random/indices.hpp>
#include <croquis/sketch/srht.hpp>

#include <cmath>

#include "support/capture.hpp"
#include "support/seed.hpp"
#include "support/sketch_distributions.hpp"
#include "support/sketches.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

Sampler srht(arma::uword n, arma::uword d) {
  return sampler_of([n, d](const Key& key) { return SrhtSketch(n, d, key); });
}

// Unnormalised, Sylvester's order, by H_2m = (H_m, H_m; H_m, -H_m).
arma::mat hadamard(arma::uword n) {
  arma::mat h(1, 1, arma::fill::ones);
  while (h.n_rows < n) h = arma::join_cols(arma::join_rows(h, h), arma::join_rows(h, -h));
  return h;
}

enum class HadamardRows { different, with_replacement };

// The definition with other draws: sqrt(n'/d) D H^T R^T on the first n coordinates, D absent in a mutant.
Sampler srht_by_definition(arma::uword n, arma::uword d, HadamardRows rows, bool signs) {
  return [=](const Key& key) {
    const arma::mat h = hadamard(4);
    const Key other = key.child("by definition");
    const arma::uvec r = rows == HadamardRows::different ? sample_without_replacement(4, d, other)
                                                         : sample_with_replacement(4, d, other);
    arma::mat s = h.cols(r).eval().head_rows(n) / std::sqrt(static_cast<double>(d));
    for (arma::uword i = 0; signs && i < n; ++i) {
      if ((other.child("signs").block(i)[0] & 1) != 0) s.row(i) *= -1;
    }
    return s;
  };
}

// n = 3, n' = 4, d = 2: eight triples of signs, twelve ordered pairs of different rows of H.
MatrixDistribution srht_law_of_three_by_two() {
  MatrixDistribution distribution;
  const arma::mat h = hadamard(4);
  const std::vector<std::pair<double, double>> sign = {{1, 0.5}, {-1, 0.5}};
  for_products(sign, 3, [&](const std::vector<double>& signs, double probability) {
    for (arma::uword a = 0; a < 4; ++a) {
      for (arma::uword b = 0; b < 4; ++b) {
        if (a == b) continue;
        const arma::mat s = arma::diagmat(arma::vec(signs)) * h.cols(arma::uvec{a, b}).eval().head_rows(3);
        distribution.add(s / std::sqrt(2.0), probability / 12);
      }
    }
  });
  return distribution;
}

}  // namespace

TEST_CASE_TEMPLATE("SrhtSketch: left, right and expand are products with dense(), n a power of two or not", T, float,
                   double) {
  const Key key = Key(test_seed()).child("products");
  const std::pair<arma::uword, arma::uword> sizes[] = {{1, 1},   {2, 1},    {3, 4},    {5, 5},     {8, 8},
                                                       {100, 1}, {129, 70}, {1000, 9}, {16384, 3}, {20000, 2}};
  for (const auto& [n, d] : sizes) {
    CAPTURE_BINDING(n);
    // Every number passes log2 n' <= 15 additions, two scalings and one rounding of the scale.
    check_products<T>(SrhtSketch(n, d, key.child(n)), key.child("operands"), 18);
  }
}

TEST_CASE("SrhtSketch: E[S S^T] = I in every entry, and mutants are rejected") {
  // Off the diagonal the mean of d signs drawn without replacement from n', half of them +: variance
  // (n' - d) / (d (n' - 1)), size at most 1; on it exactly 1.
  constexpr arma::uword n = 13, d = 6, padded = 16;
  constexpr std::uint64_t trials = 20000;
  constexpr double variance = double{padded - d} / (d * (padded - 1));
  const SecondMoment moment(n, 0, 0, variance, 1);
  CHECK(detectable(variance, 1, 91, trials) < 0.018);
  const auto accepts = [&](const Sampler& sampler) { return second_moment_is_identity(sampler, moment, trials); };
  const Sampler sampler = srht(n, d);
  CHECK(accepts(sampler));
  CHECK_FALSE(accepts(scaled(sampler, d / std::sqrt(double{padded}))));  // sqrt(d/n') on H without its norm
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(double{n} / padded))));  // n in the place of n'
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(double{d} / padded))));  // no sqrt(n'/d)
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(double{padded}))));      // H without its norm
  CHECK_FALSE(accepts(one_sign_key_for_all_rows(sampler)));              // |S_ij| with one sign a column
  CHECK_FALSE(accepts(mutant(sampler, [](arma::mat& s) { s.row(0).zeros(); })));
}

TEST_CASE("SrhtSketch: the joint distribution of a 3 x 2 sketch, and mutants are rejected") {
  // The 96 cases are 24 matrices, four times each: 833 draws, deviation 28; half of the distributions with a
  // probability off by 23 % are rejected (6.7 deviations).
  const MatrixDistribution distribution = srht_law_of_three_by_two();
  const auto accepts = [&](const Sampler& sampler) { return distribution.is_distribution_of(sampler, 20000); };
  const Sampler sampler = srht(3, 2);
  CHECK(accepts(sampler));
  CHECK(accepts(srht_by_definition(3, 2, HadamardRows::different, true)));
  CHECK_FALSE(accepts(
      srht_by_definition(3, 2, HadamardRows::different, false)));  // Hadamard without the signs: E[S S^T] is I still
  CHECK_FALSE(accepts(srht_by_definition(3, 2, HadamardRows::with_replacement, true)));
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(2.0))));
  CHECK_FALSE(accepts(first_row_without_sign(sampler)));
  CHECK_FALSE(accepts(last_row_without_sign(sampler)));
  CHECK_FALSE(accepts(one_sign_key_for_all_rows(sampler)));
  CHECK_FALSE(accepts(seed_that_does_not_reach_the_draw(sampler)));
}

TEST_CASE("SrhtSketch: every entry is fair over the keys, and mutants are rejected") {
  // 2,000 keys, deviation 22: one in two entries with P(+) = 0.58 is rejected (7.2 deviations).
  const Sampler sampler = srht(200, 4);
  CHECK(entries_follow(sampler, 1, 2000));
  CHECK_FALSE(entries_follow(first_row_without_sign(sampler), 1, 2000));
  CHECK_FALSE(entries_follow(last_row_without_sign(sampler), 1, 2000));
}

TEST_CASE("SrhtSketch: keys of other names are independent, and mutants are rejected") {
  const MatrixDistribution distribution = srht_law_of_three_by_two();
  const Sampler sampler = srht(3, 2);
  CHECK(distribution.holds_across_keys(sampler, 20000));
  CHECK_FALSE(distribution.holds_across_keys(seed_that_does_not_reach_the_draw(sampler), 20000));
  // One D for all keys, other rows: one pair in 12 is equal, not one in 24.
  const Sampler one_diagonal = [&](const Key& key) {
    const arma::mat s = srht_by_definition(3, 2, HadamardRows::different, false)(key);
    return arma::mat(s.each_col() % arma::vec{1, -1, 1});
  };
  CHECK_FALSE(distribution.holds_across_keys(one_diagonal, 20000));
}

TEST_CASE("SrhtSketch: every row of H is drawn, for d = n' each once") {
  // S^T S = (n'/d) I for n = n': exact up to rounding, n' products of 1/d each.
  for (const arma::uword d : {1U, 7U, 64U}) {
    const arma::mat s = SrhtSketch(64, d, Key(test_seed()).child(d)).dense<double>();
    CHECK(distance(transposed(s) * s, 64.0L / static_cast<long double>(d) * identity(d)) <= 64 * 4 * unit<double>());
  }
  // n < n' and d = n': S S^T = I in every draw.
  const arma::mat s = SrhtSketch(37, 64, Key(test_seed())).dense<double>();
  CHECK(distance(Dense(s) * transposed(s), identity(37)) <= 64 * 4 * unit<double>());
}

TEST_CASE_TEMPLATE("SrhtSketch: the same bits for any number of threads", T, float, double) {
  check_thread_counts<T>(SrhtSketch(5000, 24, Key(test_seed()).child("threads")), Key(test_seed()));
}

TEST_CASE("SrhtSketch: wrong sizes are refused") {
  CHECK(refusal([] { SrhtSketch(5, 9, Key(1)); }) ==
        "SrhtSketch: n >= 1, 1 <= d <= n', the next power of two, got n = 5, d = 9, n' = 8");
  CHECK(contains(refusal([] { SrhtSketch(0, 1, Key(1)); }), "got n = 0, d = 1"));
  CHECK(contains(refusal([] { SrhtSketch(5, 0, Key(1)); }), "got n = 5, d = 0"));
  check_refusals(SrhtSketch(5, 3, Key(1)));
}
