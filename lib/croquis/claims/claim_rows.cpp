#include <croquis/claims/claim_rows.hpp>

namespace croquis::claims {
namespace {

ClaimRow row_of(const Claim& claim, const std::string& id, const Finding& finding) {
  ClaimRow row;
  row.claim = id;
  row.verdict = verdict_name(finding.verdict);
  row.kind = claim.kind;
  row.source = claim.source;
  row.input = finding.input;
  row.n = finding.n;
  row.p = finding.p;
  row.d = finding.d;
  row.trials = finding.trials;
  row.failures = finding.failures;
  row.estimate = finding.estimate;
  row.ci_lo = finding.interval.lo;
  row.ci_hi = finding.interval.hi;
  row.confidence = finding.confidence;
  row.bound = finding.bound;
  row.observed = finding.observed;
  row.slack = finding.slack();
  row.hypotheses = finding.hypotheses;
  return row;
}

}  // namespace

const Columns<ClaimRow>& claim_columns() {
  static const Columns<ClaimRow> columns = {
      {{"claim", Role::key, "the claim, or `claim!mutant` with `--mutants`"}, &ClaimRow::claim},
      {{"verdict", Role::note, "`VERIFIED`, `REFUTED`, `INCONCLUSIVE`, `VACUOUS` or `NOT_APPLICABLE`"},
       &ClaimRow::verdict},
      {{"kind", Role::note, "sort of statement: probability, mean, identity, existence, ..."}, &ClaimRow::kind},
      {{"source", Role::note, "where the paper states it"}, &ClaimRow::source},
      {{"input", Role::part, "what the finding was made on; `all` for the whole claim"}, &ClaimRow::input},
      {{"n", Role::number, "number of tokens"}, &ClaimRow::n},
      {{"p", Role::number, "width of queries and keys"}, &ClaimRow::p},
      {{"d", Role::number, "number of features"}, &ClaimRow::d},
      {{"trials", Role::number, "draws"}, &ClaimRow::trials},
      {{"failures", Role::number, "draws that failed"}, &ClaimRow::failures},
      {{"estimate", Role::number, "the measured quantity; for the whole claim the number that the sentence is about"},
       &ClaimRow::estimate},
      {{"ci_lo", Role::number, "lower end of its confidence interval"}, &ClaimRow::ci_lo},
      {{"ci_hi", Role::number, "upper end"}, &ClaimRow::ci_hi},
      {{"confidence", Role::number, "of the interval and the verdict; `NA` where nothing is random"},
       &ClaimRow::confidence},
      {{"bound", Role::number, "what the claim allows"}, &ClaimRow::bound},
      {{"observed", Role::number, "the quantity that the bound is on"}, &ClaimRow::observed},
      {{"slack", Role::number, "bound / observed: how many times larger the bound is than it had to be"},
       &ClaimRow::slack},
      {{"hypotheses", Role::note, "measured hypotheses, `name = value; ...`; for the whole claim what was found"},
       &ClaimRow::hypotheses},
      {{"seed", Role::note, "`--seed`"}, &ClaimRow::seed},
      {{"seconds", Role::number, "of the whole claim", "", "s"}, &ClaimRow::seconds}};
  return columns;
}

std::vector<ClaimRow> rows_of(const Claim& claim, const LedgerEntry& entry, double seconds) {
  std::vector<ClaimRow> rows;
  for (const Finding& finding : entry.findings) rows.push_back(row_of(claim, entry.id(), finding));
  rows.push_back(row_of(claim, entry.id(), entry.whole));
  rows.back().seconds = seconds;
  return rows;
}

}  // namespace croquis::claims
