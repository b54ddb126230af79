// Every rung of every ladder: what is said to survive does, and what an input is said to kill is refuted.
#include <doctest/doctest.h>
#include <croquis/claims/ledger.hpp>

#include "support/seed.hpp"

using namespace croquis::claims;
using croquis::Verdict;

TEST_CASE("ladders: the rungs that survive, and no others, are not refuted") {
  const Ledger ledger({.quick = true}, croquis::Key(test_seed()).child("verify"));
  for (const Claim& claim : all_claims()) {
    for (const Rung& rung : claim.ladder) {
      CAPTURE(claim.id);
      CAPTURE(rung.name);
      const Verdict verdict = ledger.decide(claim, rung.name).whole.verdict;
      CHECK_MESSAGE((verdict == Verdict::refuted) != rung.survives, croquis::verdict_name(verdict));
      CHECK_FALSE(rung.fate.empty());
    }
  }
}
