#include <doctest/doctest.h>
#include <fmt/format.h>

#include "claims/claim.hpp"
#include "claims/subjects.hpp"
#include "support/seed.hpp"

namespace {

Check quick_check(const Claim& claim, const std::string& mutant) {
  const croquis::Key draw_key = croquis::Key(test_seed()).child("verify");
  return {.subjects = default_subjects(draw_key.child("input")),
          .draw_key = draw_key.child(claim.id),
          .quick = true,
          .mutant = mutant};
}

// Every mutant turns the verdict; of a claim that holds, to REFUTED.
void check_claims(const std::vector<Claim>& claims) {
  for (const Claim& claim : claims) {
    CAPTURE(claim.id);
    const croquis::Verdict verdict = verdict_of(claim.check(quick_check(claim, "")).findings);
    CHECK_MESSAGE((verdict == claim.expected || verdict == croquis::Verdict::inconclusive),
                  croquis::verdict_name(verdict));
    CHECK_FALSE(claim.mutants.empty());
    for (const Mutant& mutant : claim.mutants) {
      const croquis::Verdict turned = verdict_of(claim.check(quick_check(claim, mutant.name)).findings);
      CAPTURE(mutant.name);
      CHECK_MESSAGE(turned != verdict, croquis::verdict_name(turned));
      if (claim.expected == croquis::Verdict::verified) CHECK(turned == croquis::Verdict::refuted);
    }
  }
}

}  // namespace

TEST_CASE("skyformer: claims come out as expected, their mutants do not") {
  check_claims(skyformer_claims());
}

TEST_CASE("nystromformer: claims come out as expected, their mutants do not") {
  check_claims(nystromformer_claims());
}

TEST_CASE("linformer: claims come out as expected, their mutants do not") {
  check_claims(linformer_claims());
}

TEST_CASE("skeinformer: claims come out as expected, their mutants do not") {
  check_claims(skeinformer_claims());
}

TEST_CASE("nprf: claims come out as expected, their mutants do not") {
  check_claims(nprf_claims());
}
