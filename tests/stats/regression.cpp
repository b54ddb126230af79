#include <doctest/doctest.h>
#include <croquis/stats/regression.hpp>

#include <cmath>
#include <limits>

#include "stats/reference.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

const std::vector<double> kAnscombeX = {10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5};
const std::vector<double> kAnscombeY = {8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68};

}  // namespace

TEST_CASE("fit_line: Anscombe's first data set") {
  const LineFit fit = fit_line(kAnscombeX, kAnscombeY);
  CHECK(fit.points == 11);
  CHECK(fit.slope == doctest::Approx(0.5000909).epsilon(1e-6));
  CHECK(fit.intercept == doctest::Approx(3.0000909).epsilon(1e-6));
  CHECK(fit.slope_error == doctest::Approx(0.1179055).epsilon(1e-6));
  CHECK(fit.residual == doctest::Approx(1.2366033).epsilon(1e-6));
  // t_{9, 0.975} = 2.262157, t_{9, 0.95} = 1.833113.
  CHECK(fit.slope_interval(0.05).lo == doctest::Approx(0.5000909 - 2.262157 * 0.1179055).epsilon(1e-6));
  CHECK(fit.slope_interval(0.05).hi == doctest::Approx(0.5000909 + 2.262157 * 0.1179055).epsilon(1e-6));
  CHECK(fit.slope_interval(0.05, Side::lower).lo == doctest::Approx(0.5000909 - 1.833113 * 0.1179055).epsilon(1e-6));
  CHECK(fit.slope_interval(0.05, Side::lower).hi == std::numeric_limits<double>::infinity());
  CHECK(fit.slope_interval(0.05, Side::upper).hi == doctest::Approx(0.5000909 + 1.833113 * 0.1179055).epsilon(1e-6));
}

TEST_CASE("fit_line: a point of weight 3 is three points, and a common factor of the weights changes no error") {
  const std::vector<double> x = {1, 2, 4, 7}, y = {2, 1, 5, 6}, w = {1, 3, 2, 1};
  const LineFit weighted = fit_line(x, y, w);
  const LineFit repeated = fit_line(std::vector<double>{1, 2, 2, 2, 4, 4, 7}, std::vector<double>{2, 1, 1, 1, 5, 5, 6});
  CHECK(weighted.slope == doctest::Approx(repeated.slope).epsilon(1e-13));
  CHECK(weighted.intercept == doctest::Approx(repeated.intercept).epsilon(1e-13));
  // Same sum of squares, over 4 - 2 and over 7 - 2.
  CHECK(weighted.residual * weighted.residual * 2 == doctest::Approx(repeated.residual * repeated.residual * 5));
  const LineFit scaled = fit_line(x, y, std::vector<double>{10, 30, 20, 10});
  CHECK(scaled.slope == doctest::Approx(weighted.slope));
  CHECK(scaled.slope_error == doctest::Approx(weighted.slope_error));
  CHECK(fit_line(x, y, std::vector<double>{5, 5, 5, 5}).slope_error == doctest::Approx(fit_line(x, y).slope_error));
}

TEST_CASE("fit_line: an offset of 1e8 in x and y costs only the digits that it takes from them") {
  std::vector<double> x = kAnscombeX, y = kAnscombeY;
  for (double& value : x) value += 1e8;
  for (double& value : y) value += 1e8;
  // y is rounded by 1e-8, of deviations of 2.
  CHECK(fit_line(x, y).slope == doctest::Approx(0.5000909).epsilon(1e-6));
  CHECK(fit_line(x, y).slope_error == doctest::Approx(0.1179055).epsilon(1e-6));
}

TEST_CASE("fit_line: the interval misses the slope with probability alpha exactly, weights included; z and n do not") {
  // Five points of deviations 1/sqrt(w); 20,000 lines. With z for t_3 it would miss with probability 0.198, without the
  // weights with 0.2 about: 46 deviations away.
  constexpr std::uint64_t repeats = 20000;
  constexpr double alpha = 0.1, slope = -0.5;
  const std::vector<double> x = {1, 2, 3, 4, 8}, w = {1, 4, 100, 1, 0.25};
  const Key key = Key(test_seed()).child("line");
  std::uint64_t missed = 0, missed_below = 0, missed_with_z = 0, missed_without_weights = 0;
  for (std::uint64_t r = 0; r < repeats; ++r) {
    std::vector<double> y = normal_sample(5, key.child(r));
    for (std::size_t i = 0; i < 5; ++i) y[i] = 2 + slope * x[i] + y[i] / std::sqrt(w[i]);
    const LineFit fit = fit_line(x, y, w);
    missed += fit.slope_interval(alpha).contains(slope) ? 0 : 1;
    missed_below += fit.slope_interval(alpha, Side::lower).contains(slope) ? 0 : 1;
    missed_with_z += std::abs(fit.slope - slope) <= 1.6449 * fit.slope_error ? 0 : 1;
    missed_without_weights += fit_line(x, y).slope_interval(alpha).contains(slope) ? 0 : 1;
  }
  const auto accepts = [&](std::uint64_t misses) {
    return is_binomial(static_cast<double>(misses), repeats, alpha, kFailure);
  };
  CHECK(accepts(missed));
  CHECK(accepts(missed_below));
  CHECK_FALSE(accepts(missed_with_z));
  CHECK_FALSE(accepts(missed_without_weights));
}

TEST_CASE("fit_power_law: exact powers, and a rate of -1/2 told from -0.45 in noise") {
  std::vector<double> m, exact, noisy;
  for (double size = 16; size <= 4096; size *= 2) m.push_back(size);
  const std::vector<double> z = normal_sample(m.size(), Key(test_seed()).child("rate"));
  for (std::size_t i = 0; i < m.size(); ++i) {
    exact.push_back(3 / std::sqrt(m[i]));
    noisy.push_back(exact[i] * std::exp(1e-4 * z[i]));
  }
  const LineFit fit = fit_power_law(m, exact);
  CHECK(fit.slope == doctest::Approx(-0.5).epsilon(1e-13));
  CHECK(std::exp(fit.intercept) == doctest::Approx(3).epsilon(1e-13));
  CHECK(fit.slope_interval(1e-6).contains(fit.slope));

  // 9 points, log m with sum of squares 60 log(2)^2 = 28.8: deviation 1.9e-5 of the slope. t_{7, 1 - 5e-10} = 38 when
  // the residual is right; the residual is above 3 times its value with probability 1e-10, then the interval is
  // 0.0022 wide either way: -0.45 is far outside.
  const Interval interval = fit_power_law(m, noisy).slope_interval(kFailure);
  CHECK(interval.contains(-0.5));
  CHECK_FALSE(interval.contains(-0.45));
  CHECK(fit_power_law(m, noisy, std::vector<double>(9, 2.0)).slope == doctest::Approx(fit_power_law(m, noisy).slope));
}

TEST_CASE("fit_line: refuses what determines no line") {
  const std::vector<double> x = {1, 2, 3}, same = {2, 2, 2};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(contains(refusal([&] {
                   fit_line(x, std::vector{1.0, 2.0});
                 }),
                 "fit_line: as many y, and weights if any, as x"));
  CHECK(contains(refusal([&] { fit_line(x, x, std::vector{1.0, 2.0}); }), "weights = 2"));
  CHECK(contains(refusal([&] { fit_line(std::vector{1.0, 2.0}, std::vector{1.0, 2.0}); }), "at least three"));
  CHECK(contains(refusal([&] { fit_line(same, x); }), "two different x, got x = 2"));
  for (const double scale : {1e-200, 1e-155, 1e200, 1e308 / 2}) {
    CHECK(contains(refusal([&] { fit_line(std::vector{0.0, scale, 2 * scale}, x); }), "neither vanish nor overflow"));
  }
  CHECK(fit_line(std::vector{0.0, 1e-150, 2e-150}, x).slope == doctest::Approx(1e150));
  CHECK(contains(refusal([&] {
                   fit_line(x, std::vector{1.0, nan, 2.0});
                 }),
                 "finite points and weights > 0, got point = 1"));
  CHECK(contains(refusal([&] { fit_line(x, x, std::vector{1.0, 0.0, 2.0}); }), "weights > 0, got point = 1"));
  CHECK(contains(refusal([&] {
                   fit_power_law(std::vector{0.0, 1.0, 2.0}, x);
                 }),
                 "fit_power_law: values > 0, got x = 0"));
  CHECK(contains(refusal([&] { fit_power_law(x, std::vector{1.0, -1.0, 2.0}); }), "got y = -1"));
  CHECK(contains(refusal([&] { fit_line(x, x).slope_interval(0); }), "0 < alpha < 1"));
  CHECK(contains(refusal([] { LineFit{}.slope_interval(0.1); }), "a fit of at least three points"));
}
