// What decides some readings of Skyformer, and on which heads they are decided at all.
#include <doctest/doctest.h>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/attention/v_mean.hpp>
#include <croquis/claims/ledger.hpp>
#include <croquis/claims/skyformer/constants.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/stats/chernoff.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "claims/decided.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Key;
using croquis::Problem;
using croquis::Verdict;

namespace {

Problem<double> gaussian_head(arma::uword n, arma::uword p, double norm) {
  return croquis::gaussian_input(Key(test_seed()), {.n = n, .p = p, .norm = norm});
}

}  // namespace

TEST_CASE("sky.fig1: heads of fewer than twice 256 tokens are not judged, those of 512 are, by the figure's methods") {
  const LedgerEntry entry =
      decided("sky.fig1/charitable", {{"short", gaussian_head(511, 4, 2)}, {"long", gaussian_head(512, 4, 2)}});
  REQUIRE(entry.findings.size() == 2);
  CHECK(entry.findings[0].verdict == Verdict::not_applicable);
  CHECK(entry.findings[1].verdict != Verdict::not_applicable);
  CHECK(contains(entry.findings[1].hypotheses, "uncapped performer = "));
  CHECK_FALSE(contains(entry.findings[1].hypotheses, "linformer"));
  CHECK(entry.whole.estimate > 0);

  const LedgerEntry alone = decided("sky.fig1/charitable", {{"short", gaussian_head(511, 4, 2)}});
  CHECK(alone.whole.verdict == Verdict::not_applicable);
  CHECK(std::isnan(alone.whole.estimate));
}

TEST_CASE("sky.fig1: the power is by the errors of the means that enter the gains, not of one that is capped") {
  const Problem<double> problem = croquis::gaussian_input(Key(3), {.n = 512, .p = 16, .norm = 8});
  const Ledger ledger({{"capped", problem}}, {.quick = true}, Key(4));
  const Claim& claim = find_claim("sky.fig1/charitable");
  const Key draws = ledger.check_of(claim).draw_key.child("capped");
  const arma::mat exact = croquis::exact_attention(problem, croquis::Target::softmax).output;
  const double mean = arma::norm(arma::mat(croquis::v_mean(problem).output - exact), 2);
  double own = 0, best = 0, own_error = 0, best_error = 0;
  for (const std::string name : {"skyformer-softmax", "nystromformer", "performer", "informer"}) {
    const auto method = croquis::prepare(croquis::find_method<double>(name), problem);
    const auto errors = [&](arma::uword d) {
      arma::vec found(8);
      for (arma::uword t = 0; t < 8; ++t) {
        found(t) = arma::norm(arma::mat(method.approximate(d, draws.child(name).child(d).child(t)).output - exact), 2);
      }
      return found;
    };
    const arma::vec few = errors(16), many = errors(256);
    const auto relative = [](const arma::vec& x) { return arma::stddev(x) / std::sqrt(8) / arma::mean(x); };
    const bool capped = arma::mean(few) > mean;
    const double gain = std::min(arma::mean(few), mean) / arma::mean(many);
    const double error = capped ? relative(many) : std::hypot(relative(few), relative(many));
    if (name == "skyformer-softmax") {
      REQUIRE(capped);
      own = gain;
      own_error = error;
    } else if (gain > best) {
      best = gain;
      best_error = error;
    }
  }
  const Finding finding = ledger.decide(claim).findings.front();
  CHECK(finding.slack() == doctest::Approx(own / (1.5 * best)));
  CHECK(finding.power == doctest::Approx(1.6449 * std::hypot(own_error, best_error)));
}

TEST_CASE("sky.core/inherits: the number is that of the rows which are decided, and equal is not above") {
  // All tokens the same: both cores are singular.
  const arma::mat same(64, 4, arma::fill::ones);
  const Subject equal = {"equal", Problem<double>(same, same, same)}, other = {"other", gaussian_head(64, 4, 6)};
  const LedgerEntry both = decided("sky.core/inherits", {equal, other}), alone = decided("sky.core/inherits", {other});
  REQUIRE(both.findings.size() == 2);
  CHECK(both.findings[0].verdict == Verdict::not_applicable);
  CHECK(both.findings[1].verdict != Verdict::not_applicable);
  CHECK(both.whole.estimate == alone.whole.estimate);
  CHECK(both.whole.estimate != 1);
  CHECK(std::isnan(decided("sky.core/inherits", {equal}).whole.estimate));

  // One token has a query and a key, of which one is drawn: both cores are numbers, of condition 1.
  const Claim& claim = find_claim("sky.core/inherits");
  Check check = Ledger(other, {.quick = true}, Key(test_seed())).check_of(claim);
  check.subjects = {{"token", gaussian_head(1, 4, 2)}};  // which a ledger would refuse
  const Finding token = decide(claim, check).findings.front();
  CHECK(token.observed == 1);
  CHECK(token.bound == 1);
  CHECK(token.verdict == Verdict::refuted);
}

TEST_CASE("sky.core/inherits: tokens of one length, whose cores are multiples of each other, decide nothing") {
  const Problem<double> head = gaussian_head(64, 4, 6);
  const Problem<double> spheres(3 * arma::normalise(head.Q(), 2, 1), 3 * arma::normalise(head.K(), 2, 1), head.V());
  const LedgerEntry entry = decided("sky.core/inherits", {{"spheres", spheres}, {"other", head}});
  const Finding& same = entry.findings.front();
  CHECK(same.observed == doctest::Approx(same.bound));
  CHECK(same.verdict == Verdict::inconclusive);
  CHECK(contains(same.hypotheses, "; draws that would decide = more than 1e9"));
  CHECK(entry.findings.back().verdict == Verdict::holds);
}

TEST_CASE("sky.lemmaC2: a row that asks for all columns is vacuous, and one asks for fewer") {
  const LedgerEntry entry = Ledger({.quick = true}, Key(test_seed())).decide(find_claim("sky.lemmaC2/strict"));
  int fewer = 0;
  for (const Finding& finding : entry.findings) {
    CAPTURE(finding.input);
    REQUIRE((finding.d && finding.n));
    fewer += *finding.d < *finding.n ? 1 : 0;
    CHECK(finding.verdict == (*finding.d < *finding.n ? Verdict::verified : Verdict::vacuous));
    CHECK(finding.trivial == (*finding.d < *finding.n ? "" : "all columns, d >= n"));
  }
  CHECK(fewer == 1);
}

TEST_CASE("sky.lemmaC2: with half of the constant a column of the identity is drawn too often, as in plain draws") {
  const Ledger ledger({.quick = true}, Key(test_seed()));
  const Finding row = ledger.decide(find_claim("sky.lemmaC2/strict"), "half-constant").findings.back();
  REQUIRE((row.d && row.n));
  CHECK(double(*row.d) == std::ceil(14.0 / 3 * 1024 * std::log(20480.0)));
  CHECK(row.verdict == Verdict::refuted);
  std::mt19937_64 coins(1);
  std::uniform_int_distribution<std::size_t> column(0, *row.n - 1);
  int failures = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> counts(*row.n);
    for (arma::uword k = 0; k < *row.d; ++k) ++counts[column(coins)];
    failures += *std::max_element(counts.begin(), counts.end()) > 1.5 * double(*row.d) / double(*row.n) ? 1 : 0;
  }
  CHECK(failures / 200.0 > row.observed - 4 * std::sqrt(0.25 / 200));  // a lower bound, within four deviations
}

TEST_CASE("sky.thm2/strict: what it asks for, by a matrix that is stored, and never less than T9") {
  const arma::uword n = 20, points = 2 * n;
  const Problem<double> problem = gaussian_head(n, 2, 1);
  const arma::mat x = arma::join_cols(problem.Q(), problem.K()) / std::pow(2, 0.25);
  arma::mat m(points, points);
  for (arma::uword i = 0; i < points; ++i) {
    for (arma::uword j = 0; j < points; ++j) m(i, j) = std::exp(-std::pow(arma::norm(x.row(i) - x.row(j)), 2) / 2);
  }
  const double lambda = 0.5 * arma::norm(m.submat(0, n, n - 1, points - 1), 2);
  const arma::vec leverage = arma::diagvec(m * arma::inv(arma::mat(m + lambda * arma::eye(points, points))));
  const double asked = 33 * double(points) * leverage.max() * std::log(double(n) / 0.1);
  const Finding strict = decided("sky.thm2/strict", {{"own", problem}}).findings.front(),
                t9 = decided("sky.thm2/charitable", {{"own", problem}}).findings.front();
  CHECK(std::abs(double(*strict.d) - asked) <= 1 + 1e-3 * asked);
  const double asked_by_t9 = 6.52 * (double(points) * leverage.max() + 1) * std::log(2 * double(n) / 0.1);
  CHECK(std::abs(double(*t9.d) - asked_by_t9) <= 1 + 1e-3 * asked_by_t9);
  CHECK(*strict.d >= *t9.d);

  // Narrow clouds, which a constant matrix approximates, whatever n is.
  for (const arma::uword tokens : {128, 600}) {
    const Problem<double> narrow = gaussian_head(tokens, 2, 0.5);
    arma::mat scores(tokens, tokens);
    for (arma::uword i = 0; i < tokens; ++i) {
      for (arma::uword j = 0; j < tokens; ++j) {
        scores(i, j) = std::exp(-std::pow(arma::norm(narrow.Q().row(i) - narrow.K().row(j)), 2) / 2 / std::sqrt(2));
      }
    }
    const arma::mat centred = scores - arma::accu(scores) / double(scores.n_elem);
    REQUIRE(arma::norm(centred, 2) < 0.5 * arma::norm(scores, 2));
    const Finding finding = decided("sky.thm2/charitable", {{"own", narrow}}).findings.front();
    CHECK(finding.verdict == Verdict::vacuous);
    CHECK(contains(finding.trivial, "mean(C) 1 1^T"));
  }

  // 2 / (1 - log 2) to two digits, upwards.
  CHECK(croquis::kHalfOfMean == std::ceil(100 * 2 / (1 - std::log(2))) / 100);
  // Where 2n max l_i and n / delta are as small as they can be, 33 is the least whole number.
  const double least = croquis::kHalfOfMean * (2.0 / 3 + 1) * std::log(4) / (2.0 / 3 * std::log(2));
  CHECK(kPrintedConstant == std::ceil(least));
}

TEST_CASE("sky.lemmaC1: the t of a row is where the lemma's bound is the probability of the row") {
  int seen = 0;
  for (const Finding& row : decided("sky.lemmaC1/strict").findings) {
    CAPTURE(row.input);
    const bool one = row.input.starts_with("diagonal-signs size = 1 tail"),
               many = row.input.starts_with("diagonal-signs size = 64 tail"),
               matrix = row.input.starts_with("sign-matrix size = 24 tail");
    if (!one && !many && !matrix) continue;
    ++seen;
    const double size = one ? 1 : many ? 64 : 24, variance = matrix ? 23 : 10, t = row.bound;
    const double bound = 2 * size * std::exp(-t * t / 2 / (variance + t / 3));
    CHECK(bound == doctest::Approx(std::stod(row.input.substr(row.input.rfind(' ')))));
  }
  CHECK(seen == 9);
}

TEST_CASE(
    "sky.dstat-growth: d_stat and its bound by a matrix that is stored; of equal tokens d_stat is 2 / (2 + eps)") {
  const arma::uword n = 24;
  const Problem<double> problem = gaussian_head(n, 3, 6);
  const arma::mat x = arma::join_cols(problem.Q(), problem.K()) / std::pow(3, 0.25);
  arma::mat m(2 * n, 2 * n);
  for (arma::uword i = 0; i < 2 * n; ++i) {
    for (arma::uword j = 0; j < 2 * n; ++j) m(i, j) = std::exp(-std::pow(arma::norm(x.row(i) - x.row(j)), 2) / 2);
  }
  const double norm = arma::norm(m.submat(0, n, n - 1, 2 * n - 1), 2);
  const Finding row = decided("sky.dstat-growth/charitable", {{"own", problem}}).findings.front();
  CHECK(row.bound == doctest::Approx(2 * double(n) / (0.1 * norm)));
  CHECK(row.observed ==
        doctest::Approx(arma::trace(m * arma::inv(arma::mat(m + 0.1 * norm * arma::eye(2 * n, 2 * n))))));
  const arma::mat same(n, 3, arma::fill::ones);
  const Finding equal = decided("sky.dstat-growth/charitable", {{"same", {same, same, same}}}).findings.front();
  CHECK(equal.bound == doctest::Approx(20));
  CHECK(equal.observed == doctest::Approx(2 / 2.1));
}

TEST_CASE("sky.lemma3/charitable: equal landmarks attain the lower end") {
  const arma::mat same(24, 3, arma::fill::ones);
  const LedgerEntry entry = decided("sky.lemma3/charitable", {{"same", Problem<double>(same, same, same)}});
  CHECK(entry.whole.estimate == doctest::Approx(1).epsilon(1e-9));
  CHECK(entry.whole.verdict == Verdict::verified);
}
