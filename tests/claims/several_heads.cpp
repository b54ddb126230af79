// Several heads: a row for each, also for one that is refused, and a number and sentences for all of them.
#include <doctest/doctest.h>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/ledger.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "claims/decided.hpp"
#include "claims/normal_heads.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Problem;
using croquis::Verdict;

TEST_CASE("add_unless_refused: numerics that fail are a row of their input, errors of the program are not") {
  Report report;
  add_unless_refused(report, "first", [&] {
    report.findings.emplace_back();
    report.findings.back().verdict = Verdict::refuted;
  });
  add_unless_refused(report, "second", [] { throw std::runtime_error("no luck"); });
  REQUIRE(report.findings.size() == 2);
  CHECK(report.findings[1].input == "second");
  CHECK(report.findings[1].verdict == Verdict::inconclusive);
  CHECK(contains(report.findings[1].hypotheses, "refused = no luck; would decide = "));
  CHECK(report.verdict() == Verdict::refuted);
  CHECK(refusal([&] { add_unless_refused(report, "third", [] { throw std::invalid_argument("wrong"); }); }) == "wrong");
  CHECK_THROWS_AS(add_unless_refused(report, "third", [] { throw Interrupted(); }), Interrupted);
  CHECK(report.findings.size() == 2);
}

TEST_CASE("rpe.gradient: a head whose derivatives have squares that vanish is decided as one of larger values") {
  const Subject near = {"near", tokens(64, 1)}, far = {"far", tokens(64, 1)},
                tiny = {"far", {far.problem.Q(), far.problem.K(), std::ldexp(1.0, -565) * far.problem.V()}};
  for (const char* id : {"rpe.gradient/absolute", "rpe.gradient/relative", "rpe.gradient/explosion",
                         "rpe.gradient/direction", "rpe.gradient/normalised"}) {
    CAPTURE(id);
    const LedgerEntry one = decided(id, {far, near}), other = decided(id, {tiny, near});
    CHECK(other.whole.verdict == one.whole.verdict);
    CHECK(other.whole.estimate == doctest::Approx(one.whole.estimate));
    REQUIRE(other.findings.size() == one.findings.size());
    for (std::size_t i = 0; i < one.findings.size(); ++i) {
      CAPTURE(one.findings[i].input);
      CHECK(other.findings[i].verdict == one.findings[i].verdict);
      CHECK(other.findings[i].estimate == doctest::Approx(one.findings[i].estimate));
    }
  }
}

// Rows are the same whichever heads are decided with them: each has draws of its own.
TEST_CASE("rpe.gradient: of several heads the number is the extreme one at the most features") {
  constexpr arma::uword most_features = 128;
  const auto reversed = [](Problem<double> problem) -> Problem<double> {
    return {arma::reverse(problem.Q()), problem.K(), problem.V()};
  };
  const std::vector<Subject> heads = {{"a", tokens(64, 1)}, {"b", reversed(tokens(64, 1))}, {"c", tokens(40, 1)}};
  const std::vector<Subject> turned(heads.rbegin(), heads.rend());
  struct Number {
    const char *id, *of;
    bool smallest;
  };
  for (const Number& number :
       {Number{"rpe.gradient/absolute", "", true}, Number{"rpe.gradient/explosion", "", true},
        Number{"rpe.gradient/relative", "R=4 over R=2", true}, Number{"rpe.gradient/direction", "", false},
        Number{"rpe.gradient/normalised", "against prf", false}}) {
    CAPTURE(number.id);
    const LedgerEntry entry = decided(number.id, heads);
    std::vector<double> estimates;
    for (const Finding& f : entry.findings) {
      if (f.d == most_features && contains(f.input, number.of)) estimates.push_back(f.estimate);
    }
    REQUIRE(estimates.size() == heads.size());
    std::sort(estimates.begin(), estimates.end());
    CHECK(entry.whole.estimate == (number.smallest ? estimates.front() : estimates.back()));
    CHECK(decided(number.id, turned).whole.estimate == entry.whole.estimate);
    CHECK(entry.whole.hypotheses.starts_with(number.smallest ? "smallest of the heads: " : "largest of the heads: "));
    CHECK_FALSE(contains(decided(number.id, {heads.front()}).whole.hypotheses, "of the heads"));
  }
  // Of two orthogonal tokens the exact derivatives fall like e^{-R^2}: the last quotient is the largest.
  const arma::mat axes = arma::eye(2, 2);
  const LedgerEntry two = decided("rpe.gradient/relative", {{"two", {axes, axes, axes}}});
  CHECK(std::isfinite(two.whole.estimate));
  for (const Finding& f : two.findings) {
    if (f.d == most_features && contains(f.input, "R=4 over R=2")) CHECK(f.estimate == two.whole.estimate);
  }
}

TEST_CASE("sentences and rows on a head of one's own have its sizes, and no number of none") {
  const std::vector<Subject> own = {{"own", tokens(40, 1)}};
  CHECK(contains(decided("rpe.unbiased/qr-unsigned", own).whole.hypotheses, ", p = 8"));
  CHECK(contains(decided("sky.core/inherits", own).whole.hypotheses, ", 40 landmarks,"));
  CHECK(contains(decided("sky.core/inherits", {own[0], {"long", tokens(512, 1)}}).whole.hypotheses,
                 ", 40 to 64 landmarks,"));
  CHECK(decided("lin.spectrum/layers", own).findings.front().input == "own 0 layers");
  CHECK(decided("lin.spectrum/layers", {own[0], {"b", tokens(40, 2)}}).findings.front().input ==
        "own and others, 0 layers");
  for (const char* id : {"ske.lemma1.corrected/bernstein", "ske.lemma1.corrected/sharper"}) {
    const LedgerEntry entry = decided(id, own);
    CHECK(contains(entry.whole.hypotheses, "on the 0 inputs"));
    CHECK(std::isnan(entry.whole.estimate));
  }
}
