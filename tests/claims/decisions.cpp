#include <doctest/doctest.h>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/power.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <croquis/random/draws.hpp>
#include <croquis/stats/decision.hpp>
#include <limits>
#include <random>

#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Key;
using croquis::Verdict;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("decide_identity: numbers that are not finite decide nothing, and the finding has them") {
  CHECK(decide_identity("x", 1, 2).verdict == Verdict::verified);
  CHECK(decide_identity("x", 2, 1).verdict == Verdict::refuted);
  for (const auto& [observed, bound] : {std::pair{kNaN, 1.0},
                                        {kInfinity, 1.0},
                                        {-kInfinity, 1.0},
                                        {1.0, kInfinity},
                                        {1.0, kNaN},
                                        {kInfinity, kInfinity}}) {
    const Finding finding = decide_identity("x", observed, bound);
    CHECK(finding.verdict == Verdict::inconclusive);
    CHECK(contains(finding.hypotheses, "not finite: observed = "));
  }
}

TEST_CASE("decide_identity: the power is the relative error at which the verdict turns, also of an inequality") {
  CHECK(std::isnan(decide_identity("x", 1, 2).power));
  CHECK(decide_identity("x", 1, 2, 6).power == 0.5);
  // -0.3 <= -0.2: the quantity is 0.3, and lowered by 0.1 it is refuted.
  CHECK(decide_identity("x", -0.3, -0.2, 1).power == doctest::Approx(0.1));
  CHECK(decide_equation("x", true, 5, 5).power == 0);
  CHECK(decide_equation("x", true, 5, 5).verdict == Verdict::verified);
  CHECK(decide_equation("x", false, 5, 6).verdict == Verdict::refuted);
  const Finding least = decide_least("x", true, 5, 4);  // 5 where 4 are needed
  CHECK(least.verdict == Verdict::verified);
  CHECK(least.estimate == 5);
  CHECK(least.observed == -5);
  CHECK(least.bound == -4);
  CHECK_FALSE(std::signbit(decide_least("x", false, 0, 0).bound));
}

TEST_CASE(
    "decide_bound: the power is the part by which an upper bound could be smaller, or the observed of a lower one") {
  CHECK(decide_bound("x", 1, 4).power == 0.75);
  CHECK(decide_bound("x", 4, 4).power == 0);
  CHECK(decide_bound("x", -4, -1).power == 0.75);
  CHECK(std::isnan(decide_bound("x", 5, 4).power));
  CHECK(decide_bound("x", 5, 4).verdict == Verdict::refuted);
}

TEST_CASE("decide_probability: one error or a bound that is not finite leaves the claim undecided") {
  const Check check{.draw_key = Key(test_seed())};
  for (const double delta : {0.0, 0.05}) {
    const auto decide = [&](double error, double bound) {
      std::atomic<int> trial{0};
      const ProbabilityClaim claim{.input = "x", .bound = bound, .delta = delta, .alpha = 1e-3, .most_trials = 500};
      return decide_probability(check, claim, [&](const Key&) { return trial++ == 3 ? error : 0.5; });
    };
    CHECK(decide(0.5, 1).verdict == Verdict::verified);
    CHECK(decide(0.5, 0.4).verdict == Verdict::refuted);
    for (const double error : {kNaN, kInfinity, -kInfinity}) {
      const Finding finding = decide(error, 1);
      CHECK(finding.verdict == Verdict::inconclusive);
      CHECK(contains(finding.hypotheses, "not finite: 1 of "));
    }
    for (const double bound : {kNaN, kInfinity, -kInfinity}) CHECK(decide(0.5, bound).verdict == Verdict::inconclusive);
  }
}

TEST_CASE("judge_trivial: what a trivial object does within the bound is vacuous, and refuted all the same") {
  Finding finding;
  finding.bound = 1;
  for (const Verdict before : {Verdict::verified, Verdict::inconclusive, Verdict::refuted}) {
    finding.verdict = before;
    finding.trivial.clear();
    judge_trivial(finding, {{"above", 1.5}, {"no number", kNaN}});
    CHECK(finding.verdict == before);
    CHECK(finding.trivial.empty());
    judge_trivial(finding, {{"zero", 1}, {"above", 1.5}, {"mean", 0.5}});
    CHECK(finding.verdict == (before == Verdict::refuted ? before : Verdict::vacuous));
    CHECK(finding.trivial == "zero, mean");
  }
}

TEST_CASE("add_measured: what was measured comes before what would decide") {
  Finding finding;
  add_measured(finding, "delta = 1");
  CHECK(finding.hypotheses == "delta = 1");
  finding.hypotheses = "trials that would decide = 8";
  add_measured(finding, "delta = 1");
  CHECK(finding.hypotheses == "delta = 1; trials that would decide = 8");
}

TEST_CASE("decide_probability: reports the 1 - delta quantile of the errors") {
  const Check check{.draw_key = Key(test_seed())};
  std::atomic<int> trial{0};
  const ProbabilityClaim claim{.input = "x", .bound = 0.5, .delta = 0.25, .alpha = 1e-3, .most_trials = 1000};
  const Finding finding = decide_probability(check, claim, [&](const Key&) { return trial++ % 10 < 2 ? 1.0 : 0.0; });
  CHECK(finding.observed == 0);  // four fifths of them are
  const ProbabilityClaim rarer{.input = "x", .bound = 0.5, .delta = 0.1, .alpha = 1e-3, .most_trials = 1000};
  trial = 0;
  CHECK(decide_probability(check, rarer, [&](const Key&) { return trial++ % 10 < 2 ? 1.0 : 0.0; }).observed == 1);
}

TEST_CASE(
    "decide_probability: the quantile is of trials of its own, as many as were fixed, wherever the decision stops") {
  const Check check{.draw_key = Key(test_seed())};
  const auto error = [](const Key& key) { return croquis::uniform_at(key, 0); };
  const auto decided = [&](const Check& on, double bound, bool quantile) {
    const ProbabilityClaim claim{.input = "x", .bound = bound, .delta = 0.1, .alpha = 1e-6, .quantile = quantile};
    return decide_probability(on, claim, error);
  };
  // Of 200 trials, or a tenth, or as many as are asked for: the 180th, the 18th and the 27th.
  const auto ranked = [&](std::uint64_t trials, std::size_t rank) {
    std::vector<double> errors;
    for (std::uint64_t t = 0; t < trials; ++t)
      errors.push_back(error(Key(test_seed()).child("x").child("quantile").child(t)));
    std::sort(errors.begin(), errors.end());
    return errors[rank - 1];
  };
  Check quick = check, given = check, thorough = check, many = check;
  quick.quick = true;
  thorough.thorough = true;
  many.most_trials = 3000;
  given.most_trials = 30;
  const Finding early = decided(check, 2, true), late = decided(check, 0.9, true);
  CHECK(*early.trials < *late.trials);
  CHECK(early.observed == ranked(200, 180));
  CHECK(late.observed == early.observed);
  CHECK(contains(early.hypotheses, "draws of the quantile = 200"));
  CHECK(decided(quick, 2, true).observed == ranked(20, 18));
  CHECK(decided(thorough, 2, true).observed == early.observed);
  CHECK(decided(many, 2, true).observed == early.observed);
  CHECK(decided(given, 2, true).observed == ranked(30, 27));
  CHECK(contains(decided(given, 2, true).hypotheses, "draws of the quantile = 30; trials that would decide = "));
  CHECK(std::isnan(decided(check, 2, false).observed));
  CHECK(decided(check, 2, false).verdict == early.verdict);
  // Where nothing may fail all trials are run, and the largest error is theirs.
  const ProbabilityClaim never{.input = "x", .bound = 2, .delta = 0, .alpha = 1e-6, .most_trials = 50};
  double largest = 0;
  for (std::uint64_t t = 0; t < 50; ++t) largest = std::max(largest, error(Key(test_seed()).child("x").child(t)));
  CHECK(decide_probability(check, never, error).observed == largest);
  // A NaN among the trials of the quantile decides nothing either.
  std::atomic<std::uint64_t> trial{0};
  const ProbabilityClaim claim{.input = "x", .bound = 2, .delta = 0.1, .alpha = 1e-6};
  const Finding lost =
      decide_probability(check, claim, [&](const Key&) { return trial++ == *early.trials + 7 ? kNaN : 1.0; });
  CHECK(*lost.trials == *early.trials);
  CHECK(lost.verdict == Verdict::inconclusive);
  CHECK(contains(lost.hypotheses, "not finite: 1 of "));
}

TEST_CASE("power_of_counting: a rate that one failure refutes fails at least once with probability 0.95") {
  for (const std::uint64_t trials : {1, 10, 1000}) {
    const double rate = power_of_counting(trials, 0, 1e-3);
    CHECK(std::pow(1 - rate, static_cast<double>(trials)) == doctest::Approx(0.05));
  }
}

TEST_CASE("decide_probability: the power is that of all the looks that it may take, whichever has decided") {
  const ProbabilityClaim claim{.input = "x", .bound = 0.5, .delta = 0.1, .alpha = 1e-9, .most_trials = 8000};
  const Check check{.draw_key = Key(test_seed())};
  const Finding early = decide_probability(check, claim, [](const Key&) { return 0.0; });
  REQUIRE(early.verdict == Verdict::verified);
  REQUIRE(*early.trials < 1000);
  std::atomic<int> trial{0};
  const Finding late = decide_probability(check, claim, [&](const Key&) { return trial++ % 10 < 1 ? 1.0 : 0.0; });
  CHECK(*late.trials == 8000);
  CHECK(late.power == early.power);
  // The sequential decision itself on coins of that rate: of 2000 runs 1900 refute but for 1 in 20 and what the bound
  // gives away. Fewer than 1840 or more than 1975 have a probability below 1e-8 where the share is 0.95 to 0.97.
  std::mt19937_64 coins(test_seed());
  int refuted = 0;
  for (int run = 0; run < 2000; ++run) {
    const auto failures = [&](std::uint64_t, std::uint64_t count) {
      return std::binomial_distribution<std::uint64_t>(count, early.power)(coins);
    };
    const auto look =
        croquis::decide({.delta = claim.delta, .alpha = claim.alpha, .max_trials = claim.most_trials}, failures);
    refuted += look.outcome == croquis::Outcome::fails ? 1 : 0;
  }
  CHECK(refuted > 1840);
  CHECK(refuted < 1975);
}

TEST_CASE("withhold_within_error: a gap below the power decides nothing, and the draws grow with its inverse square") {
  const auto withheld = [](double observed, double bound, double power) {
    Finding finding = decide_identity("x", observed, bound);
    finding.trials = 8;
    finding.power = power;
    withhold_within_error(finding);
    return finding;
  };
  CHECK(withheld(1, 1.125, 0.1).verdict == Verdict::verified);
  CHECK(withheld(1, 0.875, 0.1).verdict == Verdict::refuted);
  for (const double bound : {0.875, 1.125}) {
    const Finding finding = withheld(1, bound, 0.25);
    CHECK(finding.verdict == Verdict::inconclusive);
    CHECK(finding.hypotheses == "draws that would decide = 32");  // half of the error: four times as many as 8
  }
  CHECK(withheld(1, 1, 0.25).hypotheses == "draws that would decide = more than 1e9");
  CHECK(withheld(-1, -0.875, 0.25).verdict == Verdict::inconclusive);  // a lower bound
  CHECK(withheld(-1, -0.875, 0.1).verdict == Verdict::verified);
  CHECK(withheld(0, 1, 0.25).verdict == Verdict::verified);  // nothing is below 0
  CHECK(withheld(1, 1.125, kNaN).verdict == Verdict::verified);
}

TEST_CASE("quantile_of: the k-th smallest with k = ceil(q count), one at least; NaN is the largest") {
  const std::vector<double> values = {3, kNaN, 1, 2};
  CHECK(quantile_of(values, 0) == 1);
  CHECK(quantile_of(values, 0.25) == 1);
  CHECK(quantile_of(values, 0.26) == 2);
  CHECK(quantile_of(values, 0.75) == 3);
  CHECK(quantile_of(values, 1) == kInfinity);
  CHECK(std::isnan(quantile_of({}, 0.5)));
}

TEST_CASE("decisions: probabilities outside their ranges are refused") {
  const Check check{.draw_key = Key(test_seed())};
  const auto zero = [](const Key&) { return 0.0; };
  for (const double delta : {-0.1, 1.0, kNaN}) {
    const ProbabilityClaim claim{.input = "x", .bound = 1, .delta = delta, .alpha = 1e-3, .most_trials = 10};
    CHECK(contains(refusal([&] { decide_probability(check, claim, zero); }), "0 <= delta < 1"));
  }
  for (const double alpha : {0.0, 1.0, kNaN}) {
    CAPTURE(alpha);
    for (const double delta : {0.0, 0.5}) {
      const ProbabilityClaim claim{.input = "x", .bound = 1, .delta = delta, .alpha = alpha, .most_trials = 10};
      CHECK(contains(refusal([&] { decide_probability(check, claim, zero); }), "alpha"));
    }
  }
}

TEST_CASE("raise and lower: the larger and the smaller one; NaN is kept, wherever it comes") {
  double most = 2, least = 2;
  raise(most, 1.0), lower(least, 3);
  CHECK(most == 2);
  CHECK(least == 2);
  raise(most, 3.0), lower(least, 1);
  CHECK(most == 3);
  CHECK(least == 1);
  raise(most, kNaN), lower(least, kNaN);
  raise(most, 4.0), lower(least, 0);
  CHECK(std::isnan(most));
  CHECK(std::isnan(least));
}

TEST_CASE("distance_to_uniform: the largest gap of the two distribution functions, before and after every value") {
  CHECK(distance_to_uniform({0.5}) == 0.5);
  CHECK(distance_to_uniform({0.9, 0.95}) == doctest::Approx(0.9));  // nothing below 0.9
  CHECK(distance_to_uniform({0.1, 0.05}) == doctest::Approx(0.9));  // all below 0.1
  CHECK(distance_to_uniform({0.125, 0.375, 0.875, 0.625}) == doctest::Approx(0.125));
  // Against a scan of the two functions at many points.
  const std::vector<double> values = {0.61, 0.02, 0.47, 0.48, 0.99, 0.33, 0.34};
  double worst = 0;
  for (int i = 0; i <= 100000; ++i) {
    const double x = i / 100000.0;
    const auto below = std::count_if(values.begin(), values.end(), [&](double v) { return v <= x; });
    worst = std::max(worst, std::abs(static_cast<double>(below) / 7 - x));
  }
  CHECK(distance_to_uniform(values) == doctest::Approx(worst).epsilon(1e-4));
  CHECK(std::isnan(distance_to_uniform({0.5, kNaN, 0.9})));
}

TEST_CASE("dkw_radius: exceeded by the distance of uniform draws as seldom as it says, and not much more seldom") {
  CHECK(dkw_radius(100, 0.05) == doctest::Approx(0.135810));  // sqrt(log(40) / 200)
  // 4000 samples of 200. The rate is 0.2 at most and some 0.185 by Kolmogorov's law: more than 960 or fewer than 500
  // have a probability below 1e-9.
  const std::vector<double> distances = run_trials({.draw_key = Key(test_seed())}, "uniform", 4000, [](const Key& key) {
    std::vector<double> values(200);
    for (std::uint64_t i = 0; i < 200; ++i) values[i] = croquis::uniform_at(key, i);
    return distance_to_uniform(std::move(values));
  });
  const double radius = dkw_radius(200, 0.2);
  const auto over = std::count_if(distances.begin(), distances.end(), [&](double d) { return d > radius; });
  CHECK(over > 500);
  CHECK(over < 960);
}

TEST_CASE("decide_distance: what nothing refutes is decided by so many draws that a distance of 1/2 would be seen") {
  // sqrt(log(2e6) / 2N) + sqrt(log(20) / 2N) <= 1/2 from N = 61.3 on.
  for (const std::uint64_t draws : {2, 30, 61}) {
    const Finding finding = decide_distance("x", 0.1, draws, 1e-6);
    CHECK(finding.verdict == Verdict::inconclusive);
    CHECK(finding.power > 0.5);
    CHECK(finding.hypotheses == "draws that would decide = 62");
  }
  const Finding told = decide_distance("x", 0.1, 62, 1e-6);
  CHECK(told.verdict == Verdict::verified);
  CHECK(told.bound == doctest::Approx(std::sqrt(std::log(2e6) / 124)));
  CHECK(told.power == doctest::Approx(told.bound + std::sqrt(std::log(20) / 124)));
  CHECK(*told.trials == 62);
  CHECK(told.confidence == 1 - 1e-6);
  // 61 draws refute what is above sqrt(log(2e6) / 122) = 0.345 all the same.
  CHECK(decide_distance("x", 0.4, 61, 1e-6).verdict == Verdict::refuted);
  CHECK(contains(decide_distance("x", kNaN, 62, 1e-6).hypotheses, "not finite"));
}

TEST_CASE("power: of medians by order statistics; of means and distances by their formulas") {
  // Of 20 values the 6th and the 15th: fewer than 6 of 20 fair coins are heads in 21700 of 2^20 cases.
  std::vector<double> first(20), second(20);
  for (std::size_t i = 0; i < 20; ++i) {
    first[i] = 100 + static_cast<double>((7 * i) % 20);        // 100 ... 119, median 109
    second[i] = 50 + 0.5 * static_cast<double>((3 * i) % 20);  // 50 ... 59.5, median 54.5
  }
  CHECK(power_of_medians(first, second) == doctest::Approx((109.0 - 105 + 57 - 54.5) / 54.5));
  CHECK(power_of_medians(second, first) == doctest::Approx((57 - 54.5 + 109.0 - 105) / 109));
  CHECK(power_of_medians({1, 2, 9}, {4, 3, 2}) == doctest::Approx((9.0 - 2 + 3 - 2) / 3));  // of few values the range
  CHECK(power_of_medians({1, 1}, {1, 1}) == 0);
  CHECK(power_of_means(0.1) == doctest::Approx(0.16449));
  CHECK(power_of_distance(200, 0.1) == doctest::Approx(0.1 + 0.086541));  // sqrt(log(20) / 400)
  croquis::Accumulator one;
  one.add(3);
  CHECK(std::isnan(relative_error_of_mean(one)));
  one.add(5);
  CHECK(relative_error_of_mean(one) == doctest::Approx(0.25));  // 1 / 4
}
