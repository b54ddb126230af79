// Heads of few tokens: fewer than a claim is about, or as many as there are landmarks or kept weights.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/claims/ledger.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "claims/decided.hpp"
#include "claims/normal_heads.hpp"
#include "support/capture.hpp"
#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Verdict;

TEST_CASE("vat.verified-d: fewer than 512 tokens are not judged, however few") {
  for (const char* reading : {"known", "charitable", "code"}) {
    const std::string id = fmt::format("vat.verified-d/{}", reading);
    for (const arma::uword n : {2, 3, 17, 19, 20, 21, 22, 64, 511}) {
      CAPTURE(n);
      const LedgerEntry entry = decided(id, {{"short", tokens(n, 1)}});
      CHECK_MESSAGE(entry.whole.verdict == Verdict::not_applicable, entry.whole.hypotheses);
      CHECK(std::isnan(entry.whole.estimate));
      CHECK(entry.findings.front().n == n);
    }
    const LedgerEntry both = decided(id, {{"short", tokens(511, 1)}, {"long", tokens(512, 1)}});
    CHECK(both.findings[0].verdict == Verdict::not_applicable);
    CHECK(both.findings[1].verdict != Verdict::not_applicable);
  }
}

TEST_CASE("nys.landmarks: inputs of which all points are landmarks do not count") {
  const LedgerEntry alone = decided("nys.landmarks/threshold", {{"short", tokens(64, 1)}});
  CHECK(alone.whole.verdict == Verdict::vacuous);
  CHECK(contains(alone.findings.front().trivial, "all points"));
  CHECK(contains(alone.whole.hypotheses, "on 0 of 0 inputs"));
  const LedgerEntry both = decided("nys.landmarks/threshold", {{"short", tokens(64, 1)}, {"long", tokens(128, 5)}});
  CHECK(both.whole.verdict == Verdict::refuted);
  CHECK(contains(both.whole.hypotheses, "on 0 of 1 inputs"));
}

TEST_CASE("sky.thm2/charitable: its worst case has fewer points than landmarks are asked for") {
  const auto findings = decided("sky.thm2/charitable").findings;
  const auto worst = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& f) { return f.input == "worst case of sky.thm2"; });
  REQUIRE(worst != findings.end());
  CHECK(worst->verdict == Verdict::vacuous);
  CHECK(contains(worst->trivial, "all points"));
}

TEST_CASE("fewer tokens than a claim is about: each size has a row that says so, and there is no number") {
  const std::pair<const char*, arma::uword> cases[] = {
      {"nys.six-iterations/norm", 7}, {"nys.six-iterations/penrose-3-4", 7},
      {"sky.core/interlacing", 2},    {"lin.thm2/fixed-width", 2},
      {"ske.alg1/identity", 3},       {"ske.fig1/strict", 7},
      {"ske.fig1/charitable", 256}};
  for (const auto& [id, n] : cases) {
    CAPTURE_BINDING(id);
    const LedgerEntry entry = decided(id, {{"short", tokens(n, 1)}});
    CHECK(entry.whole.verdict == Verdict::not_applicable);
    CHECK(std::isnan(entry.whole.estimate));
    CHECK_FALSE(entry.findings.empty());
    std::set<std::string> inputs;
    for (const Finding& finding : entry.findings) {
      CHECK(finding.verdict == Verdict::not_applicable);
      CHECK(contains(finding.hypotheses, "fewer than "));
      inputs.insert(finding.input);
    }
    CHECK(inputs.size() == entry.findings.size());
    const Subject enough = {"long", tokens(512, 1)};
    const LedgerEntry both = decided(id, {{"short", tokens(n, 1)}, enough}), alone = decided(id, {enough});
    CHECK(both.whole.verdict == alone.whole.verdict);
    CHECK(both.whole.estimate == alone.whole.estimate);
    CHECK(both.findings.size() == entry.findings.size() + alone.findings.size());
  }
  const auto findings = decided("nys.six-iterations/penrose-1", {{"short", tokens(7, 1)}}).findings;
  CHECK(findings.front().verdict == Verdict::not_applicable);
  CHECK(findings.front().hypotheses == "fewer than 32 tokens");
}

TEST_CASE("topk: a mask that leaves out no weight says nothing; scores that overflow are named") {
  for (const char* id : {"topk.tail-mass/any-mask", "topk.output/any-mask"}) {
    CAPTURE(id);
    for (const arma::uword n : {20, 40}) {
      const LedgerEntry entry = decided(id, {{"own", tokens(n, 1)}});
      CHECK(entry.findings.size() == 4);
      for (const Finding& finding : entry.findings) {
        CHECK(finding.n == n);
        CHECK(finding.d == std::min<arma::uword>(n, 32));
        CHECK(finding.verdict == (n == 20 ? Verdict::vacuous : Verdict::verified));
        CHECK(finding.trivial == (n == 20 ? "no weight is left out" : ""));
      }
    }
    for (const Finding& finding : decided(id, {{"own", tokens(64, 1e100)}}).findings) {
      CHECK(contains(finding.hypotheses, "tau = "));
      CHECK(contains(finding.hypotheses, "not finite: observed = "));
    }
  }
}
