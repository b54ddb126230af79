#include <algorithm>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/stats/summary.hpp>
#include <limits>

namespace croquis {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

}  // namespace

Summary summarise(std::vector<double> values) {
  require(!values.empty(), "summarise", "at least one value");
  std::sort(values.begin(), values.end());
  Summary summary;
  summary.count = values.size();
  summary.mean = boost::math::statistics::mean(values);
  const auto n = static_cast<double>(values.size());
  summary.standard_error = values.size() > 1 ? std::sqrt(boost::math::statistics::sample_variance(values) / n)
                                             : std::numeric_limits<double>::quiet_NaN();
  summary.q10 = quantile(values, 0.1);
  summary.q50 = quantile(values, 0.5);
  summary.q90 = quantile(values, 0.9);
  return summary;
}

}  // namespace croquis
