// Lemma 3: the spectrum of N = D_M^{-1/2} (M + gamma I) D_M^{-1/2}, D_M = diag((M + gamma I) 1).
#include <fmt/format.h>

#include <croquis/claims/decisions.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/claims/skyformer/checks.hpp>
#include <croquis/claims/skyformer/rounding.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/worst_case.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/random/indices.hpp>

namespace croquis::claims {
namespace {

struct Spectrum {
  double smallest = 0, largest = 0;
  double eigenvector = 0;  // ||N v - v|| / ||v||, v = D_M^{1/2} 1
  double floor = 0;        // gamma / max D_M
  double rounding = 0;     // of an eigenvalue
};

struct Lemma3Case {
  std::string name;
  LiftedPoints<double> points;
  arma::uword p, d;
  double gamma;
  bool scaled;  // S with the factor sqrt(1/d) of Definition 1, or without as in the authors' code
};

std::vector<Lemma3Case> lemma3_cases(const Check& check) {
  std::vector<Lemma3Case> cases;
  for (const Subject& s : check.subjects) {
    const auto part = first_tokens(s.problem, check.count("tokens"));
    const arma::uword d = std::min(check.count("landmarks"), 2 * part.n());
    for (const bool scaled : {false, true}) {
      for (const double gamma : check.values("gamma")) {
        cases.push_back({fmt::format("{} gamma = {}{}", s.name, gamma, scaled ? " S/sqrt(d)" : ""),
                         {part.Q(), part.K()},
                         part.p(),
                         d,
                         gamma,
                         scaled});
      }
    }
  }
  return cases;
}

// Entries of N are off by entry_rounding + (d + 8) u relative to themselves (a sum of d positive terms, two roots and
// two quotients); N is non-negative and its norm is 1, so that is the error of N in norm, to which the solver's comes.
Spectrum spectrum_of(const Lemma3Case& c, const Key& draw_key, const Check& check) {
  const auto landmarks = sample_with_replacement(2 * c.points.n(), c.d, draw_key.child("landmarks"));
  const arma::mat given = c.points.given(landmarks);
  arma::mat core = gaussian_kernel(c.points.centred(given));
  if (c.scaled) core /= static_cast<double>(c.d);
  if (check.makes("signs")) {  // columns of S with random signs, as in accumulative sketches
    arma::vec sign(c.d);
    for (arma::uword j = 0; j < c.d; ++j) sign(j) = draw_key.child("signs").block(j)[0] % 2 == 0 ? 1 : -1;
    core %= sign * sign.t();
  }
  arma::vec sums = arma::sum(core, 1) + c.gamma;
  if (check.makes("sums-without-ridge")) sums -= c.gamma;
  if (check.makes("ridge-twice")) sums += c.gamma;
  core.diag() += c.gamma;
  const arma::vec root = arma::sqrt(arma::abs(sums));
  core.each_col() /= root;
  core.each_row() /= root.t();
  arma::vec eigenvalues = arma::eig_sym(arma::symmatu(core));
  if (!eigenvalues.is_finite()) eigenvalues.fill(Finding::kNone);  // min() and max() would pass over NaN
  const auto d = static_cast<double>(c.d);
  return {eigenvalues.min(), eigenvalues.max(), arma::norm(core * root - root) / arma::norm(root),
          (check.makes("double-floor") ? 2 : 1) * c.gamma / arma::abs(sums).max(),
          entry_rounding(c.p, c.points.largest_squared_norm()) + (d + 8) * kUnit + solver_rounding(c.d)};
}

void describe(Finding& finding, const Lemma3Case& c, const Spectrum& s, std::uint64_t draws) {
  finding.n = c.points.n();
  finding.p = c.p;
  finding.d = c.d;
  finding.trials = draws;
  finding.power = power_of_counting(draws, 0, 0);  // one draw that has it not refutes
  add_measured(finding, fmt::format("gamma = {}; gamma / max D_M = {:.3g}; smallest eigenvalue = {:.3g}", c.gamma,
                                    s.floor, s.smallest));
}

std::vector<Spectrum> draw_spectra(const Lemma3Case& c, const Check& check, std::uint64_t draws) {
  const Key draw_key = check.draw_key.child(c.name);
  std::vector<Spectrum> spectra(draws);
  parallel_for(draws, [&](std::size_t t) { spectra[t] = spectrum_of(c, draw_key.child(t), check); });
  return spectra;
}

}  // namespace

// 1 - (largest eigenvalue) is zero up to rounding, and v = D_M^{1/2} 1 solves N v = v: the eigenvalue is 1, not below.
Report check_lemma3_strict(const Check& check) {
  Report report;
  double worst = 0;
  for (const Lemma3Case& c : lemma3_cases(check)) {
    const std::uint64_t draws = check.trials(check.count("draws"));
    double gap = 0, rounding = 0;
    Spectrum shown;
    for (const Spectrum& s : draw_spectra(c, check, draws)) {
      double distance = std::abs(1 - s.largest);
      raise(distance, s.eigenvector);
      if (distance >= gap || std::isnan(distance)) {
        gap = distance;
        rounding = s.rounding;
        shown = s;
      }
    }
    Finding finding = decide_identity(c.name, gap, rounding);
    // What is stated is a gap.
    if (finding.verdict != Verdict::inconclusive) {
      finding.verdict = finding.verdict == Verdict::verified ? Verdict::refuted : Verdict::verified;
    }
    finding.estimate = shown.largest;
    describe(finding, c, shown, draws);
    worst = std::max(worst, gap);
    report.findings.push_back(finding);
  }
  // Two equal landmarks and gamma = 1: N = 1/3 (2, 1; 1, 2), and N (1, 1) = (1, 1), in rationals.
  const Rational ridge(check.makes("ridge-twice") ? 2 : 1);
  const Rational sum = Rational(2) + ridge;
  const RationalMatrix n = {{Rational(2) / sum, Rational(1) / sum}, {Rational(1) / sum, Rational(2) / sum}},
                       v = {{1}, {1}};
  const bool fixed = n * v == v;
  report.findings.push_back(decide_exactly("two equal landmarks, gamma = 1", !fixed, fixed ? 1 : 0.75, 1));
  report.number = worst;
  report.sentence =
      fmt::format("|1 - top eigenvalue| and ||N v - v|| / ||v||, v = D_M^(1/2) 1, are at most {:.1e}", worst);
  return report;
}

Report check_lemma3_charitable(const Check& check) {
  Report report;
  double worst = std::numeric_limits<double>::infinity(), highest = -1;
  for (const Lemma3Case& c : lemma3_cases(check)) {
    const std::uint64_t draws = check.trials(check.count("draws"));
    double above = -1, below = -1, rounding = 0;
    Spectrum shown;
    for (const Spectrum& s : draw_spectra(c, check, draws)) {
      raise(above, s.largest - 1);
      if (const double gap = s.floor - s.smallest; gap >= below || std::isnan(gap)) {
        below = gap;
        shown = s;
      }
      rounding = std::max(rounding, s.rounding);
    }
    const auto add = [&](const char* what, double observed, double estimate) {
      Finding finding = decide_identity(c.name + what, observed, rounding);
      finding.estimate = estimate;
      describe(finding, c, shown, draws);
      report.findings.push_back(finding);
    };
    add(" upper", above, 1 + above);
    add(" lower", below, shown.smallest);
    // ||I - N|| < 1 is more than rounding only while gamma / max D_M is.
    if (shown.floor <= rounding) report.findings.back().verdict = Verdict::vacuous;
    worst = std::min(worst, shown.smallest / shown.floor);
    highest = std::max(highest, above);
  }
  report.number = worst;
  report.sentence =
      fmt::format("largest eigenvalue 1 + {:.1e}; smallest at least {:.4g} gamma / max D_M", highest, worst);
  const double part = check.makes("double-floor") ? 0.5 : 1;
  add_worst(report, check, "sky.lemma3", part, part);
  return report;
}

}  // namespace croquis::claims
