#include <doctest/doctest.h>
#include <croquis/stats/accumulator.hpp>

#include <cmath>
#include <limits>

#include "stats/reference.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;

struct Moments {
  long double mean = 0, variance = 0, kurtosis = 0;
};

// By definition, in two passes.
Moments by_definition(const std::vector<double>& sample) {
  const auto n = static_cast<long double>(sample.size());
  Moments moments;
  for (const double x : sample) moments.mean += x / n;
  long double m2 = 0, m4 = 0;
  for (const double x : sample) {
    const long double d = x - moments.mean;
    m2 += d * d / n;
    m4 += d * d * d * d / n;
  }
  moments.variance = m2 * n / (n - 1);
  moments.kurtosis = m4 / (m2 * m2);
  return moments;
}

// An update has about 20 operations on terms no larger than the moment (with absolute values) has become. Errors of
// the mean, n u spread, enter in the deviations; the powers multiply both by at most 4.
void check_moments(const Accumulator& a, const std::vector<double>& sample, double spread_over_deviation = 1) {
  const Moments exact = by_definition(sample);
  const double bound = 4 * 20 * static_cast<double>(sample.size()) * kUnit * spread_over_deviation;
  CAPTURE(sample.size());
  CHECK(a.count() == sample.size());
  CHECK(std::abs(a.mean() - static_cast<double>(exact.mean)) <= bound * (std::abs(a.mean()) + std::sqrt(a.variance())));
  CHECK(a.variance() == doctest::Approx(static_cast<double>(exact.variance)).epsilon(bound).scale(0));
  CHECK(a.kurtosis() == doctest::Approx(static_cast<double>(exact.kurtosis)).epsilon(bound).scale(0));
}

}  // namespace

TEST_CASE("Accumulator: the moments are those of the definition, for symmetric and skewed values") {
  const Key key = Key(test_seed()).child("moments");
  for (const std::size_t n : {2, 3, 4, 5, 10, 100, 1000, 10000}) {
    for (const std::vector<double>& sample :
         {normal_sample(n, key.child("normal").child(n)), exponential_sample(n, key.child("skewed").child(n))}) {
      check_moments(accumulated(sample), sample);
    }
  }
}

TEST_CASE("Accumulator: the same shape at every size that a double may have") {
  const std::vector<double> sample = exponential_sample(50, Key(test_seed()).child("sizes"));
  const Accumulator expected = accumulated(sample);
  for (const int exponent : {-1000, -600, -270, 270, 600, 1000}) {
    CAPTURE(exponent);
    std::vector<double> scaled = sample;
    for (double& x : scaled) x = std::ldexp(x, exponent);
    const Accumulator whole = accumulated(scaled);
    // A power of two changes no bit.
    CHECK(whole.mean() == std::ldexp(expected.mean(), exponent));
    CHECK(whole.standard_error() == std::ldexp(expected.standard_error(), exponent));
    CHECK(whole.variance() == std::ldexp(expected.variance(), 2 * exponent));
    CHECK(whole.kurtosis() == expected.kurtosis());
  }
  CHECK(accumulated({1e200, 1e200, 1e200}).variance() == 0);
}

TEST_CASE("Accumulator: values whose sizes are far apart, in either order") {
  // 1e-150 is nothing beside 1e150, but neither does it spoil it: deviations -1/3, -1/3 and 2/3 of 1e150.
  const std::vector<std::vector<double>> orders = {{1e-150, 2e-150, 1e150}, {1e150, 2e-150, 1e-150}};
  for (const std::vector<double>& sample : orders) {
    const Accumulator a = accumulated(sample);
    CHECK(a.mean() == doctest::Approx(1e150 / 3).epsilon(1e-14));
    CHECK(a.standard_error() == doctest::Approx(1e150 / 3).epsilon(1e-14));  // of a variance of 1e300 / 3
    CHECK(a.kurtosis() == doctest::Approx(1.5).epsilon(1e-14));
  }
}

TEST_CASE("Accumulator: an offset of 1e9 costs nothing, where sums of squares lose everything") {
  // Deviations -6, -3, 3, 6: M_2 = 90, M_4 = 2754. All steps are exact but the thirds in the mean, which are
  // off by u 1e9 = 1e-7.
  const std::vector<double> sample = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
  const Accumulator a = accumulated(sample);
  CHECK(a.mean() == doctest::Approx(1e9 + 10).epsilon(1e-15));
  CHECK(a.variance() == doctest::Approx(30).epsilon(1e-6));
  CHECK(a.kurtosis() == doctest::Approx(4 * 2754.0 / (90.0 * 90.0)).epsilon(1e-6));

  double sum = 0, squares = 0;
  for (const double x : sample) sum += x, squares += x * x;
  CHECK_FALSE((squares - sum * sum / 4) / 3 == doctest::Approx(30).epsilon(0.1));  // the mutant
}

TEST_CASE("Accumulator: values that are all the same have variance zero exactly, and no shape") {
  const Accumulator a = accumulated(std::vector<double>(1500, 0.1));
  CHECK(a.mean() == 0.1);
  CHECK(a.variance() == 0.0);
  CHECK(a.standard_error() == 0.0);
  CHECK(std::isnan(a.kurtosis()));
}

TEST_CASE("Accumulator: refuses NaN and Inf, and moments of too few values") {
  Accumulator a;
  CHECK(refusal([&] { a.add(std::numeric_limits<double>::quiet_NaN()); }) ==
        "Accumulator::add: a finite value, got x = nan");
  CHECK(contains(refusal([&] { a.add(-std::numeric_limits<double>::infinity()); }), "x = -inf"));
  CHECK(refusal([&] { a.mean(); }) == "Accumulator::mean: at least one value");
  a.add(1);
  CHECK(refusal([&] { a.variance(); }) == "Accumulator::variance: at least two values, got count = 1");
  CHECK(contains(refusal([&] { a.standard_error(); }), "at least two values"));
  CHECK(contains(refusal([&] { a.kurtosis(); }), "at least two values"));
  CHECK(a.mean() == 1);  // refused values left no trace
}
