// When ||I - W|| < 1 holds for the core W = S^T M S of the lift M without preconditioning: sky.assumption.
#include <fmt/format.h>

#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/claims/skyformer/checks.hpp>
#include <croquis/claims/skyformer/rounding.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/random/indices.hpp>

namespace croquis::claims {

// With columns e_i / sqrt(d) the core is positive semi-definite of trace 1: ||I - W|| = 1 - lambda_min(W), which is
// below 1 when W is non-singular, without any preconditioning (T11).
Report check_scaled_core(const Check& check) {
  Report report;
  report.number = 0;
  const auto add = [&](const std::string& input, arma::mat core, double rounding) {
    if (check.makes("equal-landmarks")) core.ones();
    const arma::vec values = arma::eig_sym(core / static_cast<double>(core.n_rows));
    const double norm = largest_entry<double>(1 - values);
    // The reading that is refuted, a question of our own: the assumption needs preconditioning, for it fails here.
    Finding finding = decide_identity(input, 1 - norm, 0, 1);
    finding.d = core.n_rows;
    finding.verdict = norm < 1 - rounding ? Verdict::refuted : Verdict::not_applicable;
    if (norm >= 1 + rounding) finding.verdict = Verdict::verified;
    finding.hypotheses = fmt::format("||I - W|| = {:.9g}; smallest eigenvalue = {:.3g}", norm, values.min());
    report.number = std::max(report.number, norm);
    report.findings.push_back(std::move(finding));
  };
  // Two points at kernel value 1/2, in numbers that are exact.
  add("two landmarks, kappa = 1/2", arma::mat{{1, 0.5}, {0.5, 1}}, 0);
  for (const Subject& subject : check.subjects) {
    const auto part = first_tokens(subject.problem, check.count("tokens"));
    const LiftedPoints<double> points(part.Q(), part.K());
    const arma::uword d = std::min(check.count("landmarks"), points.size());
    const auto landmarks = sample_without_replacement(points.size(), d, check.draw_key.child(subject.name));
    const arma::mat given = points.given(landmarks);
    add(subject.name, gaussian_kernel(points.centred(given)),
        entry_rounding(part.p(), points.largest_squared_norm()) + solver_rounding(d));
  }
  report.sentence =
      "largest ||I - W||, W = S^T M S with Definition 1's 1/sqrt(d), below 1 when W is non-singular: our own question";
  return report;
}

// With columns e_i three equal landmarks have the core 1 1^T: ||I - W|| = 2.
Report check_plain_core(const Check& check) {
  const Rational other(check.makes("far-apart") ? 0 : 1);
  const RationalMatrix core = {{1, other, other}, {other, 1, other}, {other, other, 1}}, ones = {{1}, {1}, {1}};
  const RationalMatrix image = core * ones - ones;  // (W - I) 1 = 2 * 1
  const double norm = std::abs(static_cast<double>(image(0, 0)));
  Report report;
  report.findings = {decide_least("three equal landmarks", norm >= 1, norm, 1)};
  report.number = norm;
  report.sentence = "||I - W|| for three equal landmarks and columns e_i: above 1, where the assumption fails";
  return report;
}

}  // namespace croquis::claims
