#include "pictures/axes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "pictures/gnuplot.hpp"

void AxisSpan::add(double value) {
  if (!is_drawable(value)) return;
  least = std::min(least, value);
  most = std::max(most, value);
}

namespace {

// Whether powers of ten alone are labels enough.
bool is_long(const AxisSpan& span) {
  return span.most > 30 * span.least;
}

// Marks at 1, 2 and 5 of each power of ten, at more of them where the span is short, the first at or below the span and
// the last at or above it.
std::vector<double> marks_around(const AxisSpan& span) {
  const std::vector<double> digits =
      span.is_wide() ? std::vector<double>{1, 2, 5} : std::vector<double>{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8};
  std::vector<double> marks;
  for (int power = static_cast<int>(std::floor(std::log10(span.least)));; ++power) {
    for (const double digit : digits) {
      const double at = digit * std::pow(10.0, power);
      if (at <= span.least) marks.clear();
      marks.push_back(at);
      if (at >= span.most) return marks;
    }
  }
}

std::string range_of(char axis, const std::string& low, const std::string& high) {
  return fmt::format("set {}range [{}:{}]\n", axis, low, high);
}

std::string end_at(double mark) {
  return fmt::format("{:g}", mark);
}

// An axis from the first mark to the last one.
std::string axis_of(char axis, const std::vector<double>& marks) {
  return range_of(axis, end_at(marks.front()), end_at(marks.back())) +
         fmt::format("set {}tics ({:g})\n", axis, fmt::join(marks, ", "));
}

bool has_power_of_ten(double low, double high) {
  return std::pow(10.0, std::ceil(std::log10(low))) <= high;
}

}  // namespace

std::string logarithmic_axis(char axis, const AxisSpan& span) {
  return span.most == 0 || is_long(span) ? "" : axis_of(axis, marks_around(span));
}

std::string logarithmic_axis_around(char axis, const AxisSpan& span, const std::string& high) {
  constexpr double widening = 1.1;
  AxisSpan wider;
  for (const double end : {span.least / widening, span.most * widening}) wider.add(end);
  if (wider.most == 0 || !is_long(wider)) return logarithmic_axis(axis, wider);
  const bool low_on_frame = has_power_of_ten(wider.least, span.least),
             high_on_frame = high == "*" && has_power_of_ten(span.most, wider.most);
  return range_of(axis, low_on_frame ? end_at(wider.least) : "*", high_on_frame ? end_at(wider.most) : high);
}

XAxis x_axis(const std::set<double>& places, bool whole) {
  if (places.empty()) return {"1", "2", "unset xtics\n" + range_of('x', "1", "2")};
  constexpr double widening = 1.1;
  const double low = *places.begin() / widening, high = *places.rbegin() * widening;
  XAxis axis{fmt::format("{:.9g}", low), fmt::format("{:.9g}", high), ""};
  axis.script = range_of('x', axis.low, axis.high);
  if (!whole) {
    AxisSpan span;
    for (const double end : {low, high}) span.add(end);
    constexpr double two_powers = 100;  // of ten lie in each longer span, and are labels enough
    if (span.most > 0 && span.most < two_powers * span.least) {
      const std::vector<double> marks = marks_around(span);
      axis = {end_at(marks.front()), end_at(marks.back()), axis_of('x', marks)};
    }
    axis.script = "set format x '%.1te%T'\n" + axis.script;
    return axis;
  }
  std::string labels;
  for (const double x : places) labels += fmt::format("{}'{}' {}", labels.empty() ? "" : ", ", x, x);
  axis.script = fmt::format("set xtics ({})\n", labels) + axis.script;
  return axis;
}

SignedAxis signed_axis(char axis, std::vector<double> values) {
  constexpr double far = 30;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double least = *low, most = *high, largest = std::max(-least, most);
  for (double& value : values) value = std::abs(value);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (*middle == 0 || largest <= far * *middle) return {};
  const double linear = std::pow(10.0, std::floor(std::log10(*middle)));
  std::string marks = "0";
  for (double at = linear; at < 10 * largest; at *= 10) {
    if (at < 10 * most) marks += fmt::format(", {:g}", at);
    if (at < -10 * least) marks += fmt::format(", {:g}", -at);
  }
  return {fmt::format("set nonlinear {0} via asinh({0}/{1:g}) inverse {1:g}*sinh({0})\nset {0}tics ({2})\n", axis,
                      linear, marks),
          fmt::format("the axis is linear up to {:g} and logarithmic beyond", linear)};
}
