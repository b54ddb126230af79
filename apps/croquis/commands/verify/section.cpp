#include "commands/verify/section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/claims/claim_rows.hpp>
#include <croquis/claims/ledger.hpp>
#include <map>

#include "commands/verify/curves.hpp"

using croquis::claims::ClaimRow;

namespace {

std::vector<std::string> answers_of_ledger(const std::vector<ClaimRow>& wholes) {
  std::map<std::string, std::vector<std::string>> verdicts;
  for (const ClaimRow& row : wholes) verdicts[row.verdict].push_back(row.claim);
  const std::pair<const char*, const char*> meanings[] = {
      {"REFUTED", "refuted"},
      {"REFUTED_PROOF", "with a refuted proof"},
      {"VERIFIED", "verified: proved, and every check agrees"},
      {"HOLDS", "hold: no proof, and not refuted on any input tried"},
      {"VACUOUS", "vacuous: the hypotheses cannot be met, or a trivial object satisfies the claim"},
      {"INCONCLUSIVE", "inconclusive"},
      {"NOT_APPLICABLE", "not applicable to these inputs"}};
  std::string text;
  for (const auto& [verdict, meaning] : meanings) {
    if (!verdicts.contains(verdict)) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", verdicts[verdict].size(), meaning);
  }
  std::vector<std::string> answers = {fmt::format("Of {} claims in their readings: {}.", wholes.size(), text)};
  for (const char* verdict : {"REFUTED", "REFUTED_PROOF", "INCONCLUSIVE"}) {
    if (!verdicts.contains(verdict)) continue;
    answers.push_back(fmt::format("{}: {}.", verdict, fmt::join(verdicts[verdict], ", ")));
  }
  return answers;
}

ReportTable verdicts_of(const std::vector<ClaimRow>& wholes) {
  ReportTable table{"Verdicts", "one line for each claim and reading; the number is the one in the sentence", {}, {}};
  table.columns = {{"claim/reading", "", false},
                   {"verdict", "", false},
                   {"kind", "", false},
                   {"source", "", false},
                   {"sentence", "", false},
                   {"number", ""},
                   {"tightness", "the factor by which the bound can be lowered at least"},
                   {"at most", "and at most"},
                   {"conceded", "where the paper itself restricts or doubts its sentence", false}};
  for (const ClaimRow& row : wholes) {
    table.rows.push_back({{row.claim},
                          {row.verdict},
                          {row.kind},
                          {row.source},
                          {row.hypotheses},
                          number_cell(row.estimate),
                          number_cell(row.tightness_lo),
                          number_cell(row.tightness_hi),
                          {row.conceded}});
  }
  return table;
}

ReportTable findings_of(const std::vector<ClaimRow>& rows) {
  ReportTable table{"Findings", "one line for each input on which a claim was decided", {}, {}};
  table.columns = {{"claim/reading", "", false},
                   {"input", "", false},
                   {"verdict", "", false},
                   {"n"},
                   {"d"},
                   {"trials"},
                   {"failures"},
                   {"measured", "the estimate, with its interval in parentheses"},
                   {"bound", "what the claim allows: the most, or the least with a minus sign"},
                   {"observed", "the error, or its quantile at the claimed probability"},
                   {"slack", "bound / observed; - for a least"},
                   {"hypotheses", "as measured", false}};
  const auto count = [](const auto& value) {
    return value ? number_cell(static_cast<double>(*value)) : ReportCell{"-"};
  };
  for (const ClaimRow& row : rows) {
    if (row.input == croquis::claims::kWholeInput) continue;
    table.rows.push_back({{row.claim},
                          {row.input},
                          {row.verdict},
                          count(row.n),
                          count(row.d),
                          count(row.trials),
                          count(row.failures),
                          interval_cell({.at = row.estimate, .lo = row.ci_lo, .hi = row.ci_hi}),
                          number_cell(row.bound),
                          number_cell(row.observed),
                          number_cell(row.slack),
                          {row.hypotheses}});
  }
  return table;
}

Chart chart_of_claim(const ClaimCurves& claim) {
  ChartView view{"findings", "what was measured on each input, against what the claim runs over", {}};
  for (const auto& [series, points] : claim.series) {
    ChartCurve curve{.label = series};
    for (const ClaimPoint& point : points) {
      curve.points.push_back(
          {{point.x}, {{.at = point.measured, .lo = point.lo, .hi = point.hi, .bound = point.bound}}});
    }
    view.curves.push_back(std::move(curve));
  }
  return {.title = claim.title,
          .x = {{claim.variable, claim.variable}},
          .y = {{"measured", claim.measured}},
          .views = {std::move(view)},
          .bound = "dotted: the bound"};
}

}  // namespace

Section section_of_ledger(const croquis::Table& table) {
  const std::vector<ClaimRow> rows = croquis::claims::claim_columns().rows(table);
  std::vector<ClaimRow> wholes;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(wholes),
               [](const ClaimRow& row) { return row.input == croquis::claims::kWholeInput; });
  Section section{
      .subject = "the claims ledger", .answers = answers_of_ledger(wholes), .charts = {}, .maps = {}, .tables = {}};
  section.tables = {verdicts_of(wholes), findings_of(rows)};
  for (const ClaimCurves& claim : claim_curves(rows)) section.charts.push_back(chart_of_claim(claim));
  return section;
}
