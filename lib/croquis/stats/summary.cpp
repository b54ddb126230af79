#include <algorithm>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cmath>
#include <croquis/core/power_of_two.hpp>
#include <croquis/core/require.hpp>
#include <croquis/stats/summary.hpp>
#include <limits>
#include <map>
#include <utility>

namespace croquis {

double quantile(const std::vector<double>& ascending, double share) {
  require(!ascending.empty() && share >= 0 && share <= 1, "quantile", "at least one value and a share in [0, 1]",
          {{"values", ascending.size()}, {"share", share}});
  const double position = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  const double beyond = position - static_cast<double>(below);
  // Either may be infinite: then what has no weight must not count.
  if (beyond == 0 || ascending[below] == ascending[above] || std::isinf(ascending[below])) return ascending[below];
  return std::lerp(ascending[below], ascending[above], beyond);
}

namespace {

// Values over a power of two, so that neither their sum nor a square overflows or vanishes.
struct ScaledValues {
  explicit ScaledValues(const std::vector<double>& given) : values(given) {
    for (const double x : given) largest = std::max(largest, std::abs(x));
    unit = power_of_two_below(largest);
    for (double& x : values) x /= unit;
  }
  std::vector<double> values;
  double unit = 1, largest = 0;  // largest: before the division
};

double mean_of(const ScaledValues& scaled) {
  return boost::math::statistics::mean(scaled.values) * scaled.unit;
}

// s / sqrt(n).
double standard_error_of(const ScaledValues& scaled) {
  const std::vector<double>& values = scaled.values;
  if (values.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  return std::sqrt(boost::math::statistics::sample_variance(values) / static_cast<double>(values.size())) * scaled.unit;
}

bool is_heavy_tailed(const ScaledValues& scaled, const Summary& summary) {
  constexpr std::size_t fewest = 3;  // of two, one always has half
  if (scaled.values.size() < fewest) return false;
  double sum = 0;
  for (const double x : scaled.values) sum += std::abs(x);
  const double rounding = 1e-9 * scaled.largest;  // of a mean of equal values
  return scaled.largest / scaled.unit > 0.5 * sum || summary.mean > summary.q90 + rounding ||
         summary.mean < summary.q10 - rounding;
}

}  // namespace

Summary summarise(std::vector<double> values) {
  require(!values.empty(), "summarise", "at least one value");
  std::sort(values.begin(), values.end());
  Summary summary;
  summary.count = values.size();
  const ScaledValues scaled(values);
  summary.mean = mean_of(scaled);
  summary.standard_error = standard_error_of(scaled);
  summary.q10 = quantile(values, 0.1);
  summary.q50 = quantile(values, 0.5);
  summary.q90 = quantile(values, 0.9);
  summary.smallest = values.front();
  summary.largest = values.back();
  summary.heavy_tailed = is_heavy_tailed(scaled, summary);
  return summary;
}

Summary summarise_nested(const std::vector<std::vector<double>>& members) {
  std::vector<double> means;
  bool heavy_tailed = false;
  for (const std::vector<double>& values : members) {
    if (values.empty()) continue;
    const Summary one = summarise(values);
    means.push_back(one.mean);
    heavy_tailed = heavy_tailed || one.heavy_tailed;
  }
  Summary summary = summarise(std::move(means));
  summary.heavy_tailed = heavy_tailed;
  return summary;
}

double error_of_shared_draws(const std::vector<std::vector<DrawnValue>>& members) {
  std::map<std::size_t, std::vector<double>> deviations;  // by draw
  for (const std::vector<DrawnValue>& member : members) {
    double mean = 0;
    for (const DrawnValue& drawn : member) mean += drawn.value / static_cast<double>(member.size());
    for (const DrawnValue& drawn : member) deviations[drawn.draw].push_back(drawn.value - mean);
  }
  if (deviations.size() < 2) return 0;
  std::vector<double> effects;
  for (auto& [draw, of_members] : deviations) effects.push_back(mean_of(ScaledValues(of_members)));
  return summarise(std::move(effects)).standard_error;
}

}  // namespace croquis
