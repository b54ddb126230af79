#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/stats/intervals.hpp>

namespace croquis {
namespace {

namespace bm = boost::math;

void require_alpha(double alpha, std::string_view where) {
  require(alpha > 0 && alpha < 1, where, "0 < alpha < 1", {{"alpha", alpha}});
}

double per_limit(double alpha, Side side) {
  return side == Side::both ? alpha / 2 : alpha;
}

// [lo, hi], without the limits that were not requested.
Interval limited(double lo, double hi, Side side, Interval range) {
  return {side == Side::upper ? range.lo : std::max(lo, range.lo),
          side == Side::lower ? range.hi : std::min(hi, range.hi)};
}

void require_sample(const Accumulator& sample, std::uint64_t least, double alpha, std::string_view where) {
  require_alpha(alpha, where);
  require(sample.count() >= least, where, least == 2 ? "at least two values" : "at least four values",
          {{"count", sample.count()}});
}

void require_in_range(const Accumulator& sample, Interval range, std::string_view where) {
  require(std::isfinite(range.lo) && std::isfinite(range.hi) && range.lo < range.hi, where,
          "a range with finite ends lo < hi", {{"lo", range.lo}, {"hi", range.hi}});
  require(range.contains(sample.min()) && range.contains(sample.max()), where, "values in the range",
          {{"smallest", sample.min()}, {"largest", sample.max()}, {"lo", range.lo}, {"hi", range.hi}});
}

const Interval kNonNegative = {0, std::numeric_limits<double>::infinity()};

}  // namespace

Interval clopper_pearson(std::uint64_t failures, std::uint64_t trials, double alpha, Side side) {
  constexpr std::string_view where = "clopper_pearson";
  require_alpha(alpha, where);
  require(trials >= 1 && failures <= trials, where, "failures <= trials and at least one trial",
          {{"failures", failures}, {"trials", trials}});
  require(trials <= kMostTrials, where, "at most 2^33 trials", {{"trials", trials}});
  const auto n = static_cast<double>(trials), k = static_cast<double>(failures);
  const double a = per_limit(alpha, side);
  return {side == Side::upper ? 0.0 : bm::binomial::find_lower_bound_on_p(n, k, a),
          side == Side::lower ? 1.0 : bm::binomial::find_upper_bound_on_p(n, k, a)};
}

double student_quantile(double degrees, double alpha, Side side) {
  require_alpha(alpha, "student_quantile");
  require(degrees > 0, "student_quantile", "degrees > 0", {{"degrees", degrees}});
  return bm::quantile(bm::complement(bm::students_t(degrees), per_limit(alpha, side)));
}

Interval student_interval(const Accumulator& sample, double alpha, Side side) {
  require_sample(sample, 2, alpha, "student_interval");
  const double margin =
      student_quantile(static_cast<double>(sample.count() - 1), alpha, side) * sample.standard_error();
  return limited(sample.mean() - margin, sample.mean() + margin, side, Interval{});
}

Interval empirical_bernstein_interval(const Accumulator& sample, Interval range, double alpha, Side side) {
  constexpr std::string_view where = "empirical_bernstein_interval";
  require_sample(sample, 2, alpha, where);
  require_in_range(sample, range, where);
  const double log_term = std::log(2 / per_limit(alpha, side));
  const double margin = sample.standard_error() * std::sqrt(2 * log_term) +
                        7 * range.width() * log_term / (3 * static_cast<double>(sample.count() - 1));
  return limited(sample.mean() - margin, sample.mean() + margin, side, range);
}

Interval asymptotic_variance_interval(const Accumulator& sample, double alpha, Side side) {
  require_sample(sample, 4, alpha, "asymptotic_variance_interval");
  const double variance = sample.variance(), kurtosis = sample.kurtosis();
  if (!(variance > 0) || !std::isfinite(kurtosis)) return kNonNegative;
  const auto n = static_cast<double>(sample.count());
  const double z = bm::quantile(bm::complement(bm::normal(), per_limit(alpha, side)));
  const double margin = z * std::sqrt((kurtosis - (n - 3) / (n - 1)) / n);
  return limited(variance * std::exp(-margin), variance * std::exp(margin), side, kNonNegative);
}

}  // namespace croquis
