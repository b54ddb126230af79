#include <fmt/format.h>

#include <cmath>
#include <croquis/measure/dimension.hpp>

#include "pictures/dimension.hpp"
#include "report/group_answers.hpp"
#include "report/other_sections.hpp"

using croquis::DimensionRow;

Section section_of_dimensions(const croquis::Table& table) {
  const std::vector<DimensionRow> rows = croquis::dimension_columns().rows(table);
  const std::vector<croquis::DimensionCurve> curves = croquis::dimension_curves(rows);
  Section section{.subject = fmt::format("the lift of the kernelized scores, lambda = eps ||C||"),
                  .answers = {},
                  .charts = {},
                  .maps = {},
                  .tables = {}};
  bool inputs = false;
  for (const DimensionRow& row : rows) inputs = inputs || row.input != rows.front().input;
  ChartView view{
      "all",
      fmt::format("d_stat of the lift (2n points); landmarks that {} asks for, and that suffice", kDimensionTheorem),
      {}};
  const auto label_of = [&](const std::string& input, double width, double epsilon) {
    return fmt::format("{}width {:g}, eps = {:g}", inputs ? input + ", " : "", width, epsilon);
  };
  for (const croquis::DimensionCurve& curve : curves) {
    ChartCurve drawn{.label = label_of(curve.input, curve.width, curve.epsilon)};
    for (std::size_t i = 0; i < curve.n.size(); ++i) {
      drawn.points.push_back(
          {{curve.n[i]}, {{.at = curve.d_stat[i]}, {.at = curve.d_suffices[i]}, {.at = curve.d_theorem[i]}}});
    }
    view.curves.push_back(std::move(drawn));
  }
  for (const croquis::DimensionSummary& s : croquis::summarise_dimensions(curves)) {
    if (s.metric != "d_stat" || std::isnan(s.exponent)) continue;
    section.answers.push_back(
        fmt::format("{}width {}, eps = {}: d_stat is {} at n = {} and {} at n = {}; between these two sizes that is a "
                    "growth as n^{:.2f}.",
                    inputs ? s.input + ", " : "", s.width, s.epsilon, shown_number(s.first), s.first_n,
                    shown_number(s.last), s.last_n, s.exponent));
  }
  if (const std::string meaning = meaning_of_sufficient(rows); !meaning.empty()) {
    section.answers.push_back(meaning + "; where it is missing, not even 2n do.");
  }
  add_failures(table, section.answers);
  if (!view.curves.empty()) {
    section.charts.push_back({.title = "Statistical dimension and landmarks",
                              .x = {{"n", "tokens n"}},
                              .y = {{"d_stat", "statistical dimension d_stat"},
                                    {"d_suffices", "landmarks that suffice"},
                                    {"d_theorem", fmt::format("landmarks that {} asks for", kDimensionTheorem)}},
                              .views = {std::move(view)}});
  }
  section.tables.push_back(table_of_rows(table, "Rows", "one line for each head, width and epsilon"));
  return section;
}
