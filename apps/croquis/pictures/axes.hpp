// The axes of a plot: what they span, and where their labels stand.
#pragma once

#include <limits>
#include <set>
#include <string>
#include <vector>

/// The smallest and the largest of the numbers that a logarithmic axis shows; it has no place for others.
struct AxisSpan {
  double least = std::numeric_limits<double>::infinity(), most = 0;

  void add(double value);
  /// Whether a logarithmic axis shows them better than a linear one.
  bool is_wide() const { return most > 3 * least; }
};

/// Range and labels of a logarithmic axis, 'x' or 'y', that is too short for powers of ten alone: at 1, 2 and 5 of
/// each, or at more. Empty for a longer one, which gnuplot ends and labels at powers of ten.
std::string logarithmic_axis(char axis, const AxisSpan& span);

/// The same with a tenth of room around the numbers, so that none lies on the frame. Of a longer axis the ends alone
/// that gnuplot would have at a number, which is then a power of ten; where `high` is no star, the axis ends there.
std::string logarithmic_axis_around(char axis, const AxisSpan& span, const std::string& high = "*");

/// A logarithmic x axis that begins and ends beyond the places. Its ends are the text that the script has: a line
/// across whose ends differ from them in the last digit lies outside, and gnuplot draws none of it.
struct XAxis {
  std::string low, high, script;
};

/// With a label a place where the places are whole numbers. Levels alone have no place on it, and no labels.
XAxis x_axis(const std::set<double>& places, bool whole);

/// An axis for numbers of both signs, and what a title says of it. Where one of them is far beyond the usual size of
/// the others, which a linear axis would show as 0, it is linear up to that size and logarithmic beyond.
struct SignedAxis {
  std::string script, said;
};
SignedAxis signed_axis(char axis, std::vector<double> values);
