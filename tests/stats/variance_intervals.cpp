#include <doctest/doctest.h>
#include <croquis/stats/intervals.hpp>

#include <cmath>

#include "stats/misses.hpp"
#include "stats/reference.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"

using namespace croquis;

namespace {

constexpr double kFailure = 1e-9;  // of each statistical check below
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("chi_squared_variance_interval: the tabulated quantiles of nine degrees of freedom") {
  const Accumulator sample = accumulated({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});  // (n - 1) s^2 = 82.5
  const Interval both = chi_squared_variance_interval(sample, 0.05);
  CHECK(both.lo == doctest::Approx(82.5 / 19.02277).epsilon(1e-6));
  CHECK(both.hi == doctest::Approx(82.5 / 2.700389).epsilon(1e-6));
  const Interval lower = chi_squared_variance_interval(sample, 0.05, Side::lower);
  CHECK(lower.lo == doctest::Approx(82.5 / 16.91898).epsilon(1e-6));
  CHECK(lower.hi == kInfinity);
  const Interval upper = chi_squared_variance_interval(sample, 0.05, Side::upper);
  CHECK(upper.lo == 0);
  CHECK(upper.hi == doctest::Approx(82.5 / 3.325113).epsilon(1e-6));
}

TEST_CASE("variance intervals: exact for normal values by chi^2, and by F for the ratio of two") {
  // 20,000 samples of three. One degree of freedom too many would miss with probability 0.18, 38 deviations away.
  constexpr std::uint64_t repeats = 20000;
  constexpr double alpha = 0.1;
  const Key key = Key(test_seed()).child("chi-squared");
  const Draw draw = [](const Key& s) { return normal_sample(3, s); };
  const auto accepts = [&](double truth, const Estimate& estimate) {
    return is_binomial(static_cast<double>(misses(draw, truth, repeats, key, estimate)), repeats, alpha, kFailure);
  };
  for (const Side side : {Side::both, Side::lower, Side::upper}) {
    CHECK(accepts(1, [&](const Accumulator& a) { return chi_squared_variance_interval(a, alpha, side); }));
  }
  CHECK_FALSE(accepts(1, [](const Accumulator& a) {
    return Interval{2 * a.variance() / 7.814728, 2 * a.variance() / 0.351846};  // quantiles of chi^2_3
  }));
  // The second sample has five values of variance 1/4.
  std::uint64_t next = 0;
  const auto second = [&] {
    std::vector<double> y = normal_sample(5, key.child("second").child(next++));
    for (double& value : y) value /= 2;
    return accumulated(y);
  };
  for (const Side side : {Side::both, Side::lower, Side::upper}) {
    CHECK(accepts(4, [&](const Accumulator& a) { return variance_ratio_interval(a, second(), alpha, side); }));
  }
  CHECK_FALSE(accepts(4, [&](const Accumulator& a) {  // the ratio the wrong way round
    return variance_ratio_interval(second(), a, alpha);
  }));
}

TEST_CASE("variance_ratio_interval: the tabulated quantile F_{9,9} = 4.025994") {
  const Accumulator x = accumulated({2, 4, 6, 8, 10, 12, 14, 16, 18, 20}),
                    y = accumulated({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Interval both = variance_ratio_interval(x, y, 0.05);
  CHECK(both.lo == doctest::Approx(4 / 4.025994).epsilon(1e-6));
  CHECK(both.hi == doctest::Approx(4 * 4.025994).epsilon(1e-6));
}

TEST_CASE("asymptotic_variance_interval: covers exponential values, where chi^2 is off for ever") {
  // Kurtosis 9: log s^2 has variance 8 / n, of which chi^2 knows 2 / n; it misses with P(|z| > 1.645 / 2) = 0.41. 2,000
  // samples of 1,000: a probability of at most 0.15 is what a nominal 0.1 is allowed here.
  constexpr double alpha = 0.1, allowed = 0.15;
  const Key key = Key(test_seed()).child("kurtosis");
  const Draw exponential = [](const Key& s) { return exponential_sample(1000, s); };
  const auto accepts = [&](const Estimate& estimate) {
    return no_more_than(misses(exponential, 1, 2000, key, estimate), 2000, allowed, kFailure);
  };
  for (const Side side : {Side::both, Side::lower, Side::upper}) {
    CHECK(accepts([&](const Accumulator& a) { return asymptotic_variance_interval(a, alpha, side); }));
  }
  CHECK_FALSE(accepts([](const Accumulator& a) { return chi_squared_variance_interval(a, alpha); }));
}

TEST_CASE("asymptotic_variance_interval: with many normal values it is the one of chi^2, and no spread says nothing") {
  // Half widths of log s^2: z sqrt(2 / n) for both; the kurtosis is 3 +- 5 sqrt(24 / n), which moves it by 1 %; the
  // skewness of chi^2 moves the limits by about z^2 2 / (3 n) beside it, 0.1 %.
  const Accumulator a = accumulated(normal_sample(100000, Key(test_seed()).child("many")));
  const Interval chi = chi_squared_variance_interval(a, 0.01), asymptotic = asymptotic_variance_interval(a, 0.01);
  CHECK(std::log(asymptotic.hi / asymptotic.lo) == doctest::Approx(std::log(chi.hi / chi.lo)).epsilon(0.02));
  CHECK(std::log(asymptotic.hi / chi.hi) == doctest::Approx(0).epsilon(0.02 * std::log(chi.hi / chi.lo)));
  const Interval nothing = asymptotic_variance_interval(accumulated({1, 1, 1, 1}), 0.1);
  CHECK(nothing.lo == 0);
  CHECK(nothing.hi == kInfinity);
}

TEST_CASE("bounded_variance_interval: covers on a bounded range, with the constants of the theorem") {
  // 100 values, 1 with probability 0.2: s = 0.4 +- 0.03; a tenth of the margin 0.27 would miss 3 times in 10.
  constexpr double alpha = 0.05;
  const Key key = Key(test_seed()).child("bounded");
  const Draw draw = [](const Key& s) {
    std::vector<double> x = bernoulli_sample(100, 0.2, s);
    for (double& value : x) value = 2 * value - 1;
    return x;
  };
  const auto accepts = [&](const Estimate& estimate) {
    return no_more_than(misses(draw, 0.64, 5000, key, estimate), 5000, alpha, kFailure);
  };
  CHECK(accepts([](const Accumulator& a) { return bounded_variance_interval(a, {-1, 1}, alpha); }));
  CHECK_FALSE(accepts([](const Accumulator& a) {
    const double s = a.standard_deviation(), margin = 0.2 * std::sqrt(2 * std::log(2 / alpha) / 99);
    return Interval{(s - margin) * (s - margin), (s + margin) * (s + margin)};
  }));

  // 10,001 values of 0 and 1: s = 0.500025, margin sqrt(2 log(40) / 10000) = 0.02716203.
  std::vector<double> x(10001);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 0 : 1;
  const Interval interval = bounded_variance_interval(accumulated(x), {0, 1}, 0.05);
  CHECK(interval.lo == doctest::Approx((0.500025 - 0.02716203) * (0.500025 - 0.02716203)).epsilon(1e-6));
  CHECK(interval.hi == 0.25);  // no distribution on the range has more
  CHECK(bounded_variance_interval(accumulated({0, 0, 0}), {0, 1}, 0.05).lo == 0);
}
