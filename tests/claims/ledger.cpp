#include <doctest/doctest.h>
#include <omp.h>
#include <croquis/claims/ledger.hpp>
#include <croquis/inputs/synthetic.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <stdexcept>

#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Key;
using croquis::Verdict;

namespace {

Subject small_input() {
  return {"own", croquis::gaussian_input(Key(test_seed()), {.n = 40, .p = 4, .norm = 3})};
}

Claim claim_with(std::function<Report(const Check&)> check) {
  Claim claim;
  claim.id = "own.claim";
  claim.mutants = {{"mistake", "one"}};
  claim.check = std::move(check);
  return claim;
}

Finding finding_of(Verdict verdict) {
  Finding finding;
  finding.verdict = verdict;
  return finding;
}

}  // namespace

TEST_CASE("papers: they are the folders of the claims, and all_claims() has their claims in this order") {
  std::set<std::string> folders, names, ids;
  std::istringstream list(CROQUIS_PAPERS);
  for (std::string folder; list >> folder;) folders.insert(folder);
  std::size_t i = 0;
  for (const Paper& paper : papers()) {
    names.insert(paper.name);
    for (const Claim& claim : paper.claims) {
      REQUIRE(i < all_claims().size());
      CHECK(all_claims()[i++].id == claim.id);
      CHECK_MESSAGE(ids.insert(claim.id).second, claim.id);
      CHECK(&find_claim(claim.id) == &all_claims()[i - 1]);
      CHECK_MESSAGE(claim.id.find('/') != std::string::npos, claim.id);
      for (const std::string& former : claim.formerly) {
        CHECK_MESSAGE(ids.insert(former).second, former);
        CHECK(&find_claim(former) == &all_claims()[i - 1]);
      }
      // Only a proof carries "for all".
      if (claim.expected == Verdict::verified) CHECK_MESSAGE(!claim.proof.empty(), claim.id);
      for (const std::string& text : {claim.kind, claim.source, claim.statement, claim.hypotheses, claim.method}) {
        CHECK_MESSAGE(!text.empty(), claim.id);
      }
    }
  }
  CHECK(i == all_claims().size());
  CHECK(names == folders);
  CHECK(refusal([] { find_claim("nys.lema1/strict"); }) ==
        "no claim is called 'nys.lema1/strict'; did you mean 'nys.lemma1/strict'?; croquis list claims has them");
}

TEST_CASE("verdict_of: one refutation refutes; undecided comes before verified, vacuous before not applicable") {
  std::vector<Finding> findings;
  CHECK(verdict_of(findings) == Verdict::inconclusive);
  for (const Verdict verdict : {Verdict::not_applicable, Verdict::vacuous, Verdict::verified, Verdict::inconclusive,
                                Verdict::refuted, Verdict::not_applicable}) {
    findings.push_back(finding_of(verdict));
    CHECK(verdict_of(findings) == (findings.size() == 6 ? Verdict::refuted : verdict));
  }
}

TEST_CASE("Finding::slack: the bound over what was observed, none of nothing") {
  Finding finding;
  CHECK(std::isnan(finding.slack()));
  finding.bound = 3;
  finding.observed = 2;
  CHECK(finding.slack() == 1.5);
  finding.observed = 0;
  CHECK(std::isnan(finding.slack()));
  finding.observed = -2;
  CHECK(std::isnan(finding.slack()));
  finding.bound = -0.5;  // a least
  CHECK(std::isnan(finding.slack()));
}

TEST_CASE("decide: a check that breaks down is inconclusive and says why; one that is interrupted is not decided") {
  const Ledger ledger(small_input(), {}, Key(1));
  const LedgerEntry broken =
      ledger.decide(claim_with([](const Check&) -> Report { throw std::runtime_error("no luck"); }));
  CHECK(broken.whole.verdict == Verdict::inconclusive);
  CHECK(broken.whole.hypotheses == "the check broke down: no luck");
  CHECK(broken.findings.empty());
  CHECK_THROWS_AS(ledger.decide(claim_with([](const Check&) -> Report { throw Interrupted(); })), Interrupted);

  const Ledger stopped(small_input(), {.interrupted = [] { return true; }}, Key(1));
  CHECK_THROWS_AS(stopped.decide(find_claim("lin.jl-norm")), Interrupted);
}

// Of BLAS's threads a fork has none, and sums in another order would have other bits.
TEST_CASE("decide: a check has one thread of BLAS, and the caller has his again, also when it breaks down") {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  for (const bool breaks : {false, true}) {
    int inside = 0;
    const Claim claim = claim_with([&](const Check&) {
      inside = omp_get_max_threads();
      if (breaks) throw std::runtime_error("no luck");
      return Report();
    });
    decide(claim, Check{.subjects = {small_input()}, .draw_key = Key(1)});
    CHECK(inside == 1);
    CHECK(omp_get_max_threads() == 3);
  }
  omp_set_num_threads(before);
}

TEST_CASE("decide: no subject and a mutant that the claim does not have are refused") {
  const Claim claim = claim_with([](const Check&) { return Report(); });
  CHECK(contains(refusal([&] { decide(claim, Check{.draw_key = Key(1)}); }),
                 "one subject at least, got claim = own.claim"));
  const Ledger ledger(small_input(), {}, Key(1));
  CHECK(contains(refusal([&] { ledger.decide(claim, "mistaken"); }), "mutant = mistaken"));
  CHECK(ledger.decide(claim, "mistake").id() == "own.claim!mistake");
  CHECK(ledger.decide(claim).id() == "own.claim");
}

TEST_CASE("Ledger: a claim has a key of its own and an equal share of the error probability") {
  Check seen{.draw_key = Key(1)};
  const Claim claim = claim_with([&](const Check& check) {
    seen = check;
    return Report{{finding_of(Verdict::verified)}, 7, "seven"};
  });
  const Key key(test_seed());
  const Ledger own(small_input(), {.confidence = 0.9, .quick = true, .most_trials = 12}, key);
  LedgerEntry entry = own.decide(claim, "mistake");
  CHECK(seen.subjects.size() == 1);
  CHECK(seen.subjects.front().name == "own");
  CHECK(seen.own_input);
  CHECK(seen.draw_key.block(0) == key.child("own.claim").block(0));
  CHECK(seen.alpha == doctest::Approx(0.1 / double(all_claims().size())));
  CHECK(seen.quick);
  CHECK(seen.trials(1000) == 12);
  CHECK(seen.makes("mistake"));
  CHECK(entry.whole.input == kWholeInput);
  CHECK(entry.whole.estimate == 7);
  CHECK(entry.whole.hypotheses == "seven");
  CHECK(std::isnan(entry.whole.confidence));  // nothing was random

  const Ledger usual({}, key);
  CHECK(usual.check_of(claim).subjects.size() > 1);
  CHECK_FALSE(usual.check_of(claim).own_input);
  CHECK(usual.check_of(claim).mutant.empty());
  CHECK(usual.check_of(claim).trials(1000) == 1000);
}

TEST_CASE("Ledger: options outside their ranges are refused") {
  for (const double confidence : {0.0, 1.0, -1.0, 2.0, std::nan("")}) {
    CHECK(contains(refusal([&] { Ledger({.confidence = confidence}, Key(1)); }), "0 < confidence < 1"));
  }
  for (const std::uint64_t trials : {0, 1}) {
    CHECK(contains(refusal([&] { Ledger(small_input(), {.most_trials = trials}, Key(1)); }), "two trials at least"));
  }
}

TEST_CASE("Ledger: no subject, and two subjects of one name, whose findings would be taken for one, are refused") {
  const auto refused = [](const std::vector<Subject>& subjects) {
    return refusal([&] { Ledger(subjects, {}, Key(1)); });
  };
  CHECK(contains(refused({}), "Ledger: one subject at least"));
  CHECK(contains(refused({small_input(), small_input()}), "Ledger: subjects of different names, got name = "));
}

TEST_CASE("Ledger: one token, of which every method is exact, and other numbers of queries than of keys are refused") {
  const arma::mat token(1, 4, arma::fill::ones), two(2, 4, arma::fill::ones);
  const auto refused = [](const arma::mat& q, const arma::mat& k) {
    return refusal([&] { Ledger({"head", croquis::Problem<double>(q, k, k)}, {}, Key(1)); });
  };
  CHECK(refused(token, token) == "verify: head has one token, of which every method is exact; it decides nothing");
  CHECK(refused(two, two) == "nothing was thrown");
  CHECK(refused(two, token) != "nothing was thrown");
}

TEST_CASE("verify: an entry for each claim, the same whichever others are decided, on one's own input") {
  const Key key(test_seed());
  const Claim &first = find_claim("nys.lemma1"), &second = find_claim("lin.jl-product.stated");
  const auto both = verify(small_input(), {.quick = true}, key, {first, second});
  const auto alone = verify(small_input(), {.quick = true}, key, {second});
  REQUIRE(both.size() == 2);
  REQUIRE(alone.size() == 1);
  CHECK(both[0].claim == "nys.lemma1/charitable");
  CHECK(both[0].whole.verdict == Verdict::verified);
  CHECK(std::isnan(both[0].whole.confidence));  // an identity
  CHECK(both[1].whole.verdict == Verdict::refuted);
  CHECK(both[1].whole.confidence == doctest::Approx(1 - 1e-6 / double(all_claims().size())).epsilon(1e-12));
  CHECK(alone[0].whole.estimate == both[1].whole.estimate);
  REQUIRE(alone[0].findings.size() == both[1].findings.size());
  for (std::size_t i = 0; i < alone[0].findings.size(); ++i) {
    const Finding &a = alone[0].findings[i], &b = both[1].findings[i];
    CHECK(a.input == b.input);
    CHECK_FALSE(contains(a.input, "text:sample"));
    CHECK(a.failures == b.failures);
    CHECK(a.estimate == b.estimate);
  }
}

TEST_CASE("ledger: the bound for a million rows, of which 141 are drawn, is a number") {
  const Ledger ledger({.quick = true}, Key(test_seed()));
  const Claim& claim = find_claim("ske.pilot-size/strict");
  const auto findings = decide(claim, ledger.check_of(claim)).findings;
  const auto million = std::find_if(findings.begin(), findings.end(), [](const Finding& f) { return f.n == 1000000U; });
  REQUIRE(million != findings.end());
  // n sqrt(min s / max s) with s = 141 e^2 and about 1, e = 1e-15.
  CHECK(million->estimate == doctest::Approx(1e6 * std::sqrt(141.0) * 1e-15).epsilon(1e-6).scale(0));
  CHECK(million->observed == -million->estimate);
  CHECK(million->bound == -std::sqrt(1.0 / 3));
}

TEST_CASE("rpe.unbiased/other-rows: along a coordinate of x - y (trf) or x + y (prf) the values of sorf are counted") {
  // The first coordinate w of a row of H D_3 H D_2 H D_1 / 4 is a sum of fair signs over the 4 entries of H t / 4, t
  // fair signs. For half of all t they are one 4 and three 0, so that w = +-1; for the others four times +-2, so that w
  // is 0, +-1 or +-2 with probability 3/8, 1/2 and 1/8.
  const Ledger ledger({.quick = true}, Key(1));
  const LedgerEntry entry = ledger.decide(find_claim("rpe.unbiased/other-rows"));
  const auto bias = [&](const std::string& cell) {
    const auto found =
        std::find_if(entry.findings.begin(), entry.findings.end(), [&](const Finding& f) { return f.input == cell; });
    REQUIRE(found != entry.findings.end());
    return found->estimate;
  };
  const auto mean = [](double one, double two) { return 3 * one / 4 + two / 16 + 3.0 / 16; };
  CHECK(bias("trf x sorf") == doctest::Approx(std::exp(0.5) * mean(std::cos(1), std::cos(2)) - 1).epsilon(1e-10));
  CHECK(bias("prf x sorf") == doctest::Approx(std::exp(-0.5) * mean(std::cosh(1), std::cosh(2)) - 1).epsilon(1e-10));
}

TEST_CASE("rpe.prop1: heads of width p of wider tokens can have a bias of rank 2p") {
  const Ledger ledger({.quick = true}, Key(test_seed()));
  int rows = 0;
  for (const Finding& finding : ledger.decide(find_claim("rpe.prop1/strict")).findings) {
    if (!contains(finding.input, "wider tokens")) continue;
    ++rows;
    CHECK(finding.verdict == Verdict::not_applicable);
    CHECK(finding.n == 2 * *finding.p);
    CHECK(contains(finding.hypotheses, "rank(T) = " + std::to_string(*finding.n) + ";"));
    CHECK(finding.estimate < 1e-9);
  }
  CHECK(rows == 2);
}

TEST_CASE("ske.prop1: pilots that miss a column whose weight underflows are drawn again, and counted") {
  const auto decided = [](const arma::mat& tokens, const char* rows) {
    const Ledger ledger({"own", croquis::Problem<double>(tokens, tokens, tokens)}, {}, Key(test_seed()));
    std::vector<Finding> pilots;
    for (const Finding& f : ledger.decide(find_claim("ske.prop1/corrected")).findings) {
      if (contains(f.input, rows)) pilots.push_back(f);
    }
    REQUIRE(pilots.size() == 1);
    return pilots.front();
  };
  // Two tokens at each of two places: rows of B are exactly 0 outside. Four rows miss one of the places with
  // probability 1/8: 26 of the 51 pilots whose median beta is shown do with one below e^-22. For N draws, those of the
  // quantile with them, a seventh as many more are made. Of N >= 700, a twentieth of N or less, or half of N, has
  // probability e^-22 and e^-150 by Chernoff's bound.
  const Finding some = decided({{40, 0}, {40, 0}, {0, 40}, {0, 40}}, " pilot d=4");
  REQUIRE(some.trials.has_value());
  CHECK(*some.trials >= 200);
  const std::string text = "made again = ", of = " of ";
  const auto at = some.hypotheses.find(text);
  REQUIRE(at != std::string::npos);
  const double again = std::stod(some.hypotheses.substr(at + text.size())),
               drawn = std::stod(some.hypotheses.substr(some.hypotheses.find(of, at) + of.size()));
  CHECK(drawn == double(*some.trials) + 500);
  CHECK(again > 0.05 * drawn);
  CHECK(again < 0.5 * drawn);
  CHECK_FALSE(some.verdict == Verdict::refuted);
  // Five places, which three rows never see.
  arma::mat places = 40 * arma::eye(5, 5);
  const Finding none = decided(places, " pilot d=3");
  CHECK(none.verdict == Verdict::not_applicable);
  CHECK(contains(none.hypotheses, "beta = 0"));
}
