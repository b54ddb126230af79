// Heads whose scores or values are so large or so small that exp or a square of them is infinite or 0.
#include <doctest/doctest.h>
#include <croquis/claims/ledger.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/nystrom/segment_means.hpp>

#include "claims/decided.hpp"
#include "claims/normal_heads.hpp"
#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Problem;
using croquis::Verdict;

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
