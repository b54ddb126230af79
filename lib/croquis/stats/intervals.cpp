#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <croquis/core/require.hpp>
#include <croquis/stats/intervals.hpp>
#include <string_view>

namespace croquis {
namespace {

namespace bm = boost::math;

void require_alpha(double alpha, std::string_view where) {
  require(alpha > 0 && alpha < 1, where, "0 < alpha < 1", {{"alpha", alpha}});
}

// t with P(T > t) = a <= 1/2: infinity where t is larger than any double.
double upper_quantile(double degrees, double a) {
  using Infinite = bm::policies::policy<bm::policies::overflow_error<bm::policies::ignore_error>>;
  return bm::quantile(bm::complement(bm::students_t_distribution<double, Infinite>(degrees), a));
}

double per_limit(double alpha, Side side) {
  return side == Side::both ? alpha / 2 : alpha;
}

}  // namespace

Interval clopper_pearson(std::uint64_t failures, std::uint64_t trials, double alpha, Side side) {
  constexpr std::string_view where = "clopper_pearson";
  require_alpha(alpha, where);
  require(alpha >= kLeastAlpha, where, "alpha of at least 1e-60", {{"alpha", alpha}});
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
  const double a = per_limit(alpha, side);
  return a <= 0.5 ? upper_quantile(degrees, a) : -upper_quantile(degrees, 1 - a);
}

Interval student_interval(const Accumulator& sample, double alpha, Side side) {
  constexpr std::string_view where = "student_interval";
  require_alpha(alpha, where);
  require(sample.count() >= 2, where, "at least two values", {{"count", sample.count()}});
  const double margin =
      student_quantile(static_cast<double>(sample.count() - 1), alpha, side) * sample.standard_error();
  Interval interval;  // without the limit that is not requested
  if (side != Side::upper) interval.lo = sample.mean() - margin;
  if (side != Side::lower) interval.hi = sample.mean() + margin;
  return interval;
}

}  // namespace croquis
