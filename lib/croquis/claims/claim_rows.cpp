#include <croquis/claims/claim_rows.hpp>
#include <croquis/measure/groups.hpp>
#include <croquis/measure/head_columns.hpp>

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
  row.power = finding.power;
  row.tightness_lo = finding.tightness.lo;
  row.tightness_hi = finding.tightness.hi;
  row.trivial = finding.trivial;
  row.threshold = finding.threshold;
  row.conceded = claim.conceded;
  row.reading = claim.reading_name();
  row.hypotheses = finding.hypotheses;
  row.sequence = number_in_name(finding.input, "sequence");
  row.layer = number_in_name(finding.input, "layer");
  row.head = number_in_name(finding.input, "head");
  return row;
}

// A finding is about an input and more, as "arrays:x;head=1 d=16", so that the head is no key.
Column as_note(Column column) {
  column.role = Role::note;
  return column;
}

}  // namespace

const Columns<ClaimRow>& claim_columns() {
  static const Columns<ClaimRow> columns = {
      {{"claim", Role::key, "the claim and its reading, `claim/reading` (`claim/reading!mutant` with `--mutants`)"},
       &ClaimRow::claim},
      {{"verdict", Role::note,
        "`VERIFIED` (there is a proof, and every check agrees), `HOLDS` (no proof; not refuted on any input tried), "
        "`REFUTED`, `REFUTED_PROOF` (what the paper offers as proof fails), `VACUOUS` (the hypotheses cannot be met, "
        "or a trivial object satisfies the claim), `INCONCLUSIVE` (`hypotheses` says what would decide, as a number of "
        "trials, or which number is not finite) or `NOT_APPLICABLE`. The claim as a whole is the first of REFUTED, "
        "REFUTED_PROOF, INCONCLUSIVE, VERIFIED, HOLDS, VACUOUS that one of its rows is"},
       &ClaimRow::verdict},
      {{"kind", Role::note, "identity, mean, variance, probability, rate, existence, measured or counterexample"},
       &ClaimRow::kind},
      {{"source", Role::note, "the paper and the number of the statement"}, &ClaimRow::source},
      {{"input", Role::part, "what the finding was made on; `all` for the claim as a whole"}, &ClaimRow::input},
      {{"n", Role::number, "number of tokens"}, &ClaimRow::n},
      {{"p", Role::number, "width of queries and keys"}, &ClaimRow::p},
      {{"d", Role::number, "number of features"}, &ClaimRow::d},
      {{"trials", Role::number, "the number of random draws"}, &ClaimRow::trials},
      {{"failures", Role::number, "the number of draws in which the claim failed"}, &ClaimRow::failures},
      {{"estimate", Role::number,
        "the measured quantity. For the claim as a whole it is the number in the sentence of `hypotheses`"},
       &ClaimRow::estimate},
      {{"ci_lo", Role::number, "the lower end of its interval. Identities have none"}, &ClaimRow::ci_lo},
      {{"ci_hi", Role::number, "the upper end"}, &ClaimRow::ci_hi},
      {{"confidence", Role::number,
        "1 - confidence bounds the probability that this verdict is wrong about the failure rate of this input; all "
        "rows together have 1 - `--confidence`. `NA` where nothing is random, where every draw has to satisfy an "
        "identity, and where means or medians of draws are compared ([the ledger](claims.md))"},
       &ClaimRow::confidence},
      {{"bound", Role::number,
        "what the claim allows: the most, or the least, which has a minus sign, as `observed` then. In "
        "`rpe.thm3.necessity/*` it is the size of an error that counts as a failure, which the claim wants to be "
        "frequent"},
       &ClaimRow::bound},
      {{"observed", Role::number,
        "the error, or its quantile at the claimed probability, of other draws than those of `trials`"},
       &ClaimRow::observed},
      {{"slack", Role::number, "bound / observed; NA for a least"}, &ClaimRow::slack},
      {{"power", Role::number,
        "the smallest violation that this row would refute with probability 0.95. It is a failure rate over all "
        "the draws that the row may take (where the claim is that a rate is above an allowance, the largest such "
        "rate), the relative gap of two means or medians, the distance of two distributions, for an "
        "identity the relative error of its formula, or for a bound on what one input has the part by which it could "
        "be smaller. `NA` where nothing is random and no formula is compared ([the ledger](claims.md))"},
       &ClaimRow::power},
      {{"tightness_lo", Role::number,
        "of a bound: by a proof it can be lowered by this factor at least; 1 where there is no such proof"},
       &ClaimRow::tightness_lo},
      {{"tightness_hi", Role::number,
        "of a bound: it can be lowered by this factor at most, bound / what the worst known input achieves"},
       &ClaimRow::tightness_hi},
      {{"trivial", Role::note, "a trivial object that satisfies the claim on this input; `NA` if none is known"},
       &ClaimRow::trivial},
      {{"threshold", Role::note, "what was fixed beforehand and decides the row; `NA` if nothing"},
       &ClaimRow::threshold},
      {{"conceded", Role::note, "where the paper itself restricts or doubts its sentence; `NA` if nowhere"},
       &ClaimRow::conceded},
      {{"reading", Role::note, "the name of the reading, as in `claim`: strict, charitable or another"},
       &ClaimRow::reading},
      {{"hypotheses", Role::note,
        "the assumptions, as measured: `name = value; ...`. For the claim as a whole it is the sentence of the ledger"},
       &ClaimRow::hypotheses},
      {{"seed", Role::note, "`--seed`"}, &ClaimRow::seed},
      {{"seconds", Role::number, "the time of the whole claim", "", "s"}, &ClaimRow::seconds},
      {as_note(sequence_column()), &ClaimRow::sequence},
      {as_note(layer_column()), &ClaimRow::layer},
      {as_note(head_column()), &ClaimRow::head}};
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
