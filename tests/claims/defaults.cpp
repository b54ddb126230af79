// The default run, which docs/claims.md is of: every claim of it that is decided in a second or two comes out as it
// stands there. The other tests make quick runs, with fewer draws and smaller sizes.
#include <doctest/doctest.h>
#include <croquis/claims/ledger.hpp>

#include <set>
#include <string>

#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Verdict;

namespace {

const std::set<std::string> kSlow = {"sky.thm2/charitable",
                                     "sky.thm2/order",
                                     "sky.lift/strict",
                                     "sky.lemmaC2/strict",
                                     "sky.instability/after-norm",
                                     "sky.instability/before-norm",
                                     "sky.instability/fresh-masks",
                                     "lin.thm1/corrected",
                                     "ske.prop1/corrected",
                                     "rpe.thm3/strict",
                                     "rpe.thm3/charitable",
                                     "rpe.thm3/corrected",
                                     "rpe.thm3/sharper",
                                     "rpe.thm3/trf",
                                     "rpe.thm3.necessity/some-input",
                                     "rpe.fig1b/threshold",
                                     "rpe.gradient/absolute",
                                     "rpe.gradient/relative",
                                     "rpe.gradient/explosion",
                                     "rpe.gradient/normalised"};

}  // namespace

TEST_CASE("ledger: the default run gives the verdicts of the page, and no check breaks down") {
  const Ledger ledger({}, ledger_key(1));
  for (const Claim& claim : all_claims()) {
    if (kSlow.contains(claim.id)) continue;
    CAPTURE(claim.id);
    const Finding whole = ledger.decide(claim).whole;
    CHECK_MESSAGE(whole.verdict == claim.expected, whole.hypotheses);
    CHECK_FALSE(whole.hypotheses.starts_with(kBrokeDown));
  }
  for (const std::string& slow : kSlow) CHECK(find_claim(slow).id == slow);
}

TEST_CASE("sky.fig1/strict: a method that refuses a draw on one input leaves the others decided") {
  const LedgerEntry entry = Ledger({}, ledger_key(1)).decide(find_claim("sky.fig1/strict"));
  REQUIRE(entry.findings.size() == 6);
  int refused = 0;
  for (const Finding& finding : entry.findings) {
    CAPTURE(finding.input);
    CHECK(finding.n == 512U);
    if (!contains(finding.hypotheses, "refused = skyformer-softmax: rounding may decide")) continue;
    ++refused;
    CHECK(finding.input == "heavy-norms:2");
    CHECK(finding.verdict == Verdict::inconclusive);
    CHECK(contains(finding.hypotheses, "; would decide = "));
  }
  CHECK(refused == 1);
  CHECK(entry.whole.verdict == Verdict::refuted);
  CHECK(entry.whole.estimate == doctest::Approx(0.6516).epsilon(1e-3));
}
