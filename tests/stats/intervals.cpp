#include <doctest/doctest.h>
#include <croquis/stats/intervals.hpp>

#include <cmath>
#include <limits>

#include "stats/misses.hpp"
#include "stats/reference.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("clopper_pearson: its limits have the binomial tails alpha, summed directly") {
  for (const std::uint64_t n : {1, 2, 7, 30, 60}) {
    for (std::uint64_t k = 0; k <= n; ++k) {
      for (const double alpha : {0.5, 0.05, 1e-6, 1e-12, kLeastAlpha}) {
        CAPTURE(n);
        CAPTURE(k);
        CAPTURE(alpha);
        const Interval both = clopper_pearson(k, n, alpha);
        const Interval lower = clopper_pearson(k, n, alpha, Side::lower);
        const Interval upper = clopper_pearson(k, n, alpha, Side::upper);
        CHECK(lower.hi == 1);
        CHECK(upper.lo == 0);
        // A limit with relative error 1e-13 changes its tail by that times d log(tail) / d log(p), which is at most
        // n p / (1 - p) above p and n below.
        const auto is_limit = [&](double p, long double tail, double a) {
          const double error = 1e-13 * static_cast<double>(n) * (1 + p / (1 - p));
          CHECK(static_cast<double>(tail) == doctest::Approx(a).epsilon(error).scale(0));
        };
        if (k > 0) {
          is_limit(both.lo, binomial_at_least(k, n, both.lo), alpha / 2);
          is_limit(lower.lo, binomial_at_least(k, n, lower.lo), alpha);
        } else {
          CHECK(both.lo == 0);
        }
        if (k < n) {
          is_limit(both.hi, binomial_at_most(k, n, both.hi), alpha / 2);
          is_limit(upper.hi, binomial_at_most(k, n, upper.hi), alpha);
        } else {
          CHECK(both.hi == 1);
        }
      }
    }
  }
}

TEST_CASE("clopper_pearson: the tabulated limits") {
  const auto is = [](const Interval& interval, double lo, double hi) {
    CHECK(std::abs(interval.lo - lo) < 5e-5);
    CHECK(std::abs(interval.hi - hi) < 5e-5);
  };
  is(clopper_pearson(0, 10, 0.05), 0, 0.3085);
  is(clopper_pearson(1, 10, 0.05), 0.0025, 0.4450);
  is(clopper_pearson(5, 10, 0.05), 0.1871, 0.8129);
  is(clopper_pearson(7, 20, 0.05), 0.1539, 0.5922);
  CHECK(clopper_pearson(0, 135, 1e-3, Side::upper).hi <= 0.05);
  CHECK(clopper_pearson(0, 134, 1e-3, Side::upper).hi > 0.05);
}

TEST_CASE("clopper_pearson: covers every probability with at least its confidence, computed exactly; Wald's does not") {
  const auto worst_miss = [](const std::function<Interval(std::uint64_t, std::uint64_t)>& limits) {
    double worst = 0;
    for (const std::uint64_t n : {1, 5, 20, 50}) {
      for (double p = 0.005; p < 1; p += 0.005) {
        const std::vector<long double> distribution = binomial_probabilities(n, p);
        long double miss = 0;
        for (std::uint64_t k = 0; k <= n; ++k) {
          if (!limits(k, n).contains(p)) miss += distribution[k];
        }
        worst = std::max(worst, static_cast<double>(miss));
      }
    }
    return worst;
  };
  constexpr double alpha = 0.1, rounding = 1e-12;
  for (const Side side : {Side::both, Side::lower, Side::upper}) {
    const double worst = worst_miss([&](auto k, auto n) { return clopper_pearson(k, n, alpha, side); });
    CHECK(worst <= alpha + rounding);
    CHECK(worst > alpha / 2);  // not so wide as to be useless
  }
  CHECK(worst_miss([](auto k, auto n) {
          const double q = static_cast<double>(k) / n, margin = 1.6449 * std::sqrt(q * (1 - q) / n);
          return Interval{q - margin, q + margin};
        }) > 0.5);
  CHECK(worst_miss([](auto k, auto n) { return clopper_pearson(k, n, 2 * alpha); }) > alpha);
}

TEST_CASE("student_quantile: the closed forms for one and two degrees of freedom, also between whole numbers") {
  for (const double alpha : {0.5, 0.05, 1e-3, 1e-6}) {
    CAPTURE(alpha);
    const double pi = std::acos(-1.0), p = 1 - alpha / 2;
    CHECK(student_quantile(1, alpha) == doctest::Approx(1 / std::tan(pi * alpha / 2)));
    CHECK(student_quantile(2, alpha) == doctest::Approx((2 * p - 1) / std::sqrt(p * alpha)));
    CHECK(student_quantile(2, alpha / 2, Side::lower) == doctest::Approx(student_quantile(2, alpha)));
    CHECK(student_quantile(1.5, alpha) < student_quantile(1, alpha));
    CHECK(student_quantile(1.5, alpha) > student_quantile(2, alpha));
  }
  CHECK(contains(refusal([] { student_quantile(0, 0.05); }), "degrees > 0"));
  CHECK(contains(refusal([] { student_quantile(std::nan(""), 0.05); }), "degrees > 0"));
  CHECK(contains(refusal([] { student_quantile(3, 1); }), "0 < alpha < 1"));
}

TEST_CASE("student_quantile: infinite where it is larger than any double, of either sign, and finite below") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double degrees : {1e-300, 1e-10, 1e-3}) CHECK(student_quantile(degrees, 1e-6) == inf);
  CHECK(student_quantile(0.5, 1e-200) == inf);  // t^-1/2 is about alpha
  CHECK(student_quantile(1e-10, 0.99, Side::upper) == -inf);
  CHECK(student_quantile(1e-10, 0.5, Side::upper) == 0);
  // One degree: 2 / (pi alpha) but for a part of alpha^2.
  CHECK(student_quantile(1, 1e-300) == doctest::Approx(2e300 / std::acos(-1.0)).epsilon(1e-12).scale(0));
  for (const double alpha : {0.6, 0.9, 0.999}) {
    CAPTURE(alpha);
    CHECK(student_quantile(1, alpha, Side::lower) == doctest::Approx(1 / std::tan(std::acos(-1.0) * alpha)));
  }
}

TEST_CASE("student_interval: 1 ... 10 gives the limits that every textbook gives") {
  const Accumulator sample = accumulated({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Interval both = student_interval(sample, 0.05);
  CHECK(both.lo == doctest::Approx(3.334149).epsilon(1e-6));
  CHECK(both.hi == doctest::Approx(7.665851).epsilon(1e-6));
  // t_{9, 0.95} = 1.833113, standard error 0.9574271.
  const Interval lower = student_interval(sample, 0.05, Side::lower),
                 upper = student_interval(sample, 0.05, Side::upper);
  CHECK(lower.lo == doctest::Approx(5.5 - 1.833113 * 0.9574271).epsilon(1e-6));
  CHECK(lower.hi == kInfinity);
  CHECK(upper.lo == -kInfinity);
  CHECK(upper.hi == doctest::Approx(5.5 + 1.833113 * 0.9574271).epsilon(1e-6));
}

TEST_CASE("student_interval: misses the mean of normal values with probability alpha exactly, also for three values") {
  // 20,000 samples, misses ~ Bin(20000, 0.1). With the normal quantile 1.645 for t_2 it would be 0.24, with alpha for
  // each limit 0.2, with division by n in the variance 0.16: 40, 38 and 20 deviations away.
  constexpr std::uint64_t repeats = 20000;
  constexpr double alpha = 0.1, mu = 3;
  const Key key = Key(test_seed()).child("student");
  const Draw draw = [](const Key& s) {
    std::vector<double> x = normal_sample(3, s);
    for (double& value : x) value = mu + 2 * value;
    return x;
  };
  const auto accepts = [&](const Estimate& estimate) {
    return is_binomial(static_cast<double>(misses(draw, mu, repeats, key, estimate)), repeats, alpha, kFailure);
  };
  for (const Side side : {Side::both, Side::lower, Side::upper}) {
    CHECK(accepts([&](const Accumulator& a) { return student_interval(a, alpha, side); }));
  }
  CHECK_FALSE(accepts([](const Accumulator& a) {
    const double margin = 1.6449 * a.standard_error();
    return Interval{a.mean() - margin, a.mean() + margin};
  }));
  CHECK_FALSE(accepts([](const Accumulator& a) { return student_interval(a, 2 * alpha); }));
  CHECK_FALSE(accepts([](const Accumulator& a) {
    const Interval right = student_interval(a, alpha);
    const double margin = (right.hi - a.mean()) * std::sqrt(2.0 / 3.0);
    return Interval{a.mean() - margin, a.mean() + margin};
  }));
}

TEST_CASE("intervals: refuse error probabilities outside (0, 1) and too few values") {
  const Accumulator one = accumulated({1}), three = accumulated({1, 2, 3});
  for (const double alpha : {0.0, 1.0, -0.1, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(contains(refusal([&] { clopper_pearson(1, 2, alpha); }), "clopper_pearson: 0 < alpha < 1"));
    CHECK(contains(refusal([&] { student_interval(three, alpha); }), "student_interval: 0 < alpha < 1"));
  }
  CHECK(refusal([] { clopper_pearson(3, 2, 0.1); }) ==
        "clopper_pearson: failures <= trials and at least one trial, got failures = 3, trials = 2");
  CHECK(contains(refusal([] { clopper_pearson(0, 0, 0.1); }), "at least one trial"));
  CHECK(contains(refusal([] { clopper_pearson(0, kMostTrials + 1, 0.1); }), "at most 2^33 trials"));
  CHECK(clopper_pearson(kMostTrials / 2, kMostTrials, 1e-9).contains(0.5));
  CHECK(
      contains(refusal([] { clopper_pearson(2, 5, kLeastAlpha / 2); }), "alpha of at least 1e-60, got alpha = 5e-61"));
  CHECK(refusal([&] { student_interval(one, 0.1); }) == "student_interval: at least two values, got count = 1");
}
