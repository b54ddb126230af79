// Every claim of every paper, and every deliberate mistake.
#include <doctest/doctest.h>
#include <croquis/claims/ledger.hpp>

#include "support/seed.hpp"

using namespace croquis::claims;
using croquis::Verdict;

namespace {

// Every mutant turns the verdict; of a claim that holds, to REFUTED.
void check_claim(const Ledger& ledger, const Claim& claim) {
  CAPTURE(claim.id);
  const Verdict verdict = ledger.decide(claim).whole.verdict;
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
      const Ledger ledger({.quick = true}, croquis::Key(test_seed()).child("verify"));
      for (const Claim& claim : paper.claims) check_claim(ledger, claim);
    }
  }
}
