#include "pictures/curve.hpp"

#include <cmath>
#include <tuple>

#include "files/targets.hpp"
#include "pictures/gnuplot.hpp"
#include "pictures/what_is_shown.hpp"

using croquis::Group;
using croquis::Grouping;
using croquis::Summary;

std::vector<PlotLevel> levels_of(const Grouping& grouping, const std::string& metric, Statistic statistic) {
  std::vector<PlotLevel> levels;
  for (const Group& group : grouping.groups) {
    const Summary* s = group.metric(metric);
    if (group.x > 0 || s == nullptr) continue;
    const bool mean = statistic == Statistic::mean;
    const double error = mean && !std::isnan(s->standard_error) ? s->standard_error : 0;
    levels.push_back({group.label, mean ? s->mean : s->q50, error});
  }
  return levels;
}

bool is_of_exact_attention(const PlotLevel& level) {
  return level.label == kExactAttention || level.label.starts_with("exact (");
}

bool is_signed(const Grouping& grouping, const std::string& metric, const std::vector<PlotLevel>& levels) {
  if (metric != "increase") return false;
  const bool any = std::any_of(levels.begin(), levels.end(), [](const PlotLevel& level) {
    return level.label != kExactAttention && level.at - level.error <= 0;
  });
  return any || std::any_of(grouping.groups.begin(), grouping.groups.end(), [&](const Group& group) {
           const Summary* s = group.metric(metric);
           return s != nullptr && s->mean - (std::isnan(s->standard_error) ? 0 : s->standard_error) <= 0;
         });
}

bool shows(double y, bool linear) {
  return linear ? is_drawable(std::abs(y)) || y == 0 : is_drawable(y);
}

namespace {

// In the band, at its edge where the axis cannot show an end.
CurvePoint point_of(const Summary& s, double x, Statistic statistic, bool nested, bool linear) {
  const auto [lo, hi] = nested ? std::pair(s.smallest, s.largest) : spread_of(s);
  CurvePoint point{x, s.q50, lo, hi, s.heavy_tailed};
  if (statistic == Statistic::mean) {
    const double error = std::isnan(s.standard_error) ? 0 : s.standard_error;
    point = {x, s.mean, s.mean - error, s.mean + error, s.heavy_tailed};
  }
  if (!shows(point.lo, linear)) point.lo = point.y;
  if (!shows(point.hi, linear)) point.hi = point.y;
  return point;
}

}  // namespace

std::vector<Curve> curves_of(const Grouping& grouping, const std::string& metric, Statistic statistic,
                             const std::string& x, bool linear) {
  std::vector<Curve> curves;
  for (const std::string& target : targets_of(grouping, metric)) {
    for (const Group& g : grouping.groups) {
      const Summary* s = g.metric(metric);
      if (s == nullptr || target_of(g) != target) continue;
      const Summary* place = g.metric(x);
      const double at = x.empty() ? static_cast<double>(g.x) : place == nullptr ? 0 : place->q50;
      CurvePoint point = point_of(*s, at, statistic, grouping.is_nested(), linear);
      if (!grouping.is_nested()) point.bound = bound_of(g, metric);
      const auto rows = rows_interval(g, metric, statistic);
      if (rows && is_drawable(rows->first)) std::tie(point.rows_lo, point.rows_hi) = *rows;
      if (!shows(point.y, linear) || !is_drawable(at) || (x.empty() && g.x < 1)) continue;
      auto curve = std::find_if(curves.begin(), curves.end(), [&](const Curve& c) { return c.label == g.label; });
      if (curve == curves.end()) curve = curves.insert(curves.end(), {g.label, target, {}});
      curve->points.push_back(point);
    }
  }
  return curves;
}

void sort_by_last_value(std::vector<Curve>& curves) {
  const auto last = [](const Curve& curve) {
    return std::max_element(curve.points.begin(), curve.points.end(),
                            [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; })
        ->y;
  };
  for (auto begin = curves.begin(); begin != curves.end();) {
    const auto end =
        std::find_if(begin, curves.end(), [&](const Curve& curve) { return curve.target != begin->target; });
    std::stable_sort(begin, end, [&](const Curve& a, const Curve& b) { return last(a) > last(b); });
    begin = end;
  }
}

bool has_bounds(const Curve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(),
                     [](const CurvePoint& p) { return std::isfinite(p.bound); });
}

std::vector<Guarantee> guarantees_of(const std::vector<Curve>& curves) {
  std::vector<Guarantee> guarantees;
  const auto same = [](const CurvePoint& a, const CurvePoint& b) {
    constexpr double width_of_a_line = 0.02;
    return a.x == b.x && std::abs(a.bound - b.bound) <= width_of_a_line * std::abs(a.bound);
  };
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (!has_bounds(curves[i])) continue;
    const auto found = std::find_if(guarantees.begin(), guarantees.end(), [&](const Guarantee& g) {
      const auto &a = curves[i].points, &b = curves[g.curve].points;
      return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
    });
    if (found == guarantees.end()) {
      guarantees.push_back({i, "guarantee: " + curves[i].label});
    } else {
      found->title += ", " + curves[i].label;
      found->shared = true;
    }
  }
  return guarantees;
}
