#include <doctest/doctest.h>
#include <croquis/stats/design.hpp>
#include <croquis/stats/tests.hpp>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_chi_squared.hpp>
#include <cmath>

#include "stats/reference.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"

using namespace croquis;

namespace {

constexpr double kFailure = 1e-9;  // of each statistical check below

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

// How often `test` gives a p-value of at most alpha.
template <typename Test>
std::uint64_t rejections(std::uint64_t repeats, double alpha, const Key& key, Test test) {
  std::uint64_t count = 0;
  for (std::uint64_t r = 0; r < repeats; ++r) count += test(key.child(r)) <= alpha ? 1 : 0;
  return count;
}

std::vector<std::uint64_t> thrown(std::uint64_t throws, const std::vector<double>& distribution, const Key& key) {
  std::vector<std::uint64_t> counts(distribution.size(), 0);
  for (const double u : uniform_sample(throws, key)) {
    std::size_t cell = 0;
    for (double below = distribution[0]; u > below && cell + 1 < distribution.size(); below += distribution[cell])
      ++cell;
    ++counts[cell];
  }
  return counts;
}

const std::vector<double> kFair(6, 1.0 / 6);
const std::vector<double> kLoaded = {0.2, 0.16, 0.16, 0.16, 0.16, 0.16};

}  // namespace

TEST_CASE("kolmogorov_smirnov_test: the gap on both sides of every step") {
  const auto uniform = [](double x) { return x; };
  CHECK(kolmogorov_smirnov_test({0.5}, uniform).statistic == 0.5);
  CHECK(kolmogorov_smirnov_test({0.75, 0.25}, uniform).statistic == 0.25);
  CHECK(kolmogorov_smirnov_test({0.9, 0.8, 0.7}, uniform).statistic == doctest::Approx(0.7));       // before the first
  CHECK(kolmogorov_smirnov_test({0.1, 0.2, 0.3}, uniform).statistic == doctest::Approx(0.7));       // at the last
  CHECK(kolmogorov_smirnov_test({0.1, 0.2, 0.6, 0.9}, uniform).statistic == doctest::Approx(0.3));  // at the second
  const KolmogorovSmirnovResult far = kolmogorov_smirnov_test({0.75}, uniform);
  CHECK(far.p_value == doctest::Approx(0.5));  // P(D_1 >= 3/4) = 2 (1 - 3/4)
  CHECK(far.p_bound == doctest::Approx(2 * std::exp(-2 * 0.5625)));
}

TEST_CASE("kolmogorov_smirnov_test: p-values are uniform under the distribution, at sizes where asymptotics are not") {
  // Under the distribution P(p <= a) = a; 20,000 samples of 7, 2,000 of 300.
  const Key key = Key(test_seed()).child("null");
  const auto p_value = [](std::size_t n) {
    return [n](const Key& s) { return kolmogorov_smirnov_test(normal_sample(n, s), normal_cdf).p_value; };
  };
  for (const double alpha : {0.01, 0.1, 0.5}) {
    CHECK(is_binomial(static_cast<double>(rejections(20000, alpha, key, p_value(7))), 20000, alpha, kFailure));
    CHECK(is_binomial(static_cast<double>(rejections(2000, alpha, key, p_value(300))), 2000, alpha, kFailure));
  }
  // The mutant: with mean and deviation fitted to the sample it all but never rejects.
  const auto fitted = [](const Key& s) {
    const std::vector<double> z = normal_sample(7, s);
    const Accumulator a = accumulated(z);
    return kolmogorov_smirnov_test(z, [&](double x) { return normal_cdf((x - a.mean()) / a.standard_deviation()); })
        .p_value;
  };
  CHECK_FALSE(is_binomial(static_cast<double>(rejections(20000, 0.1, key, fitted)), 20000, 0.1, kFailure));
}

TEST_CASE(
    "kolmogorov_smirnov_test: rejects a wrong distribution with the sample that design asks for, and not the right "
    "one") {
  // sup |Phi(x) - Phi(x / 1.1)| = 0.023 at x^2 = 2 log(1.1) / (1 - 1/1.21), and a shift of 0.1 is off by 0.0399.
  constexpr double alpha = kFailure, miss = kFailure;
  const double x = std::sqrt(2 * std::log(1.1) / (1 - 1 / 1.21)), gap = normal_cdf(x) - normal_cdf(x / 1.1);
  CHECK(gap == doctest::Approx(0.023).epsilon(0.01));
  const std::uint64_t n = samples_for_distribution_gap(gap, alpha, miss);
  CHECK(n < 100000);
  const std::vector<double> z = normal_sample(n, Key(test_seed()).child("power"));
  const auto p_bound = [&](double shift, double scale) {
    return kolmogorov_smirnov_test(z, [&](double t) { return normal_cdf((t - shift) / scale); }).p_bound;
  };
  CHECK(p_bound(0, 1) > alpha);
  CHECK(p_bound(0, 1.1) <= alpha);
  CHECK(p_bound(0.1, 1) <= alpha);
  CHECK(kolmogorov_smirnov_test(z, normal_cdf).p_value > alpha);
  CHECK(kolmogorov_smirnov_test(z, [](double t) { return normal_cdf(t / 1.1); }).p_value <= alpha);
}

TEST_CASE("kolmogorov_smirnov_test: two samples, their order and their ties") {
  const std::vector<double> x = {1, 2, 3}, y = {2.5, 4, 5, 6};
  const KolmogorovSmirnovResult result = kolmogorov_smirnov_test(x, y);
  CHECK(result.statistic == doctest::Approx(0.75));  // at 3: F = 1, G = 1/4
  CHECK(kolmogorov_smirnov_test(y, x).statistic == result.statistic);
  CHECK(kolmogorov_smirnov_test(y, x).p_value == doctest::Approx(result.p_value));
  // 35 orders; D >= 3/4 for xxx first or last (2), xxyx.. as here and yxxx.. (at 3/4), and yyyx, yxyy... reversed.
  CHECK(result.p_value == doctest::Approx(8.0 / 35));
  CHECK(kolmogorov_smirnov_test(x, x).statistic == 0);
  CHECK(kolmogorov_smirnov_test(x, x).p_value == 1);
  CHECK(kolmogorov_smirnov_test(std::vector<double>{1, 1, 1}, std::vector<double>{1, 1, 2}).statistic ==
        doctest::Approx(1.0 / 3));
}

TEST_CASE(
    "kolmogorov_smirnov_test: two samples of one distribution are told apart as often as stated, of two distributions "
    "always") {
  // 10,000 pairs of 5 and 4 draws. D takes few values: P(D >= 4/5) = 10/126 by counting, which 0.08 includes.
  const Key key = Key(test_seed()).child("two");
  const auto p_value = [](const Key& s) {
    return kolmogorov_smirnov_test(normal_sample(5, s.child("x")), normal_sample(4, s.child("y"))).p_value;
  };
  const double size =
      kolmogorov_smirnov_test(std::vector<double>{1, 2, 3, 4, 6}, std::vector<double>{5, 7, 8, 9}).p_value;
  CHECK(is_binomial(static_cast<double>(rejections(10000, size * (1 + 1e-9), key, p_value)), 10000, size, kFailure));

  // A shift of 1/2 is off by 2 Phi(1/4) - 1 = 0.197. p_bound <= alpha when D >= 2 sqrt(log(4 / alpha) / (2 n)); each
  // sample is off at the worst point by sqrt(log(2 / miss) / (2 n)) with probability miss / 2 (Hoeffding): n = 4,600
  // leaves 0.197 - 2 * 0.0482 = 0.1006 > 2 * 0.0491.
  std::vector<double> x = normal_sample(4600, key.child("x")), y = normal_sample(4600, key.child("y"));
  CHECK(kolmogorov_smirnov_test(x, y).p_value > kFailure);
  CHECK(kolmogorov_smirnov_test(x, y).p_bound > kFailure);
  for (double& value : y) value += 0.5;
  CHECK(kolmogorov_smirnov_test(x, y).p_bound <= kFailure);
  CHECK(kolmogorov_smirnov_test(x, y).p_value <= kFailure);
}

TEST_CASE("chi_squared_test: Mendel's peas, 9 : 3 : 3 : 1") {
  const std::vector<std::uint64_t> peas = {315, 108, 101, 32};
  const std::vector<double> distribution = {9.0 / 16, 3.0 / 16, 3.0 / 16, 1.0 / 16};
  const ChiSquaredResult result = chi_squared_test(peas, distribution);
  CHECK(result.statistic == doctest::Approx(0.470024).epsilon(1e-5));
  CHECK(result.p_value == doctest::Approx(0.925426).epsilon(1e-5));
  CHECK(result.degrees == 3);
  // A tabulated quantile: chi^2_{2, 0.95} = 5.991, and one parameter fewer is chi^2_1.
  CHECK(chi_squared_test(peas, distribution, 5, 1).degrees == 2);
  CHECK(chi_squared_test(std::vector<std::uint64_t>{60, 40}, std::vector{0.5, 0.5}).p_value ==
        doctest::Approx(std::erfc(2 / std::sqrt(2.0))));
}

TEST_CASE("chi_squared_test: small expectations are pooled in order, whatever the counts") {
  // Expectations 50, 3, 40, 3, 2, 2 of 100: 3 + 3 is a cell, 2 + 2 a rest that joins it.
  const std::vector<double> distribution = {0.5, 0.03, 0.4, 0.03, 0.02, 0.02};
  const ChiSquaredResult result = chi_squared_test(std::vector<std::uint64_t>{46, 5, 37, 6, 2, 4}, distribution);
  CHECK(result.cells == 3);
  CHECK(result.degrees == 2);
  CHECK(result.statistic == doctest::Approx(16.0 / 50 + 9.0 / 40 + 49.0 / 10));
  // 60, 38, 2: the rest alone joins the smallest cell.
  const ChiSquaredResult two = chi_squared_test(std::vector<std::uint64_t>{50, 45, 5}, std::vector{0.6, 0.38, 0.02});
  CHECK(two.cells == 2);
  CHECK(two.statistic == doctest::Approx(100.0 / 60 + 100.0 / 40));
  // 2, 3, 95: the two small ones make a cell of their own.
  CHECK(chi_squared_test(std::vector<std::uint64_t>{1, 1, 98}, std::vector{0.02, 0.03, 0.95}).cells == 2);
}

TEST_CASE("chi_squared_test: a cell of probability zero takes no part until something is in it") {
  const std::vector<double> distribution = {0.5, 0, 0.5};
  CHECK(chi_squared_test(std::vector<std::uint64_t>{60, 0, 40}, distribution).statistic == doctest::Approx(4));
  CHECK(chi_squared_test(std::vector<std::uint64_t>{50, 1, 50}, distribution).p_value == 0);
  CHECK(multinomial_test(std::vector<std::uint64_t>{50, 1, 50}, distribution).p_value == 0);
  CHECK(multinomial_test(std::vector<std::uint64_t>{50, 0, 50}, distribution).p_value == 1);
}

TEST_CASE("chi_squared_test and multinomial_test: a fair die passes as often as stated, a loaded one never") {
  // 5,000 times 60 throws; chi^2 at nominal 0.05 has an exact size between 0.04 and 0.06 here, 0.07 is allowed.
  const Key key = Key(test_seed()).child("dice");
  const auto chi = [](const Key& s) { return chi_squared_test(thrown(60, kFair, s), kFair).p_value; };
  const auto exact = [](const Key& s) { return multinomial_test(thrown(60, kFair, s), kFair).p_value; };
  const std::uint64_t by_chi = rejections(5000, 0.05, key, chi);
  CHECK(no_more_than(by_chi, 5000, 0.07, kFailure));
  CHECK_FALSE(no_more_than(by_chi, 5000, 0.02, kFailure));
  CHECK(no_more_than(rejections(5000, 0.05, key, exact), 5000, 0.05, kFailure));

  // 1 with probability 0.2 in 40,000 throws: non-central chi^2_5 with lambda = n sum (q - p)^2 / p = 320 is below the
  // quantile 51 of alpha = 1e-9 with probability 1e-24; the ones, 8,000 +- 80, are 1,333 above 6,667 +- 75.
  const double quantile = boost::math::quantile(boost::math::complement(boost::math::chi_squared(5), kFailure));
  CHECK(boost::math::cdf(boost::math::non_central_chi_squared(5, 320), quantile) < kFailure);
  const std::vector<std::uint64_t> fair = thrown(40000, kFair, key), loaded = thrown(40000, kLoaded, key);
  CHECK(chi_squared_test(fair, kFair).p_value > kFailure);
  CHECK(multinomial_test(fair, kFair).p_value > kFailure);
  CHECK(chi_squared_test(loaded, kFair).p_value <= kFailure);
  CHECK(multinomial_test(loaded, kFair).p_value <= kFailure);
}

TEST_CASE("multinomial_test: rejects with at most its alpha, over all outcomes of ten draws; alpha a cell would not") {
  const std::vector<double> distribution = {0.5, 0.3, 0.2};
  constexpr std::uint64_t n = 10;
  for (const double alpha : {0.15, 0.1, 0.02}) {
    double rejected = 0, rejected_by_cell = 0;
    for (std::uint64_t a = 0; a <= n; ++a) {
      for (std::uint64_t b = 0; a + b <= n; ++b) {
        const auto of_b = static_cast<double>(binomial_probabilities(n - a, 0.6L)[b]);
        const double probability = static_cast<double>(binomial_probabilities(n, 0.5L)[a]) * of_b;
        const TestResult result = multinomial_test(std::vector<std::uint64_t>{a, b, n - a - b}, distribution);
        if (result.p_value <= alpha) rejected += probability;
        if (result.statistic <= alpha) rejected_by_cell += probability;
      }
    }
    CHECK(rejected <= alpha);
    if (alpha >= 0.1) CHECK(rejected_by_cell > alpha);
  }
}

TEST_CASE("z_test: the tabulated quantiles, and the power that design states") {
  CHECK(z_test(1.959963985, 1, 0, 1).p_value == doctest::Approx(0.05));
  CHECK(z_test(5 - 2.575829304 / 5, 100, 5, 2).p_value == doctest::Approx(0.01));
  CHECK(z_test(5 - 2.575829304 / 5, 100, 5, 2).statistic == doctest::Approx(-2.575829304));
  CHECK(z_test(1.644853627, 1, 0, 1, Side::upper).p_value == doctest::Approx(0.05));
  CHECK(z_test(1.644853627, 1, 0, 1, Side::lower).p_value == doctest::Approx(0.95));
  CHECK(z_test(0, 9, 0, 1).p_value == 1);
  CHECK(z_test(10, 1, 0, 1).p_value == doctest::Approx(std::erfc(10 / std::sqrt(2.0))).epsilon(1e-10).scale(0));

  constexpr double alpha = kFailure, miss = kFailure;
  const std::uint64_t n = samples_for_mean_shift(0.1, alpha, miss);
  CHECK(n < 15000);
  const double mean = accumulated(normal_sample(n, Key(test_seed()).child("z"))).mean();
  CHECK(z_test(mean, n, 0, 1).p_value > alpha);
  CHECK(z_test(mean, n, 0.1, 1).p_value <= alpha);
  CHECK(z_test(mean, n, -0.1, 1).p_value <= alpha);
}

TEST_CASE("binomial_test: tails summed directly, and the same answer as the interval of Clopper and Pearson") {
  for (const std::uint64_t n : {1, 2, 9, 40}) {
    for (const double p : {0.01, 0.3, 0.5, 0.95}) {
      for (std::uint64_t k = 0; k <= n; ++k) {
        CAPTURE(n);
        CAPTURE(k);
        CAPTURE(p);
        const auto lower = static_cast<double>(binomial_at_most(k, n, p)),
                   upper = static_cast<double>(binomial_at_least(k, n, p));
        CHECK(binomial_test(k, n, p, Side::lower).p_value == doctest::Approx(lower).epsilon(1e-12).scale(0));
        CHECK(binomial_test(k, n, p, Side::upper).p_value == doctest::Approx(upper).epsilon(1e-12).scale(0));
        const double both = binomial_test(k, n, p).p_value;
        CHECK(both == doctest::Approx(std::min(1.0, 2 * std::min(lower, upper))).epsilon(1e-12).scale(0));
        for (const double alpha : {0.3, 0.01}) {
          CHECK((both <= alpha) == !clopper_pearson(k, n, alpha).contains(p));
        }
      }
    }
  }
  CHECK(binomial_test(0, 5, 0).p_value == 1);
  CHECK(binomial_test(1, 5, 0).p_value == 0);
  CHECK(binomial_test(5, 5, 1).p_value == 1);
  CHECK(binomial_test(4, 5, 1).p_value == 0);
}

TEST_CASE("binomial_test: decides with the number of trials that design states") {
  // p = 0.1 in truth; 0.13 and 0.07 must be told from it.
  constexpr double alpha = kFailure, miss = kFailure;
  const std::uint64_t n = std::max(trials_to_decide(0.1, 0.13, alpha, miss), trials_to_decide(0.1, 0.07, alpha, miss));
  CHECK(n < 30000);
  std::uint64_t successes = 0;
  for (const double x : bernoulli_sample(n, 0.1, Key(test_seed()).child("coin"))) successes += x > 0 ? 1 : 0;
  CHECK(binomial_test(successes, n, 0.1).p_value > alpha);
  CHECK(binomial_test(successes, n, 0.13, Side::lower).p_value <= alpha);
  CHECK(binomial_test(successes, n, 0.07, Side::upper).p_value <= alpha);
}

TEST_CASE("tests: refuse samples and distributions that are none") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> none, bad = {1, nan};
  CHECK(refusal([&] { kolmogorov_smirnov_test(none, normal_cdf); }) ==
        "kolmogorov_smirnov_test: a sample that is not empty");
  CHECK(contains(refusal([&] { kolmogorov_smirnov_test(bad, normal_cdf); }), "no NaN in a sample"));
  CHECK(contains(refusal([&] { kolmogorov_smirnov_test(bad, {1}); }), "no NaN in a sample"));
  CHECK(contains(refusal([&] { kolmogorov_smirnov_test({1}, none); }), "a sample that is not empty"));
  CHECK(contains(refusal([] { kolmogorov_smirnov_test({1, 2}, [](double x) { return -x; }); }), "in [0, 1]"));
  CHECK(contains(refusal([] {
                   kolmogorov_smirnov_test({1, 2}, [](double x) { return 1 / x - 0.1; });
                 }),
                 "not decreasing, got x = 2, F(x) = 0.4, before = 0.9"));
  CHECK(contains(refusal([&] { kolmogorov_smirnov_test({1, 2}, [&](double) { return nan; }); }), "in [0, 1]"));

  using Counts = std::vector<std::uint64_t>;
  CHECK(contains(refusal([] { chi_squared_test(Counts{1, 2}, std::vector{1.0}); }), "a probability for every count"));
  CHECK(contains(refusal([] { chi_squared_test(Counts{10, 20}, std::vector{0.5, 0.4}); }), "sum to 1, got sum = 0.9"));
  CHECK(contains(refusal([] { chi_squared_test(Counts{10, 20}, std::vector{1.5, -0.5}); }), "probabilities >= 0"));
  CHECK(contains(refusal([] { chi_squared_test(Counts{0, 0}, std::vector{0.5, 0.5}); }), "at least one draw"));
  CHECK(contains(refusal([] {
                   chi_squared_test(Counts{1, 2}, std::vector{0.5, 0.5});
                 }),
                 "at least one degree of freedom after pooling, got cells = 1"));
  CHECK(contains(refusal([] { chi_squared_test(Counts{10, 20}, std::vector{0.5, 0.5}, 0); }), "least_expected > 0"));
  CHECK(contains(refusal([] { multinomial_test(Counts{1}, std::vector{0.5}); }),
                 "multinomial_test: probabilities that sum"));
  CHECK(contains(refusal([] { z_test(0, 10, 0, 0); }), "z_test: n >= 1, sigma > 0"));
  CHECK(contains(refusal([&] { z_test(nan, 10, 0, 1); }), "mean = nan"));
  CHECK(refusal([] { binomial_test(3, 2, 0.5); }) ==
        "binomial_test: successes <= trials and at least one trial, got successes = 3, trials = 2");
  CHECK(contains(refusal([] { binomial_test(1, 2, 1.5); }), "a probability, got probability = 1.5"));
}
