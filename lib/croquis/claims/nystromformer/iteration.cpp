// What the iteration does to a matrix, in exact arithmetic and in floating point: nys.lemma1, nys.start, nys.rounding.
#include <fmt/format.h>

#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nystromformer/checks.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/linalg/iterative_inverse.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/random/draws.hpp>
#include <utility>

namespace croquis::claims {
namespace {

// Z (13 I - A Z (15 I - A Z (7 I - A Z))) / 4.
RationalMatrix step(const Check& check, const RationalMatrix& a, const RationalMatrix& z) {
  const RationalMatrix one = RationalMatrix::identity(a.rows()), az = a * z;
  const Rational second = check.makes("coefficient-14") ? 14 : 15;
  return Rational(1, 4) * (z * (Rational(13) * one - az * (second * one - az * (Rational(7) * one - az))));
}

double largest_entry(const RationalMatrix& m) {
  double largest = 0;
  for (std::size_t i = 0; i < m.rows(); ++i) {
    for (std::size_t j = 0; j < m.cols(); ++j) {
      largest = std::max(largest, std::abs(static_cast<double>(m(i, j))));
    }
  }
  return largest;
}

// A of 16 columns and rank 5, with singular values 1 ... 1/16.
arma::mat singular_matrix(const Key& key) {
  arma::mat left(16, 5), right(16, 5), q, r;
  fill_normal(key.child("left"), 0, left.n_elem, left.memptr());
  fill_normal(key.child("right"), 0, right.n_elem, right.memptr());
  arma::qr_econ(q, r, left);
  left = q;
  arma::qr_econ(q, r, right);
  return left * arma::diagmat(arma::exp2(-arma::linspace(0, 4, 5))) * q.t();
}

}  // namespace

Report check_lemma1_strict(const Check& check) {
  const auto steps = static_cast<int>(check.value("steps"));
  const Rational half(1, 2);
  const RationalMatrix a = {{half, half}, {half, half}}, inverse = pseudo_inverse(a), null = {{1}, {-1}};
  // The start that the lemma allows, or one in the range of A^T, which it need not be.
  RationalMatrix z = check.makes("start-in-range") ? a.transposed() : RationalMatrix::identity(2);
  const bool allowed = a * inverse == a * z;  // ||A A^+ - A Z_0|| = 0
  for (int t = 0; t < steps; ++t) z = step(check, a, z);
  Finding finding =
      decide_exactly("A = 1/2 (1, 1; 1, 1), Z_0 = I", z == inverse, largest_entry((z - inverse) * null), 0);
  if (!allowed) finding.verdict = Verdict::not_applicable;
  finding.hypotheses = fmt::format("||A A^+ - A Z_0|| = {}; steps = {}", allowed ? 0 : 1, steps);
  Report report;
  report.number = finding.observed;
  report.sentence = "||Z_6 - A^+|| for A = 1/2 (1, 1; 1, 1), Z_0 = I, where ||A A^+ - A Z_0|| = 0: it is (13/4)^6";
  report.findings = {std::move(finding)};
  return report;
}

Report check_start_strict(const Check& check) {
  const Rational half(1, 2);
  RationalMatrix a = {{half, half}, {half, half}};
  if (check.makes("non-singular")) a = {{Rational(2, 3), Rational(1, 3)}, {Rational(1, 3), Rational(2, 3)}};
  // ||A||_1 = ||A||_inf = 1: Z_0 = A^T. The norm is 1 when I - A Z_0 fixes (1, -1).
  const RationalMatrix residual = RationalMatrix::identity(2) - a * a.transposed(), v = {{1}, {-1}};
  const bool fixes = residual * v == v;
  Finding finding = decide_exactly("A = 1/2 (1, 1; 1, 1)", !fixes, fixes ? 1 : largest_entry(residual * v), 1);
  finding.hypotheses = "I - A Z_0 maps (1, -1) to itself = " + std::string(fixes ? "yes" : "no");
  Report report;
  report.number = finding.observed;
  report.sentence = "||I - A Z_0|| for the row-stochastic A = 1/2 (1, 1; 1, 1): not below 1";
  report.findings = {std::move(finding)};
  return report;
}

Report check_rounding(const Check& check) {
  const double allowed = check.value("relative error");
  const auto steps = static_cast<int>(check.value("steps"));
  Report report;
  arma::mat a = singular_matrix(Key(check.count("seed")).child("nys.rounding"));
  if (check.makes("non-singular")) a += arma::eye(16, 16);
  const arma::mat inverse = arma::pinv(a, 1e-10);
  double best = std::numeric_limits<double>::infinity(), last = best, growth = Finding::kNone;
  int best_step = 0;
  for (int t = 1; t <= steps; ++t) {
    const arma::mat z = iterative_inverse(a, {.iterations = t}).inverse;
    const double error = spectral_norm<double>(z - inverse) / spectral_norm<double>(inverse);
    if (error < best) best = error, best_step = t;
    growth = error / last;
    last = error;
  }
  Finding finding = decide_identity(fmt::format("rank 5 of 16, double, step {}", steps), last, allowed);
  finding.threshold = check.stated("relative error");
  finding.hypotheses =
      fmt::format("smallest error = {:.2g}; at step = {}; growth a step at the end = {:.4g}", best, best_step, growth);
  report.number = last;
  report.sentence =
      fmt::format("relative error after {} steps, {:.1g} after {}: rounding in the null space grows by 13/4 a step",
                  steps, best, best_step);
  report.findings = {std::move(finding)};
  return report;
}

}  // namespace croquis::claims
