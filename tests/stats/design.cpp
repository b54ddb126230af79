#include <doctest/doctest.h>
#include <croquis/stats/design.hpp>

#include <cmath>

#include "stats/reference.hpp"
#include "support/capture.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"

using namespace croquis;

namespace {

// P(chi^2 with 2 m degrees of freedom > x) = P(Poisson(x / 2) < m).
long double even_chi_squared_tail(std::uint64_t m, long double x) {
  long double term = std::exp(-x / 2), sum = 0;
  for (std::uint64_t i = 0; i < m; ++i) {
    sum += term;
    term *= x / 2 / static_cast<long double>(i + 1);
  }
  return sum;
}

// x with that tail, by bisection.
long double even_chi_squared_quantile(std::uint64_t m, long double tail) {
  long double lo = 0, hi = 1000;
  for (int i = 0; i < 200; ++i) {
    const long double middle = (lo + hi) / 2;
    (even_chi_squared_tail(m, middle) > tail ? lo : hi) = middle;
  }
  return lo;
}

// P(after n trials the limit decides), from sums of the binomial distribution.
double power_by_summation(std::uint64_t n, double p, double delta, double alpha) {
  const std::vector<long double> truth = binomial_probabilities(n, p), at_limit = binomial_probabilities(n, delta);
  long double power = 0, tail = 0;
  for (std::uint64_t i = 0; i <= n; ++i) {
    const std::uint64_t k = p < delta ? i : n - i;
    tail += at_limit[k];
    if (tail <= alpha) power += truth[k];
  }
  return static_cast<double>(power);
}

}  // namespace

TEST_CASE("trials_to_show: 135 trials without a failure show 0.05, 688 show 0.01, at 99.9 %") {
  CHECK(trials_to_show(0.05, 1e-3) == 135);
  CHECK(trials_to_show(0.01, 1e-3) == 688);
  CHECK(trials_to_show(0.5, 0.6) == 1);
  for (const double delta : {0.3, 0.1, 1e-3, 1e-6}) {
    for (const double alpha : {0.05, 1e-6, 1e-9}) {
      CHECK(static_cast<double>(trials_to_show(delta, alpha)) == std::ceil(std::log(alpha) / std::log1p(-delta)));
    }
  }
}

TEST_CASE("trials_to_show: with failures, the smallest n by the binomial sum") {
  for (const std::uint64_t failures : {0, 1, 3, 10}) {
    for (const double delta : {0.4, 0.1}) {
      for (const double alpha : {0.05, 1e-4}) {
        CAPTURE(failures);
        const std::uint64_t n = trials_to_show(delta, alpha, failures);
        CHECK(binomial_at_most(failures, n, delta) <= alpha);
        CHECK(binomial_at_most(failures, n - 1, delta) > alpha);
      }
    }
  }
}

TEST_CASE("trials_to_decide: decides with the stated power, and with few more trials than the fewest that do") {
  struct Case {
    double p, delta;
  };
  for (const auto& [p, delta] : {Case{0.0, 0.2}, Case{0.05, 0.2}, Case{0.4, 0.2}, Case{1.0, 0.2}, Case{0.5, 0.7}}) {
    for (const double alpha : {0.05, 1e-3}) {
      CAPTURE_BINDING(p);
      CAPTURE_BINDING(delta);
      const double miss = 0.05;
      const std::uint64_t n = trials_to_decide(p, delta, alpha, miss);
      CHECK(power_by_summation(n, p, delta, alpha) >= 1 - miss);
      std::uint64_t fewest = 1;
      while (power_by_summation(fewest, p, delta, alpha) < 1 - miss) ++fewest;
      CHECK(fewest <= n);
      // The power goes up and down over a few steps of the limit, which are about 1 / delta trials apart.
      CHECK(static_cast<double>(n) <= static_cast<double>(fewest) + 5 / delta);
    }
  }
  CHECK(trials_to_decide(0, 0.05, 1e-3, 0.5) == trials_to_show(0.05, 1e-3));
}

TEST_CASE("samples_for_mean_shift: the textbook numbers, and the power that follows from them") {
  // (1.959964 + 0.8416212)^2 / 0.5^2 = 31.4; / 0.2^2 = 196.2.
  CHECK(samples_for_mean_shift(0.5, 0.05, 0.2) == 32);
  CHECK(samples_for_mean_shift(0.2, 0.05, 0.2) == 197);
  CHECK(samples_for_mean_shift(100, 0.05, 0.2) == 1);
  CHECK(detectable_mean_shift(32, 0.05, 0.2) <= 0.5);
  CHECK(detectable_mean_shift(31, 0.05, 0.2) > 0.5);
  // 40,000 means of 32: the shifted one is seen with probability 0.8074 (the far side adds 1e-6), z = 0.8680.
  const Key key = Key(test_seed()).child("shift");
  std::uint64_t seen = 0;
  for (const double z : normal_sample(40000, key)) seen += std::abs(z + 0.5 * std::sqrt(32.0)) > 1.959963985 ? 1 : 0;
  const double power = 0.5 * std::erfc((1.959963985 - 0.5 * std::sqrt(32.0)) / std::sqrt(2.0));
  CHECK(power >= 0.8);
  CHECK(is_binomial(static_cast<double>(seen), 40000, power, 1e-9));
}

TEST_CASE("samples_for_variance_ratio: the smallest by the Poisson form of chi^2, and tabulated ratios") {
  // chi^2_10: 20.48318, 4.865182, 3.246973, 15.98718.
  CHECK(detectable_variance_increase(11, 0.05, 0.1) == doctest::Approx(20.48318 / 4.865182).epsilon(1e-6));
  CHECK(detectable_variance_decrease(11, 0.05, 0.1) == doctest::Approx(3.246973 / 15.98718).epsilon(1e-6));
  for (const double ratio : {4.0, 1.5, 0.6, 0.1}) {
    for (const double alpha : {0.05, 1e-6}) {
      CAPTURE(ratio);
      CAPTURE(alpha);
      const double miss = 0.1;
      const auto power = [&](std::uint64_t m) {  // of 2 m + 1 samples
        const long double r = ratio;
        return ratio > 1 ? even_chi_squared_tail(m, even_chi_squared_quantile(m, alpha / 2) / r)
                         : 1 - even_chi_squared_tail(m, even_chi_squared_quantile(m, 1 - alpha / 2) / r);
      };
      // Only odd numbers of samples have the form: n is between the last of them that is too small and the next.
      const std::uint64_t n = samples_for_variance_ratio(ratio, alpha, miss);
      CHECK(power(n / 2) >= 1 - miss);
      CHECK((n < 4 || power((n - 2) / 2) < 1 - miss));
      CHECK(n <= 700);
    }
  }
}

TEST_CASE("samples_for_distribution_gap: the closed form, and its inverse") {
  // (sqrt(log 40) + sqrt(log 20))^2 / (2 * 0.01) = (1.920649 + 1.730818)^2 / 0.02 = 666.66.
  CHECK(samples_for_distribution_gap(0.1, 0.05, 0.05) == 667);
  CHECK(detectable_distribution_gap(667, 0.05, 0.05) <= 0.1);
  CHECK(detectable_distribution_gap(666, 0.05, 0.05) > 0.1);
  CHECK(samples_for_distribution_gap(1, 0.9, 0.9) == 1);
}

TEST_CASE("design: refuses effects that are none, and those that no practicable number of samples shows") {
  CHECK(contains(refusal([] { trials_to_show(0, 0.1); }),
                 "trials_to_show: 0 < delta < 1 and 0 < alpha < 1, got delta = 0"));
  CHECK(contains(refusal([] { trials_to_show(0.5, 1); }), "alpha = 1"));
  CHECK(contains(refusal([] { trials_to_show(1e-17, 0.1); }), "a practicable number of samples"));
  CHECK(contains(refusal([] { trials_to_decide(0.2, 0.2, 0.1, 0.1); }), "p not delta"));
  CHECK(contains(refusal([] { trials_to_decide(0.2, 0.2 + 1e-9, 0.1, 0.1); }), "a practicable number of samples"));
  CHECK(contains(refusal([] { trials_to_decide(0.1, 0.2, 0.1, 0); }), "0 < miss < 1"));
  CHECK(contains(refusal([] { samples_for_mean_shift(0, 0.1, 0.1); }), "shift > 0"));
  CHECK(contains(refusal([] { samples_for_mean_shift(1e-12, 0.1, 0.1); }), "a practicable number of samples"));
  CHECK(contains(refusal([] { samples_for_variance_ratio(1, 0.1, 0.1); }), "ratio > 0 and not 1"));
  CHECK(contains(refusal([] { samples_for_variance_ratio(-2, 0.1, 0.1); }), "ratio > 0 and not 1"));
  CHECK(contains(refusal([] { samples_for_distribution_gap(1.5, 0.1, 0.1); }), "0 < discrepancy <= 1"));
  CHECK(contains(refusal([] { detectable_mean_shift(0, 0.1, 0.1); }), "n >= 1"));
  CHECK(contains(refusal([] { detectable_variance_increase(1, 0.1, 0.1); }), "n >= 2"));
  CHECK(contains(refusal([] { detectable_variance_decrease(1, 0.1, 0.1); }), "n >= 2"));
  CHECK(contains(refusal([] { detectable_distribution_gap(0, 0.1, 0.1); }), "n >= 1"));
}
