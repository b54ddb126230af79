#include <boost/math/distributions/binomial.hpp>
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

template <typename Enough>
std::uint64_t first_that_is_enough(std::uint64_t first, std::string_view where, const Enough& enough) {
  std::optional<std::uint64_t> n;
  if (first <= kMostTrials) n = smallest_sufficient(first, kMostTrials, enough);
  require(n.has_value(), where, "an effect that a practicable number of samples can show", {{"samples", kMostTrials}});
  return *n;
}

// The probability that the limit decides after n trials.
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

std::uint64_t trials_to_decide(double p, double delta, double alpha, double type_ii_error) {
  constexpr std::string_view where = "trials_to_decide";
  require(alpha > 0 && alpha < 1 && type_ii_error > 0 && type_ii_error < 1, where,
          "0 < alpha < 1 and 0 < type_ii_error < 1", {{"alpha", alpha}, {"type_ii_error", type_ii_error}});
  require(delta > 0 && delta < 1 && p >= 0 && p <= 1 && p != delta, where, "0 < delta < 1, 0 <= p <= 1, p not delta",
          {{"p", p}, {"delta", delta}});
  return first_that_is_enough(
      1, where, [&](std::uint64_t n) { return power(static_cast<double>(n), p, delta, alpha) >= 1 - type_ii_error; });
}

}  // namespace croquis
