#include <doctest/doctest.h>
#include <croquis/stats/intervals.hpp>

#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>

#include "stats/misses.hpp"
#include "stats/reference.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// What is exact for normal values: (n - 1) s^2 over quantiles of chi^2.
Interval chi_squared_interval(const Accumulator& a, double alpha) {
  const auto degrees = static_cast<double>(a.count() - 1);
  const boost::math::chi_squared distribution(degrees);
  return {degrees * a.variance() / quantile(complement(distribution, alpha / 2)),
          degrees * a.variance() / quantile(distribution, alpha / 2)};
}

}  // namespace

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
  CHECK_FALSE(accepts([](const Accumulator& a) { return chi_squared_interval(a, alpha); }));
}

TEST_CASE("asymptotic_variance_interval: with many normal values it is the one of chi^2, and no spread says nothing") {
  // Half widths of log s^2: z sqrt(2 / n) for both; the kurtosis is 3 +- 5 sqrt(24 / n), which moves it by 1 %; the
  // skewness of chi^2 moves the limits by about z^2 2 / (3 n) beside it, 0.1 %.
  const Accumulator a = accumulated(normal_sample(100000, Key(test_seed()).child("many")));
  const Interval chi = chi_squared_interval(a, 0.01), asymptotic = asymptotic_variance_interval(a, 0.01);
  CHECK(std::log(asymptotic.hi / asymptotic.lo) == doctest::Approx(std::log(chi.hi / chi.lo)).epsilon(0.02));
  CHECK(std::log(asymptotic.hi / chi.hi) == doctest::Approx(0).epsilon(0.02 * std::log(chi.hi / chi.lo)));
  const Interval nothing = asymptotic_variance_interval(accumulated({1, 1, 1, 1}), 0.1);
  CHECK(nothing.lo == 0);
  CHECK(nothing.hi == kUnbounded);
}
