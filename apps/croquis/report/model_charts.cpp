#include "report/model_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "files/exact_attention_flops.hpp"
#include "files/model_table.hpp"
#include "pictures/curve.hpp"
#include "pictures/what_is_shown.hpp"

using croquis::Group;
using croquis::Grouping;
using croquis::ModelSummary;
using croquis::Summary;

namespace {

constexpr const char* kMeaningOfLosses = "mean over positions";

// One sequence has no error, and no band.
std::string spread_of_losses(const std::vector<ModelSummary>& summaries) {
  return has_errors(summaries) ? "one standard error between sequences to each side" : "";
}

std::vector<ChartValue> values_of(const Group& group, const Grouping& grouping) {
  std::vector<ChartValue> values;
  for (const croquis::Column& metric : grouping.metrics) {
    const Summary* s = group.metric(metric.name);
    ChartValue value;
    if (s != nullptr) {
      const double error = std::isnan(s->standard_error) ? 0 : s->standard_error;
      value = {.at = s->mean, .lo = s->mean - error, .hi = s->mean + error};
    }
    values.push_back(value);
  }
  return values;
}

std::vector<ChartAxis> axes_of(const Grouping& grouping) {
  std::vector<ChartAxis> axes;
  for (const croquis::Column& metric : grouping.metrics) {
    const std::string label = metric.name == "increase" ? "loss - exact loss" : metric.shown();
    axes.push_back({metric.name, label, !is_best_at_one(metric.name)});
  }
  return axes;
}

// An increase of the loss may be negative, and would be missing on a logarithmic axis where it matters most.
void make_linear_where_not_positive(Chart& chart) {
  for (const ChartView& view : chart.views) {
    for (const ChartCurve& curve : view.curves) {
      for (const ChartPoint& point : curve.points) {
        for (std::size_t a = 0; a < chart.y.size(); ++a) {
          const double least = chart.y[a].name == "increase" ? point.y[a].lo : point.y[a].at;
          if (least <= 0) chart.y[a].logarithmic = false;
        }
      }
    }
  }
}

ChartCurve& curve_named(std::vector<ChartCurve>& curves, const std::string& label) {
  const auto found = std::find_if(curves.begin(), curves.end(), [&](const ChartCurve& c) { return c.label == label; });
  if (found != curves.end()) return *found;
  curves.push_back({.label = label, .bracket = label == "v-mean" || label == "best-rank-d"});
  return curves.back();
}

double number_of(const Group& group, const char* metric) {
  const Summary* s = group.metric(metric);
  return s == nullptr ? ChartValue::kNone : s->mean;
}

// The two ends of a line across the chart, or a point where there is one place.
struct ChartEnds {
  std::vector<double> low, high;

  void widen(std::size_t axis, double x) {
    if (!(x > 0)) return;
    low[axis] = std::isnan(low[axis]) ? x : std::min(low[axis], x);
    high[axis] = std::isnan(high[axis]) ? x : std::max(high[axis], x);
  }
};

}  // namespace

// Exact attention has no d: against d it is a line across. Against flops it is a point, where all methods have the same
// sequences.
Chart chart_of_losses(const Grouping& grouping, const std::vector<ModelSummary>& summaries,
                      const std::string& subject) {
  const bool any_d =
      std::any_of(grouping.groups.begin(), grouping.groups.end(), [](const Group& g) { return g.x > 0; });
  const char* across = any_d ? "; lines across: what has no one d" : "";
  ChartView view{.name = "mean",
                 .meaning = fmt::format("{}; {}", subject, kMeaningOfLosses),
                 .curves = {},
                 .spread = spread_of_losses(summaries),
                 .more = across};
  ChartEnds ends{{ChartValue::kNone, ChartValue::kNone, ChartValue::kNone},
                 {ChartValue::kNone, ChartValue::kNone, ChartValue::kNone}};
  for (const ModelSummary& s : summaries) {
    ends.widen(0, static_cast<double>(s.features));
    ends.widen(1, s.flops);
    ends.widen(2, s.seconds);
  }
  for (const Group& group : grouping.groups) {
    ChartCurve& curve = curve_named(view.curves, group.label);
    std::vector<ChartPoint>& points = curve.points;
    ChartPoint point{{static_cast<double>(group.x), number_of(group, "flops"), number_of(group, "seconds")},
                     values_of(group, grouping)};
    if (group.x > 0 || !any_d) {
      points.push_back(std::move(point));
      continue;
    }
    for (const double d : {ends.low[0], ends.high[0]}) {
      point.x[0] = d;
      points.push_back(point);
    }
    curve.across = {0};
  }
  const double exact_flops = exact_flops_of(summaries);
  if (exact_flops > 0) ends.low[1] = ends.high[1] = exact_flops;
  std::vector<ChartValue> exact;
  for (const croquis::Column& metric : grouping.metrics)
    exact.push_back({.at = metric_of_exact(summaries, metric.name)});
  view.curves.push_back({.label = kExactAttention,
                         .bracket = true,
                         .points = {{ends.low, exact}, {ends.high, exact}},
                         .across = exact_flops > 0 ? std::set<std::size_t>{0, 2} : std::set<std::size_t>{0, 1, 2}});
  Chart chart{.title = "Loss of the model",
              .x = {{"d", "number of features d"},
                    {"flops", "flops of the approximated heads of a sequence, leading terms"},
                    {"seconds", "seconds of a pass beside others, an indication"}},
              .y = axes_of(grouping),
              .views = {std::move(view)}};
  make_linear_where_not_positive(chart);
  if (any_d) return chart;
  chart.x.erase(chart.x.begin());
  chart.views.front().curves.back().across = exact_flops > 0 ? std::set<std::size_t>{1} : std::set<std::size_t>{0, 1};
  for (ChartCurve& curve : chart.views.front().curves) {
    for (ChartPoint& point : curve.points) point.x.erase(point.x.begin());
  }
  return chart;
}

Chart chart_by_layer(const std::vector<ModelSummary>& summaries, const std::string& subject) {
  std::map<std::uint64_t, ChartView, std::greater<>> views;
  std::vector<ChartAxis> axes;
  for (const ModelSummary& s : summaries) {
    if (s.method == "exact") continue;
    const Grouping one = grouping_of_models({s});
    if (one.groups.empty()) continue;
    if (axes.empty()) axes = axes_of(one);
    ChartView& view = views[s.features];
    view.name = fmt::format("d = {}", s.features);
    view.meaning = fmt::format("{}, d = {}; {}", subject, s.features, kMeaningOfLosses);
    view.spread = spread_of_losses(summaries);
    const double layer = layer_of(s).value_or(ChartValue::kNone);
    curve_named(view.curves, one.groups.front().label).points.push_back({{layer}, values_of(one.groups.front(), one)});
  }
  Chart chart{.title = "One layer approximated at a time",
              .x = {{"layer", "the layer that is approximated", false}},
              .y = std::move(axes),
              .views = {}};
  for (auto& [d, view] : views) chart.views.push_back(std::move(view));
  make_linear_where_not_positive(chart);
  const auto increase =
      std::find_if(chart.y.begin(), chart.y.end(), [](const ChartAxis& a) { return a.name == "increase"; });
  if (increase == chart.y.end()) return chart;
  const auto shift = increase - chart.y.begin();
  std::rotate(chart.y.begin(), increase, increase + 1);
  for (ChartView& view : chart.views) {
    for (ChartCurve& curve : view.curves) {
      for (ChartPoint& point : curve.points)
        std::rotate(point.y.begin(), point.y.begin() + shift, point.y.begin() + shift + 1);
    }
  }
  return chart;
}
