#include <doctest/doctest.h>
#include <croquis/claims/decisions.hpp>

#include <atomic>
#include <limits>

#include "support/refusal.hpp"
#include "support/seed.hpp"

using namespace croquis::claims;
using croquis::Key;
using croquis::Verdict;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("decide_identity: numbers that are not finite decide nothing, and the finding has them") {
  CHECK(decide_identity("x", 1, 2).verdict == Verdict::verified);
  CHECK(decide_identity("x", 2, 1).verdict == Verdict::refuted);
  for (const auto& [observed, bound] : {std::pair{kNaN, 1.0},
                                        {kInfinity, 1.0},
                                        {-kInfinity, 1.0},
                                        {1.0, kInfinity},
                                        {1.0, kNaN},
                                        {kInfinity, kInfinity}}) {
    const Finding finding = decide_identity("x", observed, bound);
    CHECK(finding.verdict == Verdict::inconclusive);
    CHECK(contains(finding.hypotheses, "not finite: observed = "));
  }
}

TEST_CASE("decide_probability: one error or a bound that is not finite leaves the claim undecided") {
  const Check check{.draw_key = Key(test_seed())};
  for (const double delta : {0.0, 0.05}) {
    const auto decide = [&](double error, double bound) {
      std::atomic<int> trial{0};
      const ProbabilityClaim claim{.input = "x", .bound = bound, .delta = delta, .alpha = 1e-3, .most_trials = 500};
      return decide_probability(check, claim, [&](const Key&) { return trial++ == 3 ? error : 0.5; });
    };
    CHECK(decide(0.5, 1).verdict == Verdict::verified);
    CHECK(decide(0.5, 0.4).verdict == Verdict::refuted);
    for (const double error : {kNaN, kInfinity, -kInfinity}) {
      const Finding finding = decide(error, 1);
      CHECK(finding.verdict == Verdict::inconclusive);
      CHECK(contains(finding.hypotheses, "not finite: 1 of "));
    }
    for (const double bound : {kNaN, kInfinity, -kInfinity}) CHECK(decide(0.5, bound).verdict == Verdict::inconclusive);
  }
}

TEST_CASE("decide_mean: one value that is not finite leaves the claim undecided") {
  const Check check{.draw_key = Key(test_seed())};
  const auto decide = [&](double value) {
    std::atomic<int> trial{0};
    const MeanClaim claim{.input = "x", .expected = 1, .resolution = 0.1, .alpha = 1e-3, .trials = 50};
    return decide_mean(check, claim, [&](const Key&) { return trial++ == 3 ? value : 1.0; });
  };
  CHECK(decide(1).verdict == Verdict::verified);
  for (const double value : {kNaN, kInfinity, -kInfinity}) {
    const Finding finding = decide(value);
    CHECK(finding.verdict == Verdict::inconclusive);
    CHECK(contains(finding.hypotheses, "not finite: 1 of 50 values"));
  }
}

TEST_CASE("decisions: probabilities outside their ranges are refused") {
  const Check check{.draw_key = Key(test_seed())};
  const auto zero = [](const Key&) { return 0.0; };
  for (const double delta : {-0.1, 1.0, kNaN}) {
    const ProbabilityClaim claim{.input = "x", .bound = 1, .delta = delta, .alpha = 1e-3, .most_trials = 10};
    CHECK(contains(refusal([&] { decide_probability(check, claim, zero); }), "0 <= delta < 1"));
  }
  for (const double alpha : {0.0, 1.0, kNaN}) {
    CAPTURE(alpha);
    for (const double delta : {0.0, 0.5}) {
      const ProbabilityClaim claim{.input = "x", .bound = 1, .delta = delta, .alpha = alpha, .most_trials = 10};
      CHECK(contains(refusal([&] { decide_probability(check, claim, zero); }), "alpha"));
    }
    const MeanClaim claim{.input = "x", .resolution = 1, .alpha = alpha, .trials = 10};
    CHECK(contains(refusal([&] { decide_mean(check, claim, zero); }), "alpha"));
  }
}
