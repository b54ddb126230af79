// Outputs and errors that are 0 or rounding alone, which nothing is relative to.
#include <doctest/doctest.h>
#include <croquis/claims/ledger.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/measure/vanishing.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "claims/decided.hpp"
#include "claims/normal_heads.hpp"
#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Problem;
using croquis::vanishes;
using croquis::Verdict;

namespace {

// 12 kinds of tokens, each in a row: attention is all but within a kind alone. Two neighbours are of one kind, and
// every kind has 42 tokens or more.
Problem<double> twelve_kinds() {
  arma::mat rows(512, 12, arma::fill::zeros);
  for (arma::uword i = 0; i < 512; ++i) rows(i, std::min<arma::uword>(i / 42, 11)) = 8;
  return {rows, rows, normal(512, 8, "v")};
}

}  // namespace

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
