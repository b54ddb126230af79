#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/stats/regression.hpp>
#include <vector>

namespace croquis {
namespace {

std::vector<double> logarithms(std::span<const double> values, std::string_view name) {
  std::vector<double> logs(values.size());
  std::transform(values.begin(), values.end(), logs.begin(), [&](double v) {
    require(v > 0, "fit_power_law", "values > 0", {{name, v}});
    return std::log(v);
  });
  return logs;
}

}  // namespace

LineFit fit_line(std::span<const double> x, std::span<const double> y, std::span<const double> weights) {
  constexpr std::string_view where = "fit_line";
  const std::size_t n = x.size();
  require(y.size() == n && (weights.empty() || weights.size() == n) && n >= 3, where,
          "as many y, and weights if any, as x, at least three",
          {{"x", n}, {"y", y.size()}, {"weights", weights.size()}});
  const auto weight = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[i]; };
  double total = 0, mean_x = 0, mean_y = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double w = weight(i);
    require(std::isfinite(x[i]) && std::isfinite(y[i]) && w > 0 && std::isfinite(w), where,
            "finite points and weights > 0", {{"point", i}, {"x", x[i]}, {"y", y[i]}, {"weight", w}});
    total += w;
    mean_x += w / total * (x[i] - mean_x);
    mean_y += w / total * (y[i] - mean_y);
  }
  double xx = 0, xy = 0;
  for (std::size_t i = 0; i < n; ++i) {
    xx += weight(i) * (x[i] - mean_x) * (x[i] - mean_x);
    xy += weight(i) * (x[i] - mean_x) * (y[i] - mean_y);
  }
  const auto [least, largest] = std::minmax_element(x.begin(), x.end());
  require(*least < *largest, where, "two different x", {{"x", *least}});
  require(std::isnormal(xx), where, "x whose squared distances from their mean neither vanish nor overflow",
          {{"sum", xx}});
  LineFit fit;
  fit.points = n;
  fit.slope = xy / xx;
  fit.intercept = mean_y - fit.slope * mean_x;
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double gap = (y[i] - mean_y) - fit.slope * (x[i] - mean_x);
    squares += weight(i) * gap * gap;
  }
  fit.residual = std::sqrt(squares / static_cast<double>(n - 2));
  fit.slope_error = fit.residual / std::sqrt(xx);
  return fit;
}

LineFit fit_power_law(std::span<const double> x, std::span<const double> y, std::span<const double> weights) {
  return fit_line(logarithms(x, "x"), logarithms(y, "y"), weights);
}

Interval LineFit::slope_interval(double alpha, Side side) const {
  constexpr std::string_view where = "LineFit::slope_interval";
  require(alpha > 0 && alpha < 1, where, "0 < alpha < 1", {{"alpha", alpha}});
  require(points >= 3, where, "a fit of at least three points", {{"points", points}});
  const double margin = slope_error * student_quantile(static_cast<double>(points - 2), alpha, side);
  Interval interval;
  if (side != Side::upper) interval.lo = slope - margin;
  if (side != Side::lower) interval.hi = slope + margin;
  return interval;
}

}  // namespace croquis
