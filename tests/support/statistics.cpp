#include "support/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>

namespace bm = boost::math;

bool is_standard_normal(double z, double failure) {
  return std::abs(z) <= bm::quantile(bm::complement(bm::normal(), failure / 2));
}

bool is_chi_squared(double x, double degrees, double failure) {
  const bm::chi_squared distribution(degrees);
  return x >= bm::quantile(distribution, failure / 2) && x <= bm::quantile(bm::complement(distribution, failure / 2));
}

bool is_binomial(double successes, double trials, double probability, double failure) {
  const bm::binomial distribution(trials, probability);
  if (successes < 0 || successes > trials) return false;
  const double at_most = bm::cdf(distribution, successes);
  const double at_least = successes == 0 ? 1.0 : bm::cdf(bm::complement(distribution, successes - 1));
  return at_most > failure / 2 && at_least > failure / 2;
}

bool counts_follow(const std::vector<double>& counts, const std::vector<double>& probabilities, double failure) {
  const double trials = std::accumulate(counts.begin(), counts.end(), 0.0);
  const auto cells = static_cast<double>(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!is_binomial(counts[i], trials, probabilities[i], failure / cells)) return false;
  }
  return true;
}

bool sample_is_normal(std::vector<double> sample, double failure) {
  const auto n = static_cast<double>(sample.size());
  std::sort(sample.begin(), sample.end());
  double gap = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double f = bm::cdf(bm::normal(), sample[i]);
    gap = std::max({gap, f - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - f});
    sum += sample[i];
    squares += sample[i] * sample[i];
  }
  const double third = failure / 3;
  return gap <= std::sqrt(std::log(2 / third) / (2 * n)) && is_standard_normal(sum / std::sqrt(n), third) &&
         is_chi_squared(squares, n, third);
}

bool samples_are_uncorrelated(const std::vector<double>& x, const std::vector<double>& y, double failure) {
  const double inner = std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  const double length = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
  return is_standard_normal(inner / length, failure);
}
