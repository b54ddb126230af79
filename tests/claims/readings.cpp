// Readings of Linformer, Nystromformer, Skeinformer and NPRF whose verdict rests on a size, a share, a bound or draws:
// against numbers and inputs of their own.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/claims/ledger.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/stats/decision.hpp>

#include <cmath>
#include <random>

#include "claims/decided.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Key;
using croquis::Verdict;

namespace {

Subject gaussian(const std::string& name, arma::uword n) {
  return {name, croquis::gaussian_input(Key(test_seed()).child(name), {.n = n, .p = 8, .norm = 8})};
}

// 64 tokens that attend to themselves, each twice: the 64 segment means are the tokens, and the core is near I.
Subject pairs(const std::string& name) {
  arma::mat x(128, 64, arma::fill::zeros);
  for (arma::uword i = 0; i < 128; ++i) x(i, i / 2) = 12;
  return {name, croquis::Problem<double>(x, x, x)};
}

}  // namespace

TEST_CASE("lin.thm2/strict: no more than k / (1 - eps^2) rows are within eps, which rank k attains") {
  const LedgerEntry entry = decided("lin.thm2/strict");
  REQUIRE(entry.findings.size() == 3);
  // 4/3 of k at eps = 1/2, where the scores are I to a millionth; k = 5 c log n / eps^2.
  const double ranks[] = {125, 22181, 3327107};
  for (std::size_t i = 0; i < 3; ++i) {
    const Finding& finding = entry.findings[i];
    CHECK(double(*finding.d) == doctest::Approx(ranks[i]).epsilon(1e-6));
    CHECK(finding.estimate * double(*finding.n) == doctest::Approx(4 * ranks[i] / 3).epsilon(1e-5));
    CHECK(finding.verdict == Verdict::refuted);
  }
  CHECK(contains(entry.findings[0].hypotheses, "= 166 of 512"));
  // Rank 3 serves 4 rows of I: the projection I - 1 1^T / 4 is 1/2 from each of them.
  const Rational quarter(1, 4);
  const RationalMatrix ones = {{1}, {1}, {1}, {1}}, mean = quarter * (ones * ones.transposed());
  CHECK(mean * mean == mean);
  const RationalMatrix lengths = mean * mean.transposed();
  for (std::size_t i = 0; i < 4; ++i) CHECK(lengths(i, i) == quarter);
}

TEST_CASE("lin.eq9: k is at most n, as in Lemma 1, and no row allows every failure") {
  const LedgerEntry entry = decided("lin.eq9/strict");
  REQUIRE(entry.findings.size() == 3);
  for (const Finding& finding : entry.findings) {
    CAPTURE(finding.input);
    CHECK(*finding.d <= *finding.n);
    // 2 exp(-(eps^2 - eps^3) k / 4) < 1 at eps = 1/2.
    CHECK(double(*finding.d) > 32 * std::log(2.0));
    // A draw fails with probability 1 - 3.2e-5 or more: dozens that do not, which alone could leave the row undecided,
    // have a probability far below 1e-9.
    CHECK(finding.verdict == Verdict::refuted);
  }
}

TEST_CASE("lin.eq26/strict: three tokens have the coefficient 1/h, whatever delta and R are") {
  const double h = 1e-3;
  const Finding finding = decided("lin.eq26/strict").findings.at(1);
  CHECK(contains(finding.input, "h = 1/1000"));
  const arma::vec q{0, std::log1p(h), std::log(2)}, k{1, 0, 0}, v{1, -1, 0};
  const arma::mat a = q * k.t();
  for (const double delta : {1e-6, 0.125}) {
    arma::mat r(4, 3);
    croquis::fill_normal(Key(test_seed()), 0, r.n_elem, r.memptr());
    // (exp(A E^T) F V, exp(A) V), E = delta R, F = e^-delta R.
    const arma::mat rows = arma::join_rows(arma::exp(delta * a * r.t()) * (std::exp(-delta) * r * v), arma::exp(a) * v);
    const arma::mat gamma = rows.row(2) * arma::inv(rows.head_rows(2));
    CHECK(gamma(1) == doctest::Approx(finding.estimate).epsilon(1e-8));
  }
}

TEST_CASE("lin.thm1: the rank of the proof at n = 512, 249.53, is rounded up in every reading") {
  CHECK(*decided("lin.thm1/oblivious").findings.front().d == 250);
  CHECK(*decided("lin.thm1/one-matrix-for-v").findings.front().d == 250);
  CHECK(*decided("lin.eckart-young/strict").findings.front().d == 250);
}

TEST_CASE("lin.spectrum and lin.eckart-young: heads that are too short decide nothing") {
  const LedgerEntry spectrum = decided("lin.spectrum/charitable", {gaussian("short", 100)});
  CHECK(spectrum.whole.verdict == Verdict::not_applicable);
  CHECK(spectrum.findings.front().observed > 0);  // measured all the same
  CHECK(decided("lin.spectrum/charitable", {gaussian("long", 512)}).whole.verdict != Verdict::not_applicable);
  // 5 log n / (eps^2 - eps^3) is 185.
  const LedgerEntry truncated = decided("lin.eckart-young/charitable", {gaussian("short", 100)});
  CHECK(truncated.whole.verdict == Verdict::vacuous);
  CHECK(contains(truncated.findings.front().trivial, "all singular values"));
}

TEST_CASE("nys.landmarks: often is half of the inputs, which are counted") {
  const auto of = [](std::vector<Subject> subjects) { return decided("nys.landmarks/threshold", std::move(subjects)); };
  const LedgerEntry half = of({pairs("a"), gaussian("b", 128)}),
                    third = of({gaussian("a", 128), pairs("b"), gaussian("c", 128)});
  CHECK(half.whole.verdict == Verdict::holds);
  CHECK(contains(half.whole.hypotheses, "on 1 of 2 inputs"));
  CHECK(third.whole.verdict == Verdict::refuted);
  CHECK(contains(third.whole.hypotheses, "on 1 of 3 inputs"));
  CHECK(third.findings.size() == 4);
  CHECK(of({pairs("a")}).whole.verdict == Verdict::holds);
}

TEST_CASE(
    "ske.vmean: one's own inputs are judged, and text is measured with and without a token type; the error is that of "
    "the whole output") {
  const LedgerEntry entry = decided("ske.vmean/threshold");
  CHECK(entry.findings.size() == 7);
  CHECK(entry.whole.verdict == Verdict::inconclusive);
  int of_text = 0;
  double largest = 0;
  for (const Finding& finding : entry.findings) {
    CAPTURE(finding.input);
    CHECK(finding.observed > 0);  // measured all the same
    if (finding.verdict == Verdict::not_applicable) continue;
    ++of_text;
    CHECK(finding.input.starts_with("text"));
    CHECK(finding.verdict == Verdict::inconclusive);
    largest = std::max(largest, finding.observed);
    CHECK((finding.input.ends_with("token-type") ? finding.observed < 0.05 : finding.observed > 0.1));
  }
  CHECK(of_text == 2);
  CHECK(entry.whole.estimate == largest);
  // Scores and norms by dense loops.
  const Subject own = gaussian("own", 100);
  const arma::mat &q = own.problem.Q(), &k = own.problem.K(), &v = own.problem.V();
  arma::mat exact(100, 8, arma::fill::zeros), gap(100, 8);
  for (arma::uword i = 0; i < 100; ++i) {
    double sum = 0;
    for (arma::uword j = 0; j < 100; ++j) {
      const double weight = std::exp(arma::dot(q.row(i), k.row(j)) / std::sqrt(8));
      exact.row(i) += weight * v.row(j);
      sum += weight;
    }
    exact.row(i) /= sum;
    gap.row(i) = exact.row(i) - arma::mean(v, 0);
  }
  const LedgerEntry of_own = decided("ske.vmean/threshold", {own});
  const double expected = arma::norm(gap, 2) / arma::norm(exact, 2);
  CHECK(of_own.whole.estimate == doctest::Approx(expected).epsilon(1e-9));
  CHECK(of_own.whole.verdict == (expected <= 0.1 ? Verdict::holds : Verdict::refuted));
  // Of values with a large common part the mean is nearer: the number is the larger one, wherever it comes.
  const Subject near = {"near", croquis::Problem<double>(q, k, v + 100)};
  CHECK(decided("ske.vmean/threshold", {own, near}).whole.estimate == of_own.whole.estimate);
}

TEST_CASE(
    "ske.jl: every epsilon and delta has a row, and the constant that it needs is nearly that of Chernoff's bound") {
  const LedgerEntry entry = decided("ske.jl/gaussian");
  int rows = 0;
  for (const double epsilon : {0.5, 0.3, 0.1, 0.01}) {
    for (const char* delta : {"0.49", "0.05", "0.001", "1e-09", "1e-100", "1e-300"}) {
      const std::string input = fmt::format("chi^2_d eps={:g} delta={}", epsilon, delta);
      CAPTURE(input);
      for (const Finding& finding : entry.findings) {
        if (finding.input != input) continue;
        ++rows;
        CHECK(finding.verdict == Verdict::verified);
        // d = 2 log(2/delta) / (eps - log(1 + eps)) suffices, and is the right one as delta -> 0.
        const double needed = 5.29 / finding.tightness.hi,
                     chernoff = 2 * epsilon * epsilon / (epsilon - std::log1p(epsilon));
        CHECK(needed < chernoff * (1 + 1e-2));
        if (std::stod(delta) < 1e-99) CHECK(needed > 0.97 * chernoff);
      }
    }
  }
  CHECK(rows == 24);
}

TEST_CASE("ske.unbiased/enumerated: draws of srct too are counted, outcome by outcome") {
  // What is true is refuted with probability 1e-8 / (number of claims), which is below 1e-10.
  const Ledger ledger({.confidence = 1 - 1e-8}, Key(test_seed()));
  const Claim& claim = find_claim("ske.unbiased/enumerated");
  const auto drawn = [&](const char* mutant) {
    const LedgerEntry entry = ledger.decide(claim, mutant);
    CHECK(entry.findings.size() == 22);
    for (const Finding& finding : entry.findings) {
      if (finding.input == "srct drawn") return finding;
    }
    return Finding{};
  };
  const Finding right = drawn("");
  CHECK(right.verdict == Verdict::verified);
  CHECK(right.failures == 0);
  // 16 patterns of signs and 12 pairs of rows; of the transform of length 4 rows 0 and 2 have equal sizes, so that
  // either order of them gives the same 16 matrices.
  CHECK(contains(right.hypotheses, "outcomes = 176;"));
  for (const char* mutant : {"shared-sign", "row-0-lost"}) CHECK(drawn(mutant).verdict == Verdict::refuted);
}

TEST_CASE("ske.unbiased/gaussian: of eight entries and 28 pairs of them each has the same share of the error") {
  const LedgerEntry entry = decided("ske.unbiased/gaussian");
  const double share = (1 - entry.whole.confidence) / 36;
  REQUIRE(entry.findings.size() == 2);
  // Both bounds are those of one test at this share: a distance by the inequality of Dvoretzky, Kiefer and Wolfowitz,
  // and a probability.
  const Finding &entries = entry.findings[0], &pairs = entry.findings[1];
  CHECK(entries.bound == doctest::Approx(std::sqrt(std::log(2 / share) / (2 * double(*entries.trials)))).epsilon(1e-6));
  CHECK(pairs.bound / share == doctest::Approx(-1).epsilon(1e-5));
  CHECK((1 - entries.confidence) / share == doctest::Approx(8).epsilon(1e-5));
  CHECK((1 - pairs.confidence) / share == doctest::Approx(28).epsilon(1e-5));
}

TEST_CASE("tests of a distribution decide nothing by draws that could not have told a sign that is always the same") {
  // What is true is refuted with probability 1e-10 / (number of claims).
  const auto verdict_with = [](const char* id, std::uint64_t trials) {
    const LedgerOptions options{.confidence = 1 - 1e-10, .most_trials = trials};
    return Ledger(options, Key(test_seed())).decide(find_claim(id)).whole.verdict;
  };
  for (const char* id :
       {"ske.unbiased/gaussian", "ske.jl/gaussian", "rpe.lemma2/strict", "rpe.unbiased/gaussian-rows"}) {
    CAPTURE(id);
    CHECK(verdict_with(id, 2) == Verdict::inconclusive);
    CHECK(verdict_with(id, 30) == Verdict::inconclusive);
    CHECK(verdict_with(id, 200) == Verdict::verified);
  }
  // The first entry of every row of these directions has the same sign: its distance is 1/2 at least.
  for (const std::uint64_t trials : {2, 10, 30})
    CHECK(verdict_with("rpe.unbiased/qr-unsigned", trials) == Verdict::inconclusive);
  CHECK(verdict_with("rpe.unbiased/qr-unsigned", 100) == Verdict::refuted);
  const LedgerEntry entry = Ledger({.most_trials = 2}, Key(test_seed())).decide(find_claim("ske.unbiased/gaussian"));
  REQUIRE(entry.findings.size() == 2);
  for (const Finding& finding : entry.findings) {
    CAPTURE(finding.input);
    CHECK(finding.verdict == Verdict::inconclusive);
    CHECK(contains(finding.hypotheses, "draws that would decide = "));
  }
}

TEST_CASE("rpe.thm3.necessity/every-input: the quantile is of a tenth of its 2000 draws, not of the 200 of others") {
  for (const Finding& finding : decided("rpe.thm3.necessity/every-input").findings) {
    CHECK(contains(finding.hypotheses, "draws of the quantile = 200"));
  }
  CHECK(contains(decided("rpe.thm3/corrected").findings[1].hypotheses, "draws of the quantile = 50"));
}

TEST_CASE("ske.fig1: what is closer than the error of the draws is left undecided, and nothing else") {
  int within = 0, beyond = 0, refused = 0;
  for (const char* id : {"ske.fig1/strict", "sky.fig1/strict"}) {
    CAPTURE(id);
    for (const Finding& finding : decided(id).findings) {
      CAPTURE(finding.input);
      if (contains(finding.hypotheses, "refused = ")) {  // as some draws of heavy norms are, whatever the errors
        CHECK(finding.verdict == Verdict::inconclusive);
        CHECK(finding.input == "heavy-norms:2");
        ++refused;
        continue;
      }
      const bool close = std::abs(finding.bound / finding.observed - 1) < finding.power;
      CHECK((finding.verdict == Verdict::inconclusive) == close);
      if (close) CHECK(contains(finding.hypotheses, "; draws that would decide = "));
      ++(close ? within : beyond);
    }
  }
  CHECK(within + beyond + refused == 18);
  CHECK(beyond >= 6);
}

TEST_CASE(
    "rpe.gradient: what is closer than the error of the draws is left undecided, on one head as on the ledger's") {
  int within = 0, beyond = 0;
  for (const char* id : {"rpe.gradient/absolute", "rpe.gradient/relative", "rpe.gradient/explosion",
                         "rpe.gradient/direction", "rpe.gradient/normalised"}) {
    for (const auto& heads : {std::vector<Subject>(), {gaussian("own", 64)}, {gaussian("a", 3), gaussian("b", 8)}}) {
      for (const Finding& finding : decided(id, heads).findings) {
        CAPTURE(id);
        CAPTURE(finding.input);
        CHECK(finding.power > 0);
        const bool close = std::abs(finding.bound - finding.observed) < finding.power * std::abs(finding.observed);
        CHECK((finding.verdict == Verdict::inconclusive) == close);
        CHECK(contains(finding.hypotheses, "; draws that would decide = ") == close);
        ++(close ? within : beyond);
      }
    }
  }
  CHECK(within >= 2);
  CHECK(beyond >= 30);
}

TEST_CASE("rpe.thm3.necessity: the power is a rate of failures so small that the claim of many is refuted") {
  const Ledger ledger({.quick = true}, Key(test_seed()));
  const Claim& claim = find_claim("rpe.thm3.necessity/every-input");
  const Check check = ledger.check_of(claim);
  const LedgerEntry entry = ledger.decide(claim);
  REQUIRE(entry.findings.size() == 2);
  CHECK(entry.findings[0].power == entry.findings[1].power);
  const double rate = entry.findings[0].power;
  CHECK(rate > 0);
  CHECK(rate < 0.1);
  // Coins of that rate: at least 19 of 20 runs show that it is at most a tenth, fewer than 1840 of 2000 with a
  // probability below 1e-8. At 2.5 times the rate most runs do not.
  const auto shown = [&](double p) {
    std::mt19937_64 coins(test_seed());
    int runs = 0;
    for (int run = 0; run < 2000; ++run) {
      const auto look = croquis::decide({.delta = 0.1, .alpha = check.alpha / 2, .max_trials = 400},
                                        [&](std::uint64_t, std::uint64_t count) {
                                          return std::binomial_distribution<std::uint64_t>(count, p)(coins);
                                        });
      runs += look.outcome == croquis::Outcome::holds ? 1 : 0;
    }
    return runs;
  };
  CHECK(shown(rate) > 1840);
  CHECK(shown(2.5 * rate) < 1000);
}
