#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/stats/design.hpp>
#include <croquis/stats/intervals.hpp>
#include <croquis/stats/search.hpp>
#include <optional>
#include <string_view>

namespace croquis {
namespace {

namespace bm = boost::math;

void require_errors(double alpha, double miss, std::string_view where) {
  require(alpha > 0 && alpha < 1 && miss > 0 && miss < 1, where, "0 < alpha < 1 and 0 < miss < 1",
          {{"alpha", alpha}, {"miss", miss}});
}

constexpr std::string_view kPracticable = "an effect that a practicable number of samples can show";

template <typename Enough>
std::uint64_t first_that_is_enough(std::uint64_t first, std::string_view where, const Enough& enough) {
  std::optional<std::uint64_t> n;
  if (first <= kMostTrials) n = smallest_sufficient(first, kMostTrials, enough);
  require(n.has_value(), where, kPracticable, {{"samples", kMostTrials}});
  return *n;
}

std::uint64_t rounded_up(double samples, std::string_view where) {
  require(samples <= static_cast<double>(kMostTrials), where, kPracticable, {{"samples", samples}});
  return samples <= 1 ? 1 : static_cast<std::uint64_t>(std::ceil(samples));
}

double sum_of_normal_quantiles(double alpha, double miss) {
  return bm::quantile(bm::complement(bm::normal(), alpha / 2)) + bm::quantile(bm::complement(bm::normal(), miss));
}

double sum_of_root_logs(double alpha, double miss) {
  return std::sqrt(std::log(2 / alpha)) + std::sqrt(-std::log(miss));
}

// P(the limit decides) after n trials.
double power(double n, double p, double delta, double alpha) {
  const bm::binomial at_limit(n, delta), truth(n, p);
  if (p < delta) {
    double k = std::floor(bm::quantile(at_limit, alpha));  // the largest k with P(Bin(n, delta) <= k) <= alpha
    while (k < n && bm::cdf(at_limit, k) <= alpha) ++k;
    while (k >= 0 && bm::cdf(at_limit, k) > alpha) --k;
    return k < 0 ? 0.0 : bm::cdf(truth, k);
  }
  double k = std::floor(bm::quantile(bm::complement(at_limit, alpha)));  // the largest k with P(Bin > k) > alpha
  while (k >= 0 && bm::cdf(bm::complement(at_limit, k)) <= alpha) --k;
  while (k < n && bm::cdf(bm::complement(at_limit, k)) > alpha) ++k;
  return k >= n ? 0.0 : bm::cdf(bm::complement(truth, k));
}

}  // namespace

std::uint64_t trials_to_show(double delta, double alpha, std::uint64_t failures) {
  constexpr std::string_view where = "trials_to_show";
  require(delta > 0 && delta < 1 && alpha > 0 && alpha < 1, where, "0 < delta < 1 and 0 < alpha < 1",
          {{"delta", delta}, {"alpha", alpha}});
  return first_that_is_enough(failures + 1, where, [&](std::uint64_t n) {
    return clopper_pearson(failures, n, alpha, Side::upper).hi <= delta;
  });
}

std::uint64_t trials_to_decide(double p, double delta, double alpha, double miss) {
  constexpr std::string_view where = "trials_to_decide";
  require_errors(alpha, miss, where);
  require(delta > 0 && delta < 1 && p >= 0 && p <= 1 && p != delta, where, "0 < delta < 1, 0 <= p <= 1, p not delta",
          {{"p", p}, {"delta", delta}});
  return first_that_is_enough(
      1, where, [&](std::uint64_t n) { return power(static_cast<double>(n), p, delta, alpha) >= 1 - miss; });
}

std::uint64_t samples_for_mean_shift(double shift, double alpha, double miss) {
  constexpr std::string_view where = "samples_for_mean_shift";
  require_errors(alpha, miss, where);
  require(shift > 0, where, "shift > 0", {{"shift", shift}});
  const double root = sum_of_normal_quantiles(alpha, miss) / shift;
  return rounded_up(root > 0 ? root * root : 1, where);
}

double detectable_mean_shift(std::uint64_t n, double alpha, double miss) {
  require_errors(alpha, miss, "detectable_mean_shift");
  require(n >= 1, "detectable_mean_shift", "n >= 1");
  return sum_of_normal_quantiles(alpha, miss) / std::sqrt(static_cast<double>(n));
}

std::uint64_t samples_for_variance_ratio(double ratio, double alpha, double miss) {
  constexpr std::string_view where = "samples_for_variance_ratio";
  require_errors(alpha, miss, where);
  require(ratio > 0 && ratio != 1, where, "ratio > 0 and not 1", {{"ratio", ratio}});
  return first_that_is_enough(2, where, [&](std::uint64_t n) {
    return ratio > 1 ? detectable_variance_increase(n, alpha, miss) <= ratio
                     : detectable_variance_decrease(n, alpha, miss) >= ratio;
  });
}

double detectable_variance_increase(std::uint64_t n, double alpha, double miss) {
  require_errors(alpha, miss, "detectable_variance_increase");
  require(n >= 2, "detectable_variance_increase", "n >= 2", {{"n", n}});
  const bm::chi_squared distribution(static_cast<double>(n - 1));
  return bm::quantile(bm::complement(distribution, alpha / 2)) / bm::quantile(distribution, miss);
}

double detectable_variance_decrease(std::uint64_t n, double alpha, double miss) {
  require_errors(alpha, miss, "detectable_variance_decrease");
  require(n >= 2, "detectable_variance_decrease", "n >= 2", {{"n", n}});
  const bm::chi_squared distribution(static_cast<double>(n - 1));
  return bm::quantile(distribution, alpha / 2) / bm::quantile(bm::complement(distribution, miss));
}

std::uint64_t samples_for_distribution_gap(double discrepancy, double alpha, double miss) {
  constexpr std::string_view where = "samples_for_distribution_gap";
  require_errors(alpha, miss, where);
  require(discrepancy > 0 && discrepancy <= 1, where, "0 < discrepancy <= 1", {{"discrepancy", discrepancy}});
  const double root = sum_of_root_logs(alpha, miss) / discrepancy;
  return rounded_up(root * root / 2, where);
}

double detectable_distribution_gap(std::uint64_t n, double alpha, double miss) {
  require_errors(alpha, miss, "detectable_distribution_gap");
  require(n >= 1, "detectable_distribution_gap", "n >= 1");
  return sum_of_root_logs(alpha, miss) / std::sqrt(2 * static_cast<double>(n));
}

}  // namespace croquis
