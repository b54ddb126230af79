#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <croquis/claims/claim.hpp>
#include <croquis/claims/power.hpp>
#include <croquis/stats/intervals.hpp>
#include <limits>
#include <utility>

namespace croquis::claims {
namespace {

constexpr double kMissed = 0.05;

struct Median {
  double value;
  Interval interval;
};

// The k-th smallest and the k-th largest value, of which the median is outside with probability 2 P(Bin(N, 1/2) < k).
// A NaN counts as infinity, as in quantile_of().
Median median_of(std::vector<double> values) {
  for (double& x : values) {
    if (std::isnan(x)) x = std::numeric_limits<double>::infinity();
  }
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  const boost::math::binomial_distribution<> below(static_cast<double>(count), 0.5);
  std::size_t k = 1;
  while (2 * boost::math::cdf(below, static_cast<double>(k)) <= kMissed) ++k;
  return {values[(count + 1) / 2 - 1], {values[k - 1], values[count - k]}};
}

}  // namespace

double power_of_medians(std::vector<double> first, std::vector<double> second) {
  const auto [a, of_a] = median_of(std::move(first));
  const auto [b, of_b] = median_of(std::move(second));
  return (a > b ? a - of_a.lo + of_b.hi - b : of_a.hi - a + b - of_b.lo) / b;
}

double relative_error_of_mean(const Accumulator& sample) {
  return sample.count() < 2 ? Finding::kNone : sample.standard_error() / std::abs(sample.mean());
}

double power_of_means(double relative_error) {
  constexpr double quantile = 1.6449;  // of the normal distribution, at 0.95
  return quantile * relative_error;
}

double power_of_distance(std::uint64_t trials, double allowed) {
  return allowed + std::sqrt(std::log(1 / kMissed) / (2 * static_cast<double>(trials)));
}

}  // namespace croquis::claims
