// Every claim of every paper, and every deliberate mistake.
#include <doctest/doctest.h>
#include <croquis/claims/ledger.hpp>

#include <cmath>

#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Verdict;

namespace {

bool says_what_would_decide(const Finding& finding) {
  return contains(finding.hypotheses, "would decide") || contains(finding.hypotheses, "not finite");
}

// A bound is a most: what is observed is not above it in a row that holds, and not below it in one that is refuted. A
// least has a minus sign, as what is observed then, and the same goes for it. Not of this kind are equations, an
// eigenvalue that is to differ from 1, and errors that a claim wants to be frequent.
bool has_a_bound(const Claim& claim) {
  return claim.sentence_id() != "rpe.thm3.necessity" && claim.id != "ske.ratio/strict" &&
         claim.id != "ske.alg1/unbiased" && claim.id != "sky.lemma3/strict";
}

void check_side(const Finding& finding) {
  const double room = 1e-6 * std::abs(finding.bound);
  const bool holds = finding.verdict == Verdict::verified || finding.verdict == Verdict::holds;
  const bool refuted = finding.verdict == Verdict::refuted || finding.verdict == Verdict::refuted_proof;
  // A quantile of draws decides nothing, but where no draw fails, other draws are not on the other side.
  if (holds && finding.failures.value_or(0) == 0) CHECK_FALSE(finding.observed > finding.bound + room);
  if (refuted && !finding.failures) CHECK_FALSE(finding.observed < finding.bound - room);
}

// What every row owes its reader: how large a violation it would have noticed, or the threshold that it was held
// against; and where it is undecided, what would decide.
void check_rows(const Claim& claim, const LedgerEntry& entry, double alpha) {
  double spent = 0;
  for (const Finding& finding : entry.findings) {
    CAPTURE(finding.input);
    if (!std::isnan(finding.confidence)) spent += 1 - finding.confidence;
    CHECK_FALSE(finding.power < 0);
    if (finding.verdict == Verdict::holds) CHECK((!std::isnan(finding.power) || !finding.threshold.empty()));
    if (finding.verdict == Verdict::verified && claim.kind == "identity") CHECK_FALSE(std::isnan(finding.power));
    if (finding.verdict == Verdict::inconclusive) CHECK(says_what_would_decide(finding));
    if (has_a_bound(claim)) check_side(finding);
  }
  CHECK(spent <= alpha * (1 + 1e-6));
  if (entry.whole.verdict == Verdict::inconclusive) CHECK(says_what_would_decide(entry.whole));
}

// Every mutant turns the verdict; of a claim that holds, to REFUTED.
void check_claim(const Ledger& ledger, const Claim& claim) {
  CAPTURE(claim.id);
  const LedgerEntry entry = ledger.decide(claim);
  check_rows(claim, entry, ledger.check_of(claim).alpha);
  const Verdict verdict = entry.whole.verdict;
  CHECK_MESSAGE((verdict == claim.expected || verdict == Verdict::inconclusive), croquis::verdict_name(verdict));
  CHECK_FALSE(claim.mutants.empty());
  for (const Mutant& mutant : claim.mutants) {
    const Verdict turned = ledger.decide(claim, mutant.name).whole.verdict;
    CAPTURE(mutant.name);
    CHECK_MESSAGE(turned != verdict, croquis::verdict_name(turned));
    if (claim.expected == Verdict::verified) CHECK(turned == Verdict::refuted);
  }
}

}  // namespace

TEST_CASE("papers: claims come out as expected, their mutants do not") {
  for (const Paper& paper : papers()) {
    SUBCASE(paper.name.c_str()) {
      // What HOLDS is a statement about given inputs, which are a fixed draw: on others it need not (docs/claims.md).
      const Ledger given({.quick = true}, croquis::Key(20261121).child("verify")),
          drawn({.quick = true}, croquis::Key(test_seed()).child("verify"));
      for (const Claim& claim : paper.claims) check_claim(claim.expected == Verdict::holds ? given : drawn, claim);
    }
  }
}
