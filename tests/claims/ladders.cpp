// Every rung of every ladder: what is said to survive does, and what an input is said to kill is refuted.
#include <doctest/doctest.h>
#include <croquis/claims/ledger.hpp>

#include "support/seed.hpp"

using namespace croquis::claims;
using croquis::Verdict;

TEST_CASE("ladders: the rungs that survive, and no others, are not refuted") {
  const croquis::Key key = croquis::Key(test_seed()).child("verify");
  const Ledger ledger({.quick = true}, key);
  // Two keys at 45 degrees fail in 23 % of the draws or more where a tenth is allowed. The 400 draws of a quick
  // decision show that 19 times of 20, as 80 have to fail; 4000 always, being 13 standard deviations from what has to.
  const Ledger more({.quick = true, .most_trials = 4000}, key);
  for (const Claim& claim : all_claims()) {
    for (const Rung& rung : claim.ladder) {
      CAPTURE(claim.id);
      CAPTURE(rung.name);
      const bool drawn = !rung.survives && claim.id.starts_with("rpe.thm3/");
      const Verdict verdict = (drawn ? more : ledger).decide(claim, rung.name).whole.verdict;
      CHECK_MESSAGE((verdict == Verdict::refuted) != rung.survives, croquis::verdict_name(verdict));
      CHECK_FALSE(rung.fate.empty());
    }
  }
}
