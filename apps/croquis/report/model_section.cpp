#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/measure/model_summary.hpp>
#include <map>

#include "files/model_table.hpp"
#include "options/lists.hpp"
#include "report/group_answers.hpp"
#include "report/other_sections.hpp"

using croquis::Group;
using croquis::Grouping;
using croquis::ModelSummary;
using croquis::Summary;

namespace {

constexpr const char* kMeanOfModels = "mean over positions; band: its standard error between sequences";

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
    const bool share = metric.name == "accuracy" || metric.name == "agreement";
    const std::string label = metric.name == "increase" ? "loss - exact loss" : metric.shown();
    axes.push_back({metric.name, label, !share});
  }
  return axes;
}

// An increase of the loss may be negative, and would be missing on a logarithmic axis where it matters most.
void make_linear_where_not_positive(Chart& chart) {
  for (const ChartView& view : chart.views) {
    for (const ChartCurve& curve : view.curves) {
      for (const ChartPoint& point : curve.points) {
        for (std::size_t a = 0; a < chart.y.size(); ++a) {
          if (point.y[a].at <= 0) chart.y[a].logarithmic = false;
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

Chart chart_of_losses(const Grouping& grouping, const std::string& subject) {
  ChartView view{"mean", fmt::format("{}; {}", subject, kMeanOfModels), {}};
  for (const Group& group : grouping.groups) {
    ChartPoint point{{static_cast<double>(group.x), number_of(group, "flops"), number_of(group, "seconds")},
                     values_of(group, grouping)};
    curve_named(view.curves, group.label).points.push_back(std::move(point));
  }
  return {.title = "Loss of the model",
          .x = {{"d", "number of features d"},
                {"flops", "flops of the approximated heads of a sequence, leading terms"},
                {"seconds", "seconds of a pass beside others, an indication"}},
          .y = axes_of(grouping),
          .views = {std::move(view)}};
}

// A view for each d, the largest first: curves over the layers.
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
    view.meaning = fmt::format("{}, d = {}; {}", subject, s.features, kMeanOfModels);
    const double layer = parse_number(s.layers.substr(0, s.layers.find(';'))).value_or(ChartValue::kNone);
    curve_named(view.curves, one.groups.front().label).points.push_back({{layer}, values_of(one.groups.front(), one)});
  }
  Chart chart{.title = "One layer approximated at a time",
              .x = {{"layer", "the layer that is approximated", false}},
              .y = std::move(axes),
              .views = {}};
  for (auto& [d, view] : views) chart.views.push_back(std::move(view));
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

std::string best_of(const std::vector<ModelSummary>& summaries, std::uint64_t d) {
  const ModelSummary* best = nullptr;
  for (const ModelSummary& s : summaries) {
    if (s.method == "exact" || s.features != d || std::isnan(s.loss) || s.method == "best-rank-d") continue;
    if (best == nullptr || s.loss < best->loss) best = &s;
  }
  if (best == nullptr) return "";
  std::string text = fmt::format("At d = {}, {} has the smallest loss: {}", d,
                                 croquis::curve_label({best->method, best->preset}), shown_number(best->loss));
  if (!std::isnan(best->loss_error))
    text += fmt::format(" ± {:.1g} (standard error between sequences)", best->loss_error);
  return text + fmt::format(", accuracy {}, {:.2g} of the flops of exact attention.", shown_number(best->accuracy),
                            best->flops_ratio);
}

}  // namespace

Section section_of_models(const croquis::Table& table) {
  const std::vector<ModelSummary> summaries = croquis::summarise_models(croquis::model_columns().rows(table));
  Section section{.subject = summaries.empty() ? "" : subject_of_models(summaries),
                  .answers = {},
                  .charts = {},
                  .maps = {},
                  .tables = {}};
  const auto known =
      std::find_if(summaries.begin(), summaries.end(), [](const ModelSummary& s) { return !std::isnan(s.loss_exact); });
  if (known != summaries.end()) {
    section.answers.push_back(fmt::format("With exact attention the loss is {} and the accuracy {}.",
                                          shown_number(known->loss_exact), shown_number(known->accuracy_exact)));
  }
  std::map<std::uint64_t, bool> sizes;
  for (const ModelSummary& s : summaries) sizes[s.features] = true;
  const bool by_layer = is_layer_by_layer(summaries);
  for (const auto& [d, there] : sizes) {
    std::string text = by_layer ? "" : best_of(summaries, d);
    if (!text.empty()) section.answers.push_back(std::move(text));
  }
  add_failures(table, section.answers);
  const Grouping grouping = grouping_of_models(summaries);
  if (!grouping.groups.empty()) {
    section.charts.push_back(by_layer ? chart_by_layer(summaries, section.subject)
                                      : chart_of_losses(grouping, section.subject));
    make_linear_where_not_positive(section.charts.back());
  }
  croquis::Table rows{croquis::model_summary_columns().list(), {}};
  for (const ModelSummary& s : summaries) rows.rows.push_back(croquis::model_summary_columns().record(s));
  section.tables.push_back(table_of_rows(rows, "Summary over all sequences", section.subject));
  return section;
}
