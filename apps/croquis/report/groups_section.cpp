#include "report/groups_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "files/group_words.hpp"
#include "files/targets.hpp"
#include "pictures/head_errors.hpp"
#include "pictures/what_is_shown.hpp"
#include "report/group_answers.hpp"

using croquis::Group;
using croquis::Grouping;
using croquis::Summary;

namespace {

// Of all inputs one by one: two megabytes of a page.
constexpr std::size_t kMostNumbersOfInputs = 60'000;

bool some_have(const Grouping& grouping, const std::string& metric) {
  return std::any_of(grouping.groups.begin(), grouping.groups.end(),
                     [&](const Group& group) { return group.metric(metric) != nullptr; });
}

// The metrics that charts have: what was measured, the first of `preferred` first. A bound stands beside its metric.
std::vector<std::string> metrics_of(const Grouping& grouping, const std::vector<std::string>& preferred) {
  std::vector<std::string> metrics;
  for (const croquis::Column& column : grouping.metrics) {
    const bool measured = column.role == croquis::Role::metric && column.name != "bound_abs";
    if (measured && some_have(grouping, column.name)) metrics.push_back(column.name);
  }
  if (metrics.empty()) return metrics;
  std::string first = default_metric(grouping);
  for (const std::string& name : preferred) {
    if (!some_have(grouping, name)) continue;
    first = name;
    break;
  }
  const auto found = std::find(metrics.begin(), metrics.end(), first);
  if (found != metrics.end()) std::rotate(metrics.begin(), found, found + 1);
  return metrics;
}

bool has_size(const Group& group) {
  return group.x > 0;
}

// All that curves may run over; of numbers that are no metrics themselves. Exact attention alone has no size.
std::vector<std::string> places_of(const croquis::Table& table, const Grouping& shown) {
  std::vector<std::string> places;
  for (const char* name : {"flops", "seconds"}) {
    const bool is_metric = table.has(name) && table.columns[table.column(name)].role == croquis::Role::metric;
    if (table.has(name) && (!is_metric || std::string(name) == "flops")) places.emplace_back(name);
  }
  const bool sizes = std::any_of(shown.groups.begin(), shown.groups.end(), has_size);
  if (sizes || places.empty()) places.emplace(places.begin(), "");
  return places;
}

ChartValue value_of(const Group& group, const std::string& metric, Statistic statistic, bool nested) {
  const Summary* s = group.metric(metric);
  if (s == nullptr) return {};
  const auto [from, to] = nested ? std::pair(s->smallest, s->largest) : spread_of(*s);
  ChartValue value{.at = s->q50, .lo = from, .hi = to};
  if (statistic == Statistic::mean) {
    const double error = std::isnan(s->standard_error) ? 0 : s->standard_error;
    value = {.at = s->mean, .lo = s->mean - error, .hi = s->mean + error};
  }
  value.heavy_tailed = s->heavy_tailed;
  if (!nested) value.bound = bound_of(group, metric);
  value.note = rows_note(group, metric, statistic);
  return value;
}

// The curves of these groups, those of one target after each other. What has no size, as exact attention has no d, is
// a line across from the smallest size to the largest.
std::vector<ChartCurve> curves_of(const Grouping& grouping, const std::vector<const Group*>& groups,
                                  const std::vector<std::string>& metrics, const std::vector<std::string>& places,
                                  Statistic statistic) {
  std::vector<ChartCurve> curves;
  std::map<std::string, std::size_t> index;  // by label
  std::set<std::uint64_t> sizes;
  for (const Group* g : groups) {
    if (has_size(*g)) sizes.insert(g->x);
  }
  for (const Group* g : groups) {
    const auto [found, added] = index.emplace(g->label, curves.size());
    if (added) {
      const std::string target = target_of(*g);
      curves.push_back({.label = g->label,
                        .target = target.empty() ? "" : legend_of_target(target),
                        .bracket = g->label == "v-mean" || g->label == "best-rank-d",
                        .open = !is_softmax(target)});
    }
    ChartPoint point;
    for (const std::string& place : places) {
      const Summary* s = place.empty() ? nullptr : g->metric(place);
      point.x.push_back(place.empty() ? static_cast<double>(g->x) : s == nullptr ? ChartValue::kNone : s->q50);
    }
    for (const std::string& metric : metrics) {
      point.y.push_back(value_of(*g, metric, statistic, grouping.is_nested()));
    }
    ChartCurve& curve = curves[found->second];
    if (has_size(*g) || sizes.empty()) {
      curve.points.push_back(std::move(point));
      continue;
    }
    curve.across = {0};
    for (const std::uint64_t end : {*sizes.begin(), *sizes.rbegin()}) {
      point.x.front() = static_cast<double>(end);
      curve.points.push_back(point);
    }
  }
  for (ChartCurve& curve : curves) {
    std::sort(curve.points.begin(), curve.points.end(),
              [](const ChartPoint& a, const ChartPoint& b) { return a.x.front() < b.x.front(); });
  }
  std::map<std::string, std::size_t> place;  // of a target, in the order of the groups
  for (const ChartCurve& curve : curves) place.emplace(curve.target, place.size());
  std::stable_sort(curves.begin(), curves.end(), [&](const ChartCurve& a, const ChartCurve& b) {
    return std::pair(a.open, place.at(a.target)) < std::pair(b.open, place.at(b.target));
  });
  return curves;
}

std::vector<const Group*> all_of(const Grouping& grouping) {
  std::vector<const Group*> groups;
  for (const Group& group : grouping.groups) groups.push_back(&group);
  return groups;
}

Chart chart_of(const croquis::Table& table, const Grouping& shown, const Grouping& single,
               const std::vector<std::string>& metrics, const std::string& title) {
  const std::vector<std::string> places = places_of(table, shown);
  Chart chart{.title = title, .x = {}, .y = {}, .views = {}};
  for (const std::string& place : places) {
    chart.x.push_back({place.empty() ? shown.axis.name : place, axis_title(shown, place)});
  }
  for (const std::string& metric : metrics) {
    chart.y.push_back({metric, metric_title(shown, metric), !is_best_at_one(metric)});
  }
  const std::string rows =
      has_rows_interval(shown, metrics) ? "; in brackets the 95 % interval for the sample of rows" : "";
  const std::string all = shown.is_nested() ? fmt::format("all {}: ", shown.members.size()) : "";
  for (const Statistic statistic : {Statistic::median, Statistic::mean}) {
    if (shown.draws == 1 && !shown.is_nested() && statistic == Statistic::mean) continue;
    const StatisticWords words = statistic_words(shown, statistic);
    chart.views.push_back({.name = all + (statistic == Statistic::median ? "median" : "mean"),
                           .meaning = fmt::format("{}; {}", subject_of(shown), words.numbers),
                           .curves = curves_of(shown, all_of(shown), metrics, places, statistic),
                           .spread = words.spread,
                           .more = rows,
                           .without_spread = fmt::format("{}; {}", subject_of(shown), words.alone)});
  }
  if (shown.is_nested() && single.groups.size() * metrics.size() <= kMostNumbersOfInputs) {
    std::map<std::string, std::vector<const Group*>> of_input;
    for (const Group& group : single.groups) of_input[group.key.at("input")].push_back(&group);
    const StatisticWords words = statistic_words(single, Statistic::median);
    for (const std::string& input : shown.members) {
      chart.views.push_back({.name = input,
                             .meaning = fmt::format("{}; {}", input, words.numbers),
                             .curves = curves_of(single, of_input[input], metrics, places, Statistic::median),
                             .spread = words.spread,
                             .more = rows});
    }
  }
  const bool bounds = std::any_of(single.groups.begin(), single.groups.end(),
                                  [](const Group& group) { return group.metric("bound_abs") != nullptr; });
  if (bounds)
    chart.bound =
        "dotted: what a proved theorem guarantees, with probability 0.9 or more; a relative error of 1 or more holds "
        "for output 0 too";
  return chart;
}

// Of the relative errors alone, where there are some.
std::vector<HeadMaps> maps_of(const Grouping& single, const std::vector<std::string>& metrics) {
  std::vector<std::string> shown;
  for (const std::string& metric : metrics) {
    if (metric.ends_with("_rel")) shown.push_back(metric);
  }
  if (shown.empty()) shown = {metrics.front()};
  std::set<std::uint64_t> sizes;
  std::set<HeadPlace> places;
  std::vector<std::string> labels;
  for (const Group& group : single.groups) {
    const auto place = place_of(group);
    if (!place) continue;
    places.insert(*place);
    sizes.insert(group.x);
    if (std::find(labels.begin(), labels.end(), group.label) == labels.end()) labels.push_back(group.label);
  }
  if (places.size() < 2) return {};
  HeadMaps maps{
      .title = "Layers and heads",
      .meaning = fmt::format("{}, of several inputs the median; the colours have one scale over all maps",
                             single.draws > 1 ? "median of " + repetitions_of(single) : repetitions_of(single)),
      .size = single.axis.shown(),
      .labels = labels,
      .sizes = {},
      .metrics = {},
      .places = {},
      .values = {}};
  maps.places.assign(places.begin(), places.end());
  for (const std::uint64_t size : sizes) maps.sizes.push_back(fmt::format("{}", size));
  for (const std::string& metric : shown) maps.metrics.push_back(metric_title(single, metric));
  const std::size_t cells = labels.size() * sizes.size() * shown.size() * places.size();
  std::vector<std::vector<double>> values(cells);
  for (const Group& group : single.groups) {
    const auto place = place_of(group);
    if (!place) continue;
    const auto at = [](const auto& list, const auto& value) {
      return static_cast<std::size_t>(std::distance(list.begin(), std::find(list.begin(), list.end(), value)));
    };
    for (std::size_t m = 0; m < shown.size(); ++m) {
      const Summary* s = group.metric(shown[m]);
      if (s == nullptr) continue;
      const std::size_t row = (at(labels, group.label) * sizes.size() + at(sizes, group.x)) * shown.size() + m;
      values[row * places.size() + at(places, *place)].push_back(s->q50);
    }
  }
  for (std::vector<double>& of_cell : values) {
    maps.values.push_back(of_cell.empty() ? ChartValue::kNone : croquis::summarise(of_cell).q50);
  }
  return {std::move(maps)};
}

Section section_of(const croquis::Table& table, const GroupsReport& how, bool of_costs) {
  std::set<std::string> also = {"flops", "seconds"};
  for (const croquis::Column& column : table.columns) {
    if (column.name.ends_with("_lo") || column.name.ends_with("_hi")) also.insert(column.name);
  }
  const Grouping all = croquis::group_rows(table);
  const std::vector<std::string> metrics = metrics_of(all, how.answered);
  Section section;
  if (metrics.empty()) {
    section.answers.emplace_back("No row has a number: all of them failed.");
    add_failures(table, section.answers);
    return section;
  }
  const Grouping shown = shown_groups(table, metrics.front(), also);
  const Grouping single = shown.is_nested() ? groups_of_inputs(table, also) : shown;
  section.subject = subject_of(shown);
  section.answers = !how.compared ? answers_of_each(shown, metrics.front())
                    : of_costs    ? answers_of_costs(shown)
                                  : answers_of_groups(shown, single, how.answered, metrics.front());
  add_precisions(table, section.answers);
  add_seeds(table, section.answers);
  add_failures(table, section.answers);
  section.charts.push_back(chart_of(table, shown, single, metrics, how.title));
  section.maps = maps_of(single, metrics);
  return section;
}

}  // namespace

Section section_of_groups(const croquis::Table& table, const GroupsReport& how) {
  return section_of(table, how, false);
}

Section section_of_costs(const croquis::Table& table) {
  return section_of(table, {.title = "Cost of a call", .answered = {"seconds"}}, true);
}
