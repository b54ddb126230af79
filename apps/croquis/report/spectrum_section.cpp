#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/measure/spectrum_summary.hpp>
#include <croquis/stats/summary.hpp>
#include <map>
#include <set>
#include <utility>

#include "pictures/heat_map.hpp"
#include "report/other_sections.hpp"

using croquis::SpectrumSummary;

namespace {

constexpr arma::uword kMostPoints = 120, kMostSpectra = 24;

// Indices from 0, thinned where there are many.
std::vector<arma::uword> indices_of(arma::uword count) {
  std::set<arma::uword> indices;
  for (arma::uword i = 0; i < std::min(count, kMostPoints); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(std::min(count, kMostPoints));
    indices.insert(count <= kMostPoints ? i
                                        : static_cast<arma::uword>(std::pow(static_cast<double>(count), share)) - 1);
    indices.insert(static_cast<arma::uword>(share * static_cast<double>(count)));
  }
  if (count > 0) indices.insert(count - 1);
  return {indices.begin(), indices.end()};
}

Chart chart_of_spectra(const std::vector<SpectrumSummary>& summaries, bool several) {
  ChartView view{"spectra", "singular values of one matrix each; where there are many, some of the indices", {}};
  for (const SpectrumSummary& s : summaries) {
    if (s.status != "ok" || s.values.is_empty() || view.curves.size() == kMostSpectra) continue;
    ChartCurve curve{.label = several ? fmt::format("{} of {}", s.matrix, s.input) : s.matrix};
    for (const arma::uword k : indices_of(s.values.n_elem)) {
      curve.points.push_back({{static_cast<double>(k + 1)},
                              {{.at = s.cumulative(k)}, {.at = s.values(k) / s.values(0)}, {.at = s.values(k)}}});
    }
    view.curves.push_back(std::move(curve));
  }
  return {.title = "Singular values",
          .x = {{"k", "index k"}},
          .y = {{"cumulative", "sum to k over the sum of all", false},
                {"relative", "singular value over the largest"},
                {"value", "singular value"}},
          .views = {std::move(view)}};
}

// The median of the numbers that there are.
double median_of(std::vector<double> values) {
  std::erase_if(values, [](double x) { return std::isnan(x); });
  return values.empty() ? ChartValue::kNone : croquis::summarise(std::move(values)).q50;
}

// Of each matrix that all heads have; several inputs, as sequences of a batch, have the same heads.
HeadMaps maps_of_spectra(const std::vector<SpectrumSummary>& summaries) {
  HeadMaps maps{
      .title = "Layers and heads",
      .meaning = "one matrix each",
      .size = "",
      .labels = {},
      .sizes = {},
      .metrics = {"stable rank",
                  "sum of the first 128 singular values (a quarter where there are fewer) over the sum of all"},
      .places = {},
      .values = {}};
  std::map<std::pair<std::string, HeadPlace>, std::vector<double>> ranks, sums;
  std::set<HeadPlace> places;
  for (const SpectrumSummary& s : summaries) {
    const auto place = place_in_name(s.input);
    if (!place || s.status != "ok") continue;
    places.insert(*place);
    std::vector<double>& of_cell = ranks[{s.matrix, *place}];
    of_cell.push_back(s.stable_rank);
    if (of_cell.size() > 1) maps.meaning = "median over inputs";
    sums[{s.matrix, *place}].push_back(std::isnan(s.cumulative_128) ? s.cumulative_quarter : s.cumulative_128);
    if (std::find(maps.labels.begin(), maps.labels.end(), s.matrix) == maps.labels.end())
      maps.labels.push_back(s.matrix);
  }
  maps.places.assign(places.begin(), places.end());
  for (const std::string& label : maps.labels) {
    for (auto* metric : {&ranks, &sums}) {
      for (const HeadPlace& place : places) maps.values.push_back(median_of((*metric)[{label, place}]));
    }
  }
  return maps;
}

}  // namespace

Section section_of_spectra(const croquis::Table& table) {
  const std::vector<SpectrumSummary> summaries = croquis::summarise_spectra(croquis::spectrum_columns().rows(table));
  std::set<std::string> inputs;
  for (const SpectrumSummary& s : summaries) inputs.insert(s.input);
  const bool several = inputs.size() > 1;
  Section section{.subject = several ? fmt::format("{} inputs", inputs.size()) : *inputs.begin(),
                  .answers = {},
                  .charts = {},
                  .maps = {},
                  .tables = {}};
  constexpr std::size_t most_answers = 6;
  for (const SpectrumSummary& s : summaries) {
    if (s.status != "ok" || section.answers.size() == most_answers) continue;
    const bool at_128 = !std::isnan(s.cumulative_128);
    section.answers.push_back(
        fmt::format("{}{}: norm {}, stable rank {}; the first {} of its singular values have {} of the sum of all.",
                    s.matrix, several ? " of " + s.input : "", shown_number(s.spectral), shown_number(s.stable_rank),
                    at_128 ? "128" : "quarter", shown_number(at_128 ? s.cumulative_128 : s.cumulative_quarter)));
  }
  const Chart chart = chart_of_spectra(summaries, several);
  if (!chart.views.front().curves.empty()) section.charts.push_back(chart);
  HeadMaps maps = maps_of_spectra(summaries);
  if (maps.places.size() > 1) section.maps.push_back(std::move(maps));
  croquis::Table rows{croquis::spectrum_summary_columns().list(), {}};
  for (const SpectrumSummary& s : summaries) rows.rows.push_back(croquis::spectrum_summary_columns().record(s));
  section.tables.push_back(table_of_rows(rows, "Summary", "one line for each matrix"));
  return section;
}
