#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <croquis/measure/model_summary.hpp>
#include <croquis/stats/accumulator.hpp>
#include <map>
#include <set>
#include <utility>

#include "files/exact_attention_flops.hpp"
#include "files/model_table.hpp"
#include "pictures/curve.hpp"
#include "pictures/what_is_shown.hpp"
#include "report/group_answers.hpp"
#include "report/leads.hpp"
#include "report/other_sections.hpp"

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

// A choice has a cost and no d, exact attention in the picture neither: against d they are lines across. Against flops
// exact attention is a point, where all methods have the same sequences.
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
  if (any_d) return chart;
  chart.x.erase(chart.x.begin());
  chart.views.front().curves.back().across = exact_flops > 0 ? std::set<std::size_t>{1} : std::set<std::size_t>{0, 1};
  for (ChartCurve& curve : chart.views.front().curves) {
    for (ChartPoint& point : curve.points) point.x.erase(point.x.begin());
  }
  return chart;
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

std::string numbers_of(const ModelSummary& s) {
  std::string text = shown_number(s.loss);
  if (!std::isnan(s.loss_error)) text += fmt::format(" ± {:.1g} (standard error between sequences)", s.loss_error);
  text +=
      fmt::format(", {} {} exact attention's", shown_number(std::abs(s.increase)), s.increase < 0 ? "below" : "above");
  if (!std::isnan(s.increase_error)) text += fmt::format(" (± {:.1g}, of differences)", s.increase_error);
  return text +
         fmt::format(", accuracy {}, {:.2g} of the flops of exact attention.", shown_number(s.accuracy), s.flops_ratio);
}

bool is_of(const croquis::ModelRow& row, const ModelSummary& s) {
  return row.layers == s.layers && row.method == s.method && row.preset == s.preset && row.features == s.features;
}

// By how much the loss rises from one method to another, neither of which failed, with the standard error of
// differences on the same sequences: that is what a summary says of the other's rows, if the loss of the first stands
// where exact attention's is.
ModelSummary from_one_to(const ModelSummary& one, const ModelSummary& other,
                         const std::vector<croquis::ModelRow>& rows) {
  std::map<std::uint64_t, croquis::Accumulator> losses;
  for (const croquis::ModelRow& row : rows) {
    if (is_of(row, one)) losses[row.sequence].add(row.loss);
  }
  std::vector<croquis::ModelRow> compared;
  for (const croquis::ModelRow& row : rows) {
    const auto loss = losses.find(row.sequence);
    if (!is_of(row, other) || loss == losses.end()) continue;
    compared.push_back(row);
    compared.back().loss_exact = loss->second.mean();
  }
  const std::vector<ModelSummary> summaries = croquis::summarise_models(compared);
  return summaries.empty() ? ModelSummary() : summaries.front();
}

bool is_mean(const ModelSummary& s) {
  return s.method == "v-mean";
}

// Exact attention is no method here.
bool computes_all_scores(const ModelSummary& s) {
  return s.method != "exact" && is_quadratic(s.method, s.preset);
}

// What best_of() leaves out, of all sizes.
std::string left_out_of_losses(const std::vector<ModelSummary>& summaries) {
  const auto any = [&](const auto& is) {
    return std::any_of(summaries.begin(), summaries.end(),
                       [&](const ModelSummary& s) { return !std::isnan(s.loss) && is(s); });
  };
  return left_out(any(is_mean), any(computes_all_scores));
}

// " For comparison: v-mean 3.2, best-rank-d 2.1."
std::string brackets_at(const std::vector<ModelSummary>& summaries, std::uint64_t d) {
  std::string text;
  for (const ModelSummary& s : summaries) {
    if (s.features != d || std::isnan(s.loss) || (!is_mean(s) && s.method != "best-rank-d")) continue;
    text += fmt::format("{}{} {}", text.empty() ? " For comparison: " : ", ", s.method, shown_number(s.loss));
  }
  return text.empty() ? "" : text + ".";
}

// "linformer (3 of 6 rows)": those that failed somewhere. A failure is a bad answer, and without it the loss is that of
// other sequences.
std::string failing_ones(const std::vector<const ModelSummary*>& candidates,
                         const std::vector<croquis::ModelRow>& rows) {
  std::string text;
  for (const ModelSummary* s : candidates) {
    if (s->failed == 0) continue;
    const auto all =
        std::count_if(rows.begin(), rows.end(), [&](const croquis::ModelRow& row) { return is_of(row, *s); });
    text += fmt::format("{}{} ({} of {} rows)", text.empty() ? "" : ", ", croquis::curve_label({s->method, s->preset}),
                        s->failed, all);
  }
  return text;
}

// Of those that count, as for errors (may_lead()).
std::string best_of(const std::vector<ModelSummary>& summaries, const std::vector<croquis::ModelRow>& rows,
                    std::uint64_t d) {
  std::vector<const ModelSummary*> candidates;
  for (const ModelSummary& s : summaries) {
    if (s.method == "exact" || s.features != d || is_mean(s) || computes_all_scores(s)) continue;
    candidates.push_back(&s);
  }
  const std::string failing = failing_ones(candidates, rows);
  const std::string not_compared =
      failing.empty() ? "" : fmt::format(" Not compared at d = {}, as rows failed: {}.", d, failing);
  std::erase_if(candidates, [&](const ModelSummary* s) { return std::isnan(s->loss) || (d > 0 && s->failed > 0); });
  if (candidates.empty()) return d > 0 && !failing.empty() ? not_compared.substr(1) : "";
  const ModelSummary* best = *std::min_element(candidates.begin(), candidates.end(),
                                               [](const auto* a, const auto* b) { return a->loss < b->loss; });
  const auto label = [](const ModelSummary& s) { return croquis::curve_label({s.method, s.preset}); };
  if (d == 0) return fmt::format("The {} has the loss {}", label(*best), numbers_of(*best));
  constexpr double errors = 2;
  std::vector<std::string> rivals, once;  // once: no standard error
  for (const ModelSummary* other : candidates) {
    if (other == best) continue;
    const ModelSummary rise = from_one_to(*best, *other, rows);
    if (rise.increase <= errors * rise.increase_error) rivals.push_back(label(*other));
    if (std::isnan(rise.increase_error)) once.push_back(label(*other));
  }
  std::string no_lead;
  if (!rivals.empty()) {
    no_lead = fmt::format(
        " It has no clear lead over {}: on the same sequences the losses differ by at most two standard errors in the "
        "mean.",
        fmt::join(rivals, ", "));
  }
  if (once.size() + 1 == candidates.size() && !once.empty()) {
    no_lead += " On one sequence: a lead may be chance.";
  } else if (!once.empty()) {
    no_lead += fmt::format(" Its lead over {} is on one sequence, and may be chance.", fmt::join(once, ", "));
  }
  return fmt::format("At d = {}, {} has the smallest loss: {}{}{}{}", d, label(*best), numbers_of(*best), no_lead,
                     not_compared, brackets_at(summaries, d));
}

}  // namespace

Section section_of_models(const croquis::Table& table) {
  const std::vector<croquis::ModelRow> rows_of_passes = croquis::model_columns().rows(table);
  const std::vector<ModelSummary> summaries = croquis::summarise_models(rows_of_passes);
  Section section{.subject = summaries.empty() ? "" : subject_of_models(summaries),
                  .answers = {},
                  .charts = {},
                  .maps = {},
                  .tables = {}};
  const double loss = metric_of_exact(summaries, "loss"), accuracy = metric_of_exact(summaries, "accuracy");
  if (!std::isnan(loss)) {
    section.answers.push_back(fmt::format("With exact attention the loss is {} and the accuracy {}.",
                                          shown_number(loss), shown_number(accuracy)));
  }
  std::map<std::uint64_t, bool> sizes;
  for (const ModelSummary& s : summaries) sizes[s.features] = true;
  const bool by_layer = is_layer_by_layer(summaries);
  std::string not_counted = left_out_of_losses(summaries);
  for (const auto& [d, there] : sizes) {
    std::string text = by_layer ? "" : best_of(summaries, rows_of_passes, d);
    if (text.empty()) continue;
    if (d > 0) text += std::exchange(not_counted, "");  // a choice has no rivals
    section.answers.push_back(std::move(text));
  }
  add_precisions(table, section.answers);
  add_failures(table, section.answers);
  const Grouping grouping = grouping_of_models(summaries);
  if (!grouping.groups.empty()) {
    section.charts.push_back(by_layer ? chart_by_layer(summaries, section.subject)
                                      : chart_of_losses(grouping, summaries, section.subject));
    make_linear_where_not_positive(section.charts.back());
  }
  croquis::Table rows{croquis::model_summary_columns().list(), {}};
  for (const ModelSummary& s : summaries) rows.rows.push_back(croquis::model_summary_columns().record(s));
  section.tables.push_back(table_of_rows(rows, "Summary over all sequences", section.subject));
  return section;
}
