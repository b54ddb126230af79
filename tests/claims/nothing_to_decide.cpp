// Inputs on which a claim says nothing: too few tokens, ties alone, zeros, underflow, all points as landmarks.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/ledger.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/claims/rank_correlation.hpp>
#include <croquis/claims/vanishing.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/nystrom/segment_means.hpp>
#include <croquis/random/draws.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Key;
using croquis::Problem;
using croquis::vanishes;
using croquis::Verdict;

namespace {

arma::mat normal(arma::uword n, arma::uword p, const char* name) {
  arma::mat x(n, p);
  croquis::fill_normal(Key(test_seed()).child(name), 0, x.n_elem, x.memptr());
  return x;
}

// Normal tokens, queries and keys `size` times as long.
Problem<double> tokens(arma::uword n, double size) {
  return {size * normal(n, 8, "q"), size * normal(n, 8, "k"), normal(n, 8, "v")};
}

Problem<double> with_values(const Problem<double>& problem, double value) {
  arma::mat values(problem.n(), 8);
  return {problem.Q(), problem.K(), values.fill(value)};
}

LedgerEntry decided(const std::string& id, std::vector<Subject> subjects, std::string_view mutant = "") {
  return Ledger(std::move(subjects), {.quick = true}, Key(test_seed())).decide(find_claim(id), mutant);
}

// 12 kinds of tokens, each in a row: attention is all but within a kind alone. Two neighbours are of one kind, and
// every kind has 42 tokens or more.
Problem<double> twelve_kinds() {
  arma::mat rows(512, 12, arma::fill::zeros);
  for (arma::uword i = 0; i < 512; ++i) rows(i, std::min<arma::uword>(i / 42, 11)) = 8;
  return {rows, rows, normal(512, 8, "v")};
}

// Ranks by counting, ties with the mean of theirs.
arma::vec counted_ranks(const arma::vec& x) {
  arma::vec ranks(x.n_elem);
  for (arma::uword i = 0; i < x.n_elem; ++i) {
    const double below = arma::accu(x < x(i) - 1e-9), tied = arma::accu(arma::abs(x - x(i)) <= 1e-9);
    ranks(i) = below + (tied - 1) / 2;
  }
  return ranks;
}

void check_nothing_to_compare(const std::string& id, const Problem<double>& problem) {
  CAPTURE(id);
  const LedgerEntry entry = decided(id, {{"own", problem}});
  CHECK_MESSAGE(entry.whole.verdict == Verdict::not_applicable, entry.whole.hypotheses);
  CHECK_FALSE(entry.findings.empty());
  for (const Finding& finding : entry.findings) {
    CHECK(finding.verdict == Verdict::not_applicable);
    CHECK(contains(finding.hypotheses, "nothing to compare with"));
  }
}

}  // namespace

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

TEST_CASE("rank_correlation: ties have the mean of their ranks, also up to rounding; without an order there is none") {
  // Ranks 1/2, 1/2, 2 and 0, 1, 2: covariance 3/2 over sqrt(3/2 2).
  CHECK(rank_correlation({1, 1, 2}, {1, 2, 3}, 0) == doctest::Approx(std::sqrt(0.75)).epsilon(1e-12));
  CHECK(rank_correlation({1, 1 + 1e-15, 2}, {3, 2, 5}, 1e-14) == doctest::Approx(std::sqrt(0.75)).epsilon(1e-12));
  CHECK(rank_correlation({3, 1, 2}, {5, -1, 0}, 0) == doctest::Approx(1));
  CHECK(std::isnan(rank_correlation({1, 1, 1}, {1, 2, 3}, 0)));
  CHECK(std::isnan(rank_correlation({1, 2, 3}, {1, 1, 1 + 1e-15}, 1e-14)));
}

TEST_CASE("ske.informer-order/heads: equal queries are tied") {
  Problem<double> given = tokens(512, 1);
  arma::mat q = given.Q();
  for (arma::uword i = 32; i < 512; ++i) q.row(i) = q.row(0);
  const Problem<double> repeated(q, given.K(), given.V());
  const arma::mat logits = q * given.K().t() / std::sqrt(8);
  const arma::mat a = arma::exp(logits);
  const arma::vec p = arma::sqrt(arma::sum(arma::square(a), 1)) / arma::sum(a, 1),
                  m = arma::log(arma::sum(a, 1)) - arma::mean(logits, 1);
  const double expected = arma::as_scalar(arma::cor(counted_ranks(p), counted_ranks(m)));
  CHECK(decided("ske.informer-order/heads", {{"own", repeated}}).whole.estimate ==
        doctest::Approx(expected).epsilon(1e-9));

  q.each_row() = arma::rowvec(q.row(0));
  const LedgerEntry same = decided("ske.informer-order/heads", {{"own", Problem<double>(q, given.K(), given.V())}});
  CHECK(same.whole.verdict == Verdict::not_applicable);
  CHECK(contains(same.findings.front().hypotheses, "no order"));
}

TEST_CASE("lin.spectrum/layers: layers of the same share have no order") {
  std::vector<Subject> heads;
  for (std::uint64_t layer = 0; layer < 4; ++layer) {
    heads.push_back({fmt::format("layer {}", layer), tokens(64, 1), layer});
  }
  CHECK(decided("lin.spectrum/layers", heads).whole.verdict == Verdict::not_applicable);
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

TEST_CASE("nys.six-iterations/output: rounding does not refute, nor do landmarks that are all points") {
  // Of long tokens the core is singular values 1 to rounding; of tokens that are 0 it has rank 1 and both are exact.
  for (const double size : {100.0, 0.0}) {
    CAPTURE(size);
    const LedgerEntry all = decided("nys.six-iterations/output", {{"own", tokens(64, size)}});
    CHECK_FALSE(all.whole.verdict == Verdict::refuted);
    CHECK(all.findings.back().verdict == Verdict::vacuous);
    CHECK(contains(all.findings.back().trivial, "all points"));
  }
  for (const Finding& finding : decided("nys.six-iterations/output", {{"own", tokens(128, 0)}}).findings) {
    CHECK(finding.verdict == Verdict::holds);
    CHECK(finding.observed < 1e-12);
    CHECK(finding.bound < 1e-6);
  }
  CHECK(decided("nys.six-iterations/output", {{"own", tokens(20, 1)}}).whole.verdict == Verdict::vacuous);
}

TEST_CASE("nys.lemma2/all-points: scores of thousands have the rounding of such scores, and mistakes are still seen") {
  const Problem<double> near = tokens(96, 1);
  const arma::vec angles = 3 * normal(96, 1, "angles");
  const arma::mat circle = arma::join_rows(arma::cos(angles), arma::sin(angles));
  arma::mat kinds = 200 * arma::normalise(normal(6, 8, "kinds"), 2, 1), repeated(96, 8), far = near.K();
  for (arma::uword i = 0; i < 96; ++i) repeated.row(i) = kinds.row(i % 6);
  far.col(0) += 1e4;  // which no row of weights depends on
  const Subject inputs[] = {{"circle:100", {100 * circle, 100 * circle, near.V()}},
                            {"circle:200", {200 * circle, 200 * circle, near.V()}},
                            {"kinds", {repeated, repeated, near.V()}},
                            {"far keys", {near.Q(), far, near.V()}}};
  for (const Subject& input : inputs) {
    CAPTURE(input.name);
    const LedgerEntry entry = decided("nys.lemma2/all-points", {input});
    CHECK(entry.whole.verdict == Verdict::verified);
    CHECK(entry.findings.back().power < 1e-8);
    // F, A and G are one matrix, as the bound has it: no rounding but that of B against it.
    const arma::mat landmarks = croquis::segment_means(input.problem.Q(), 96),
                    keys = croquis::segment_means(input.problem.K(), 96);
    const arma::mat core = croquis::softmax_transposed(landmarks, keys);
    CHECK(arma::approx_equal(core, croquis::softmax_transposed(input.problem.Q(), keys), "absdiff", 0));
    CHECK(arma::approx_equal(core, croquis::softmax_transposed(landmarks, input.problem.K()), "absdiff", 0));
  }
  CHECK(decided("nys.lemma2/all-points", {inputs[3]}, "one-landmark-less").whole.verdict == Verdict::refuted);
  // Scores of 1e16 have no digit: the matrix 0 is within the bound as well.
  const LedgerEntry lost = decided("nys.lemma2/all-points", {{"own", tokens(64, 1e8)}});
  CHECK(lost.whole.verdict == Verdict::vacuous);
  CHECK(lost.findings.back().trivial == "the matrix 0");
}

TEST_CASE("ske.alg1/identity: scores above 709, of which exp is infinite, are decided") {
  arma::mat far = tokens(64, 1).K();
  far.col(0) += 1e4;
  for (const Finding& finding :
       decided("ske.alg1/identity", {{"far keys", {tokens(64, 1).Q(), far, tokens(64, 1).V()}}}).findings) {
    CHECK(finding.verdict == Verdict::verified);
    CHECK(finding.power < 1e-6);
  }
}

TEST_CASE("sky.conditioning, sky.thm2: scores C that underflow are not judged, and do not count") {
  const Subject far = {"far", tokens(64, 100)}, near = {"near", tokens(64, 1)};
  for (const char* id : {"sky.thm2/strict", "sky.thm2/charitable", "sky.conditioning/charitable"}) {
    check_nothing_to_compare(id, far.problem);
    CAPTURE(id);
    const LedgerEntry both = decided(id, {far, near});
    CHECK(both.findings[0].verdict == Verdict::not_applicable);
    CHECK(both.findings[1].verdict != Verdict::not_applicable);
  }
  const LedgerEntry both = decided("sky.conditioning/charitable", {far, near});
  CHECK(contains(both.whole.hypotheses, " of 1 inputs"));
  CHECK(both.whole.estimate == decided("sky.conditioning/charitable", {near}).whole.estimate);
}

TEST_CASE("relative errors of an output or of derivatives that are 0 or rounding compare with nothing") {
  const char* const outputs[] = {"ske.fig1/strict",           "ske.fig1/charitable",         "ske.vmean/threshold",
                                 "nys.six-iterations/output", "lin.eckart-young/charitable", "lin.thm2/fixed-width"};
  const char* const derivatives[] = {"rpe.gradient/absolute", "rpe.gradient/relative", "rpe.gradient/explosion",
                                     "rpe.gradient/direction", "rpe.gradient/normalised"};
  const Problem<double> given = tokens(128, 1);
  for (const char* id : outputs) check_nothing_to_compare(id, with_values(given, 0));
  for (const char* id : derivatives) {
    check_nothing_to_compare(id, with_values(given, 0));
    check_nothing_to_compare(id, with_values(given, 1));
    check_nothing_to_compare(id, tokens(128, 0));
    CHECK_FALSE(decided(id, {{"own", given}}).whole.verdict == Verdict::not_applicable);
  }
  for (const char* id : {"sky.fig1/strict", "nys.landmarks/threshold"}) {
    check_nothing_to_compare(id, with_values(tokens(512, 1), 0));
  }
}

TEST_CASE("errors that are rounding alone compare with nothing: flat attention, equal values") {
  const Problem<double> given = tokens(520, 1);
  // Queries of 0 alone: flat attention as well, of which skyformer-softmax is not exact with some of the keys.
  const Problem<double> no_queries(0 * given.Q(), 3 * given.K(), given.V());
  for (const char* id : {"ske.fig1/strict", "ske.fig1/charitable", "sky.fig1/strict", "sky.fig1/charitable"}) {
    for (const Problem<double>& exact : {tokens(520, 0), no_queries, with_values(given, 1)}) {
      check_nothing_to_compare(id, exact);
      CHECK(std::isnan(decided(id, {{"own", exact}}).whole.estimate));
      const LedgerEntry both = decided(id, {{"exact", exact}, {"given", given}});
      CHECK(both.whole.verdict == decided(id, {{"given", given}}).whole.verdict);
    }
    CHECK_FALSE(decided(id, {{"own", given}}).whole.verdict == Verdict::not_applicable);
  }
  CHECK(contains(decided("ske.fig1/strict", {{"own", tokens(520, 0)}}).whole.hypotheses, "of 0 inputs and d"));
  // An error of 0 is below errors that are none.
  CHECK(decided("ske.fig1/strict", {{"own", given}}, "exact").whole.verdict == Verdict::holds);
}

// Of 12 kinds of points skyformer-softmax is exact where its landmarks have all of them, and Nystromformer where
// neighbours have one mean: at 256, and not at 16. A kind has 84 of the 1024 points: a draw of 256 without replacement
// misses one with probability 12 C(940, 256) / C(1024, 256) < 12 0.741^84 = 1.4e-10, one of four draws with 6e-10.
TEST_CASE("sky.fig1/strict: two gains that end at rounding alone are not compared") {
  check_nothing_to_compare("sky.fig1/strict", twelve_kinds());
}

// u (2n + 4 (p + 2)) of the longest value for a row of flat attention, twice: of the method, and of the exact output.
TEST_CASE("is_rounding: up to twice what the output is off by") {
  const Problem<double> flat = tokens(128, 0);
  double longest = 0;
  for (arma::uword j = 0; j < 128; ++j) longest = std::max(longest, arma::norm(flat.V().row(j)));
  const double bound = 2 * std::sqrt(128.0) * 0x1p-53 * (2 * 128 + 4 * (8 + 2)) * longest;
  CHECK(is_rounding(0.999 * bound, flat));
  CHECK_FALSE(is_rounding(1.001 * bound, flat));
  CHECK_FALSE(is_rounding(std::numeric_limits<double>::quiet_NaN(), flat));
}

TEST_CASE("nys.landmarks: errors that are rounding alone do not count, those of one side do") {
  const Problem<double> exact = tokens(520, 0);
  check_nothing_to_compare("nys.landmarks/threshold", exact);
  const LedgerEntry both = decided("nys.landmarks/threshold", {{"exact", exact}, {"sharp", tokens(128, 5)}});
  CHECK(both.whole.verdict == Verdict::refuted);
  CHECK(contains(both.whole.hypotheses, "on 0 of 1 inputs"));
  // The mean of equal values is exact, and 64 landmarks are not.
  const LedgerEntry bad = decided("nys.landmarks/threshold", {{"own", with_values(tokens(128, 5), 1)}});
  CHECK(bad.findings.front().observed > 0.1);
  CHECK(bad.whole.verdict == Verdict::refuted);
  CHECK(contains(bad.whole.hypotheses, "on 0 of 1 inputs"));
}

TEST_CASE("fewer tokens than a claim is about: each size has a row that says so, and there is no number") {
  const std::pair<const char*, arma::uword> cases[] = {
      {"nys.six-iterations/norm", 7}, {"nys.six-iterations/penrose-3-4", 7},
      {"sky.core/interlacing", 2},    {"lin.thm2/fixed-width", 2},
      {"ske.alg1/identity", 3},       {"ske.fig1/strict", 7},
      {"ske.fig1/charitable", 256}};
  for (const auto& [id, n] : cases) {
    CAPTURE(id);
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

TEST_CASE("rpe.toeplitz, rpe.alg1: values of 0 are no breakdown") {
  CHECK(part_of_allowed(0, 0) == 0);
  CHECK(part_of_allowed(1, 4) == 0.25);
  CHECK(std::isinf(part_of_allowed(1, 0)));
  CHECK(std::isnan(part_of_allowed(std::numeric_limits<double>::quiet_NaN(), 0)));
  CHECK(std::isnan(part_of_allowed(0, std::numeric_limits<double>::quiet_NaN())));
  const Problem<double> given = tokens(64, 1), zero = with_values(given, 0);
  CHECK(decided("rpe.toeplitz/norm-wise", {{"own", zero}}).whole.verdict == Verdict::verified);
  check_nothing_to_compare("rpe.alg1/charitable", zero);
  CHECK(std::isnan(decided("rpe.alg1/charitable", {{"own", zero}}).whole.estimate));
  arma::mat values = given.V();
  values.col(0).zeros();
  CHECK(decided("rpe.alg1/charitable", {{"own", {given.Q(), given.K(), values}}}).whole.verdict == Verdict::verified);
}

TEST_CASE("vanishes: flat attention of values whose mean is 0, and of no others") {
  const Problem<double> flat = tokens(128, 0);
  arma::mat centred = flat.V();
  centred.each_row() -= arma::mean(flat.V(), 0);
  const auto output = [](const arma::mat& v) -> arma::mat { return arma::repmat(arma::mean(v, 0), 128, 1); };
  CHECK(vanishes(output(centred), {flat.Q(), flat.K(), centred}));
  centred += 1e-10;
  CHECK_FALSE(vanishes(output(centred), {flat.Q(), flat.K(), centred}));
}

TEST_CASE("sky.thm2/charitable: its worst case has fewer points than landmarks are asked for") {
  const auto findings = Ledger({.quick = true}, Key(test_seed())).decide(find_claim("sky.thm2/charitable")).findings;
  const auto worst = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& f) { return f.input == "worst case of sky.thm2"; });
  REQUIRE(worst != findings.end());
  CHECK(worst->verdict == Verdict::vacuous);
  CHECK(contains(worst->trivial, "all points"));
}

TEST_CASE("rpe.gradient: a head whose derivatives have no digits has rows of its own, and the others count") {
  const Subject near = {"near", tokens(64, 1)},
                tiny = {"tiny", {near.problem.Q(), near.problem.K(), 1e-170 * near.problem.V()}};
  for (const char* id : {"rpe.gradient/absolute", "rpe.gradient/relative", "rpe.gradient/explosion",
                         "rpe.gradient/direction", "rpe.gradient/normalised"}) {
    CAPTURE(id);
    const LedgerEntry both = decided(id, {tiny, near}), alone = decided(id, {near});
    int undecided = 0;
    std::vector<double> of_near;
    for (const Finding& finding : both.findings) {
      if (contains(finding.input, "near ")) {
        of_near.push_back(finding.estimate);
        continue;
      }
      ++undecided;
      CHECK(finding.verdict == Verdict::inconclusive);
      CHECK(contains(finding.hypotheses, "not finite"));
      CHECK(contains(finding.hypotheses, "would decide"));
    }
    CHECK(undecided == 2);  // at two numbers of features
    REQUIRE(of_near.size() == alone.findings.size());
    for (std::size_t i = 0; i < of_near.size(); ++i) CHECK(of_near[i] == alone.findings[i].estimate);
    CHECK(both.whole.estimate == alone.whole.estimate);
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

// Powers of two change no digit.
TEST_CASE("rpe.toeplitz: rows in float do not depend on the size of the values") {
  const Problem<double> given = tokens(64, 1);
  const auto expected = decided("rpe.toeplitz/norm-wise", {{"own", given}}).findings;
  for (const double factor : {0x1p400, 0x1p-400}) {
    const LedgerEntry entry = decided("rpe.toeplitz/norm-wise", {{"own", {given.Q(), given.K(), factor * given.V()}}});
    CHECK(entry.whole.verdict == Verdict::verified);
    REQUIRE(entry.findings.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(entry.findings[i].observed == expected[i].observed);
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
