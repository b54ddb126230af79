// The curves of grouped rows, before they are drawn.
#pragma once

#include <algorithm>
#include <croquis/measure/groups.hpp>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "pictures/plot_request.hpp"

constexpr const char* kExactAttention = "exact attention";

/// A number that has no place on the axis, as the loss of a choice, whose heads have a d each, or the time of exact
/// attention, which has none: a line across.
struct PlotLevel {
  std::string label;
  double at, error = 0;  ///< half the width of its band
};

/// A point of a curve, with the ends of its band or bar.
struct CurvePoint {
  double x = 0, y = 0, lo = 0, hi = 0;
  bool heavy_tailed = false;
  double bound = std::numeric_limits<double>::quiet_NaN();  ///< what a theorem guarantees of y
  double rows_lo = bound, rows_hi = bound;                  ///< the interval for the sample of rows
};

/// All points of a label.
struct Curve {
  std::string label, target;
  std::vector<CurvePoint> points;

  bool is_bracket() const { return label == "v-mean" || label == "best-rank-d" || label == "exact"; }
  // There a band has no width, and bars stand in its place.
  bool is_at_one_place() const {
    return std::all_of(points.begin(), points.end(), [&](const CurvePoint& p) { return p.x == points.front().x; });
  }
  // Lines join their points in the order of d, in which seconds need not grow.
  bool goes_right() const {
    return std::is_sorted(points.begin(), points.end(),
                          [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; });
  }
};

/// The groups that have no place on an axis of sizes, as exact attention has no d.
std::vector<PlotLevel> levels_of(const croquis::Grouping& grouping, const std::string& metric, Statistic statistic);

/// Whether the line is black, as that of exact attention.
bool is_of_exact_attention(const PlotLevel& level);

/// Whether the axis has to be linear: a difference may be 0 or less, as far as its error is known.
bool is_signed(const croquis::Grouping& grouping, const std::string& metric, const std::vector<PlotLevel>& levels);

/// Whether the axis of the metric can show it.
bool shows(double y, bool linear);

/// Those of one target after each other, against the axis or, if `x` is not empty, that metric.
std::vector<Curve> curves_of(const croquis::Grouping& grouping, const std::string& metric, Statistic statistic,
                             const std::string& x, bool linear);

/// So many lines are found in a legend by their place alone.
inline constexpr std::size_t kManyCurves = 12;

/// Those of one target in the order in which they end at the right, the largest value first, as the eye meets them.
void sort_by_last_value(std::vector<Curve>& curves);

bool has_bounds(const Curve& curve);

/// Guarantees that coincide are one line, with the names of all.
struct Guarantee {
  std::size_t curve;  ///< the first one
  std::string title;
  bool shared = false;
};

std::vector<Guarantee> guarantees_of(const std::vector<Curve>& curves);
