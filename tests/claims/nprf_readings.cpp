// What rows of the readings of NPRF state, where a wrong constant in a bound that holds would only make it easier.
#include <doctest/doctest.h>
#include <croquis/claims/ledger.hpp>

#include <cmath>
#include <string>

#include "claims/decided.hpp"
#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Verdict;

TEST_CASE("rpe.sharp: both bounds are attained, by opposite rows") {
  for (const char* id : {"rpe.sharp/norms", "rpe.sharp/bias"}) {
    CAPTURE(id);
    const LedgerEntry entry = decided(id);
    CHECK(entry.whole.verdict == Verdict::verified);
    CHECK(entry.whole.tightness.hi == doctest::Approx(1).epsilon(1e-9));
  }
}

TEST_CASE("rpe.approximable/charitable: both forms of M refute, and the one with fewer M leaves more") {
  const LedgerEntry entry = decided("rpe.approximable/charitable");
  REQUIRE(entry.findings.size() == 2);
  CHECK(contains(entry.findings[0].input, "M = X W X^T"));
  CHECK(entry.findings[0].estimate > entry.findings[1].estimate);
  for (const Finding& row : entry.findings) {
    CHECK(row.verdict == Verdict::refuted);
    CHECK(row.p == 64U);
  }
}

TEST_CASE("rpe.thm3.necessity/small-error: the features of its rows, and the limit of the share that fails") {
  const LedgerEntry entry = decided("rpe.thm3.necessity/small-error");
  REQUIRE(entry.findings.size() == 2);
  // |g| above t (m / V)^(1/2), V = 4/27 e^(4 R^2), for m = e^(4 R^2) / (10 t^2): above 0.82158, as tables have it.
  CHECK(std::erfc(std::sqrt(0.675 / 2)) == doctest::Approx(0.4113).epsilon(1e-4));
  const double radii[] = {0.75, 1};
  for (std::size_t i = 0; i < 2; ++i) {
    const Finding& row = entry.findings[i];
    CHECK(row.verdict == Verdict::verified);
    CHECK(row.bound == doctest::Approx(0.02));
    CHECK(row.d == static_cast<arma::uword>(std::exp(4 * radii[i] * radii[i]) / (10 * 0.02 * 0.02)));
    CHECK(contains(row.hypotheses, "limit as t -> 0 = 0.411"));
    // 66 draws or more of a share of 0.33 or more (a program of its own had 0.33 to 0.38).
    CHECK(row.estimate > 0.1);
    CHECK(row.estimate < 0.7);
  }
}
