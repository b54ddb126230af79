#include <fmt/format.h>

#include <cmath>
#include <croquis/measure/model_summary.hpp>

#include "files/model_table.hpp"
#include "report/group_answers.hpp"
#include "report/model_answers.hpp"
#include "report/model_charts.hpp"
#include "report/other_sections.hpp"

using croquis::ModelSummary;

Section section_of_models(const croquis::Table& table) {
  const std::vector<croquis::ModelRow> passes = croquis::model_columns().rows(table);
  const std::vector<ModelSummary> summaries = croquis::summarise_models(passes);
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
  const bool by_layer = is_layer_by_layer(summaries);
  const std::vector<std::string> answers =
      by_layer ? answers_by_layer(summaries, passes) : answers_of_models(summaries, passes);
  section.answers.insert(section.answers.end(), answers.begin(), answers.end());
  add_precisions(table, section.answers);
  add_failures(table, section.answers);
  const Grouping grouping = grouping_of_models(summaries);
  if (!grouping.groups.empty()) {
    section.charts.push_back(by_layer ? chart_by_layer(summaries, section.subject)
                                      : chart_of_losses(grouping, summaries, section.subject));
  }
  croquis::Table rows{croquis::model_summary_columns().list(), {}};
  for (const ModelSummary& s : summaries) rows.rows.push_back(croquis::model_summary_columns().record(s));
  section.tables.push_back(table_of_rows(rows, "Summary over all sequences", section.subject));
  return section;
}
