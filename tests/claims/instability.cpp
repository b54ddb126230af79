// How sky.instability is decided: by how many models have a ratio that is not below 1.
#include <doctest/doctest.h>
#include <croquis/claims/ledger.hpp>
#include <croquis/stats/intervals.hpp>

#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Interval;
using croquis::Verdict;

namespace {

Finding found_with(const char* id, const char* mutant = "") {
  const Ledger ledger({.quick = true}, croquis::Key(test_seed()).child("verify"));
  const std::vector<Finding> findings = ledger.decide(find_claim(id), mutant).findings;
  REQUIRE(findings.size() == 1);
  return findings.front();
}

double share_of_error() {
  const Ledger ledger({.quick = true}, croquis::Key(1));
  return ledger.check_of(find_claim("sky.instability/before-norm")).alpha;
}

}  // namespace

// Of 1000 models none had a ratio below 1 before the norm, and one had one above 1 with fresh masks. Nine of 64 on the
// other side leave a verdict open, which at one in a thousand is less likely than 1e-16.
TEST_CASE(
    "sky.instability: the verdict is that of the exact interval of a share of models, Student's is shown beside") {
  for (const char* id : {"sky.instability/before-norm", "sky.instability/after-norm", "sky.instability/fresh-masks"}) {
    CAPTURE(id);
    const Finding finding = found_with(id);
    const bool fresh = contains(id, "fresh");
    // The one look of a sequential decision has half of the error probability, and fresh masks make two decisions.
    const Interval exact =
        croquis::clopper_pearson(*finding.failures, *finding.trials, share_of_error() / (fresh ? 4 : 2));
    CHECK(*finding.trials == 64);
    CHECK(finding.interval.lo == exact.lo);
    CHECK(finding.interval.hi == exact.hi);
    CHECK(finding.confidence == doctest::Approx(1 - share_of_error()).epsilon(1e-15));
    CHECK(contains(finding.hypotheses, "Student's 99 % interval = "));
  }
  CHECK(found_with("sky.instability/before-norm").verdict == Verdict::refuted);
  CHECK(found_with("sky.instability/fresh-masks").verdict == Verdict::vacuous);
  CHECK(found_with("sky.instability/fresh-masks").trivial == "unchanged weights");
}

TEST_CASE("sky.instability: an average over the tokens is more stable for most models before the norm") {
  const Finding finding = found_with("sky.instability/before-norm", "averaged");
  CHECK(finding.verdict == Verdict::holds);
  CHECK(finding.observed < 1);
  CHECK(finding.trivial.empty());
}
