#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/measure/choice_file.hpp>
#include <croquis/measure/choose.hpp>
#include <croquis/measure/groups.hpp>
#include <map>
#include <utility>

#include "files/choice_table.hpp"
#include "report/other_sections.hpp"

using croquis::ChoiceRow;

namespace {

std::size_t count_of(const std::vector<ChoiceRow>& rows, const char* status) {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const ChoiceRow& row) { return row.status == status; }));
}

// What a guarantee is about. Exact attention rests on no sequences, and where nothing else is there, none are known.
std::string scope_of(const std::vector<ChoiceRow>& rows) {
  std::uint64_t fewest = 0, most = 0;
  for (const ChoiceRow& row : rows) {
    if (row.sequences == 0) continue;
    fewest = fewest == 0 ? row.sequences : std::min(fewest, row.sequences);
    most = std::max(most, row.sequences);
  }
  if (most == 0) return "";
  if (most == 1) return "; over draws on this one input: other inputs are not covered";
  return fmt::format("; over draws and new sequences, from {} sequences",
                     fewest == most ? fmt::format("{}", most) : fmt::format("{} to {}", fewest, most));
}

std::vector<std::string> answers_of_choices(const std::vector<ChoiceRow>& rows) {
  const ChoiceRow& first = rows.front();
  const std::size_t chosen = count_of(rows, "chosen");
  std::vector<std::string> answers;
  const bool by_loss = first.metric == "loss";  // its guarantee is about all layers together
  answers.push_back(fmt::format(
      "{}; {} keep exact attention, {} are undecided. Followed, with exact attention where nothing is chosen, they "
      "cost {:.3g} times exact attention's {}.",
      by_loss ? fmt::format("{} of {} layers have an approximation", chosen, rows.size())
              : fmt::format("For {} of {} choices an approximation is certified", chosen, rows.size()),
      count_of(rows, "exact"), count_of(rows, "undecided"), croquis::followed_cost_ratio(rows), first.cost_unit));
  if (by_loss) {
    answers.push_back(
        chosen == 0
            ? fmt::format("No step is certified to raise the mean loss by at most {:g}, with confidence {}.", first.eps,
                          first.confidence)
            : fmt::format(
                  "Certified of these layers together: the mean loss rises by at most {:g}, with confidence {}. {}.",
                  first.eps, first.confidence, basis_of_loss(rows)));
  } else {
    const std::string heads = heads_of_guarantee(rows), estimated = rows_of_guarantee(rows);
    answers.push_back(
        fmt::format("{} P({} > {:g}) < {:g} of each choice, with confidence {} that this holds for all that one run "
                    "has chosen{}.{}{}",
                    chosen > 0 ? "Certified is" : "What was to be certified:", measured_name(first), first.eps,
                    first.delta, first.confidence, scope_of(rows), heads.empty() ? "" : " " + heads + ".",
                    estimated.empty() ? "" : " " + estimated + "."));
  }
  std::map<std::string, std::size_t> methods;
  for (const ChoiceRow& row : rows) {
    if (row.status == "chosen") ++methods[croquis::curve_label({row.method, row.preset})];
  }
  std::string names;
  for (const auto& [name, times] : methods) names += fmt::format("{}{} {}", names.empty() ? "" : ", ", times, name);
  if (!names.empty()) answers.push_back(fmt::format("Chosen: {}.", names));
  if (const std::string dear = dear_choices(rows); !dear.empty()) answers.push_back(dear + ".");
  if (const std::string times = times_on_heads(rows); !times.empty()) answers.push_back("C" + times.substr(1) + ".");
  if (std::string other = other_target_of(rows); !other.empty()) answers.push_back(std::move(other));
  return answers;
}

// A number that no axis shows is left out.
double or_none(double x) {
  return std::isfinite(x) ? x : ChartValue::kNone;
}

// The points of what is not exact, of each method and status a curve. Of a choice by the loss there is one number, the
// divergence that the search found, and no quantile.
std::vector<ChartCurve> points_of(const std::vector<ChoiceRow>& rows, bool by_loss) {
  std::vector<ChartCurve> curves;
  for (const ChoiceRow& row : rows) {
    const double q95 = or_none(row.error_q95), median = or_none(row.error_median);
    if (row.status == "exact" || (std::isnan(q95) && std::isnan(median))) continue;
    const bool chosen = row.status == "chosen";
    const std::string label = croquis::curve_label({row.method, row.preset}) + (chosen ? "" : ", undecided");
    auto curve = std::find_if(curves.begin(), curves.end(), [&](const auto& c) { return c.label == label; });
    if (curve == curves.end()) {
      curve = curves.insert(curves.end(), {.label = label, .open = !chosen, .joined = false});
    }
    const std::string note = fmt::format("[{}]", row.input);
    std::vector<ChartValue> values = {{.at = median, .note = note}};
    if (!by_loss) values.insert(values.begin(), {.at = q95, .note = note});
    curve->points.push_back({{row.cost_ratio}, std::move(values)});
  }
  return curves;
}

ChartAxis costs_of_choices(const ChoiceRow& row) {
  return {"cost", fmt::format("{} in units of exact attention's", row.cost_unit)};
}

Chart chart_of_losses(const std::vector<ChoiceRow>& rows) {
  ChartView view{"choices",
                 "one point a layer, mean over the sequences of the search. Layers of exact attention have no point",
                 points_of(rows, true)};
  return {.title = "Divergence against cost of what is chosen",
          .x = {costs_of_choices(rows.front())},
          .y = {{"kl", "KL(exact || approximated) with this layer alone replaced"}},
          .views = {std::move(view)}};
}

Chart chart_of_errors(const std::vector<ChoiceRow>& rows) {
  const ChoiceRow& first = rows.front();
  ChartView view{
      "choices",
      "one point a choice, over the draws, sequences and heads that were looked at; open: it leads and is not "
      "certified. Choices of exact attention have no point, nor has a quantile that is infinite",
      points_of(rows, false)};
  if (!view.curves.empty()) {
    ChartCurve line{.label = fmt::format("eps = {:g}", first.eps), .bracket = true, .measured = false, .across = {0}};
    double low = 1;
    for (const ChoiceRow& row : rows) low = row.cost_ratio > 0 ? std::min(low, row.cost_ratio) : low;
    for (const double x : {low, 1.0}) line.points.push_back({{x}, {{.at = first.eps}, {.at = first.eps}}});
    view.curves.push_back(std::move(line));
  }
  return {.title = "Error against cost of what is chosen",
          .x = {costs_of_choices(first)},
          .y = {{"error_q95", fmt::format("95 % quantile of {}", measured_name(first))},
                {"error_median", fmt::format("median of {}", measured_name(first))}},
          .views = {std::move(view)}};
}

HeadMaps maps_of_choices(const std::vector<ChoiceRow>& rows) {
  HeadMaps maps{.title = "Cost over layers and heads",
                .meaning = "1: exact attention; of undecided heads too, which take it until there is an answer",
                .size = "",
                .labels = {"chosen, else 1"},
                .sizes = {},
                .metrics = {"cost in units of exact attention's"},
                .places = {},
                .values = {}};
  for (const ChoiceRow& row : rows) {
    if (!row.layer || !row.head) continue;
    maps.places.push_back({static_cast<long long>(*row.layer), static_cast<long long>(*row.head)});
    maps.values.push_back(row.status == "chosen" ? row.cost_ratio : 1);
  }
  return maps;
}

}  // namespace

Section section_of_choices(const croquis::Table& table) {
  const std::vector<ChoiceRow> rows = croquis::choice_columns().rows(table);
  Section section{.subject = rows.size() == 1 ? rows.front().input : fmt::format("{} choices", rows.size()),
                  .answers = answers_of_choices(rows),
                  .charts = {},
                  .maps = {},
                  .tables = {}};
  Chart chart = rows.front().metric == "loss" ? chart_of_losses(rows) : chart_of_errors(rows);
  if (!chart.views.front().curves.empty()) section.charts.push_back(std::move(chart));
  HeadMaps maps = maps_of_choices(rows);
  if (maps.places.size() > 1 && count_of(rows, "chosen") > 0) section.maps.push_back(std::move(maps));
  section.tables.push_back(table_of_rows(
      table, "Choices", "undecided: the candidate that leads is shown, which is no answer until more data certify it"));
  return section;
}
