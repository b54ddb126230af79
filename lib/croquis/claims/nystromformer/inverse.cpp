#include <fmt/format.h>

#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/nystromformer.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nystromformer/checks.hpp>
#include <croquis/claims/nystromformer/cores.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/vanishing.hpp>
#include <croquis/linalg/iterative_inverse.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <croquis/random/draws.hpp>

namespace croquis::claims {
namespace {

arma::mat start_of(const arma::mat& a) {
  return a.t() / (arma::norm(a, 1) * arma::norm(a, "inf"));
}

arma::mat residual_of(const arma::mat& a, const arma::mat& z) {
  return arma::eye(arma::size(a)) - a * z;
}

// One step of the library, or with a wrong coefficient.
arma::mat one_step(const Check& check, const arma::mat& a) {
  if (!check.makes("coefficient-14")) return iterative_inverse(a, {.iterations = 1}).inverse;
  const arma::mat z = start_of(a), one = arma::eye(arma::size(a)), az = a * z;
  return z * (13 * one - az * (14 * one - az * (7 * one - az))) / 4;
}

// I - A Z after a step against (3 E^3 + E^4) / 4. With f = ||A||_F ||Z_0||_F, every product of m x m factors is off by
// m u times the norms of its factors: the step costs m u f (13 + 15 + 7 + 1) (1 + f)^3 at most with A Z_0 as
// its argument, the polynomial of E, ||E||_F <= sqrt(m) + f, another 4 m u (sqrt(m) + f)^4.
Finding step_finding(const Check& check, const std::string& input, const arma::mat& a) {
  const arma::mat e = residual_of(a, start_of(a));
  const arma::mat expected = (3 * e * e * e + e * e * e * e) / 4;
  const double observed = spectral_norm<double>(residual_of(a, one_step(check, a)) - expected);
  const auto m = static_cast<double>(a.n_rows);
  const double f = frobenius_norm(a) * frobenius_norm(start_of(a));
  const double bound = m * kUnit * (36 * f * std::pow(1 + f, 3) + 4 * std::pow(std::sqrt(m) + f, 4));
  Finding finding = decide_identity(input + " step", observed, bound, spectral_norm<double>(expected));
  finding.d = a.n_rows;
  finding.hypotheses = fmt::format("||E|| = {:.6g}", spectral_norm<double>(e));
  return finding;
}

// ||I - A Z_0|| = 1 - sigma_min^2 / (||A||_1 ||A||_inf), which is below 1 exactly when A is non-singular. Decided
// where sigma_min is above its own rounding error, m u ||A||.
Finding start_finding(const Check& check, const std::string& input, const arma::mat& a) {
  const arma::vec values = arma::svd(a);
  const auto m = static_cast<double>(a.n_rows);
  const arma::mat start =
      check.makes("start-unscaled") ? arma::mat(a.t() / std::sqrt(arma::norm(a, 1) / m)) : start_of(a);
  const double below = std::pow(values.min(), 2) / (arma::norm(a, 1) * arma::norm(a, "inf"));
  const double norm = spectral_norm<double>(residual_of(a, start));
  Finding finding = decide_identity(input + " start", norm - (1 - below), 4 * m * kUnit, 1 - below);
  finding.d = a.n_rows;
  finding.hypotheses = fmt::format("cond(A) = {:.4g}; ||I - A Z_0|| = {:.9g}", values.max() / values.min(), norm);
  if (values.min() <= m * kUnit * values.max()) finding.verdict = Verdict::not_applicable;
  return finding;
}

// A step multiplies a small mode x of A Z by (13 - 15 x + 7 x^2 - x^3) / 4, close to 13/4: of A = diag(1, x), Z_0 = A.
Finding growth_finding(const Check& check, double x) {
  const arma::mat a = arma::diagmat(arma::vec{1, std::sqrt(x)});
  const arma::mat az = a * one_step(check, a);
  const double growth = az(1, 1) / x, stated = (13 - 15 * x + 7 * x * x - x * x * x) / 4;
  Finding finding = decide_identity(fmt::format("mode x = {:g}", x), std::abs(growth - stated), 200 * kUnit, stated);
  finding.hypotheses = fmt::format("x = {:g}; growth = {:.10g}", x, growth);
  return finding;
}

// What F A^+ G and B may differ by, in exact arithmetic 0. B B^+ B is off by the singular values below the cut-off,
// n u ||B||, and by the rounding of two products whose intermediate U^T B carries n u ||B||_F and comes back through
// B V, which undoes 1/sigma. F, A and G are the same numbers, made from the same points in the same way. Those of B are
// made in another way: either has a relative error of weight_rounding in each of the weights, which are positive, so
// that the matrices are off by this times ||B||, `size`.
double all_points_rounding(const Problem<double>& problem, const arma::mat& b, double size) {
  return 8 * static_cast<double>(problem.n()) * kUnit * frobenius_norm(b) * size + 2 * weight_rounding(problem) * size;
}

}  // namespace

// ||E_{t+1}|| <= ||E_t||^3 (3 + ||E_t||) / 4 for every step, until the inverse is reached to rounding, and that it is.
Finding convergence_finding(const Check& check, arma::uword m) {
  arma::mat a(m, m);
  fill_normal(Key(check.count("seed")).child("nys.lemma1").child(m), 0, a.n_elem, a.memptr());
  a = arma::eye(m, m) + a / (4 * std::sqrt(static_cast<double>(m)));  // ||I - A Z_0|| below 1, well conditioned
  const double rounding = 200 * static_cast<double>(m) * kUnit * arma::cond(a);
  double before = spectral_norm<double>(residual_of(a, start_of(a))), worst = -1;
  double power = std::numeric_limits<double>::infinity();
  int steps = 0;
  while (before > rounding && steps < static_cast<int>(check.value("steps"))) {
    const arma::mat z =
        check.makes("coefficient-14") ? one_step(check, a) : iterative_inverse(a, {.iterations = steps + 1}).inverse;
    const double after = spectral_norm<double>(residual_of(a, z));
    const double allowed = before * before * before * (3 + before) / 4;
    raise(worst, after - (check.makes("half-constant") ? 0.5 : 1) * allowed);
    power = std::min(power, (rounding + allowed - after) / allowed);
    before = after;
    ++steps;
  }
  raise(worst, before);
  Finding finding = decide_identity(fmt::format("normals about I, m = {}", m), worst, rounding);
  finding.power = power;  // of the step that a smaller bound would fail first
  finding.d = m;
  finding.hypotheses = fmt::format("steps to the inverse = {}; ||I - A Z|| at the end = {:.2g}", steps, before);
  return finding;
}

Report check_third_order(const Check& check) {
  Report report;
  for (const arma::uword m : check.counts("normal sizes")) report.findings.push_back(convergence_finding(check, m));
  double worst = 0;
  for (const Subject& subject : check.subjects) {
    for (const arma::uword d : check.counts("landmarks")) {
      const arma::uword m = std::min<arma::uword>(d, subject.problem.n());
      const arma::mat a = core_of(first_tokens(subject.problem, check.count("tokens")), m);
      const std::string input = fmt::format("{} d={}", subject.name, d);
      report.findings.push_back(step_finding(check, input, a));
      worst = std::max(worst, report.findings.back().observed);
    }
  }
  for (const double x : check.values("modes")) report.findings.push_back(growth_finding(check, x));
  report.number = worst;
  report.sentence =
      "largest gap between I - A Z_1 and (3 E^3 + E^4)/4, rounding alone; small modes grow by 13/4 a step";
  report.tightness = {1, 1};  // E is symmetric from the paper's start: equality
  return report;
}

Report check_start_charitable(const Check& check) {
  Report report;
  double largest = 0;
  for (const Subject& subject : check.subjects) {
    for (const arma::uword d : check.counts("landmarks")) {
      const arma::uword m = std::min<arma::uword>(d, subject.problem.n());
      const arma::mat a = core_of(first_tokens(subject.problem, check.count("tokens")), m);
      report.findings.push_back(start_finding(check, fmt::format("{} d={}", subject.name, d), a));
      largest = std::max(largest, spectral_norm<double>(residual_of(a, start_of(a))));
    }
  }
  report.number = largest;
  report.sentence = "largest ||I - A Z_0|| = 1 - sigma_min^2 / (||A||_1 ||A||_inf), below 1 for non-singular A";
  report.tightness = {1, 1};  // an equation
  return report;
}

Report check_all_landmarks(const Check& check) {
  Report report;
  double worst = 0;
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, check.count("tokens"));
    const arma::uword n = problem.n();
    NystromformerOptions options;
    if (!check.makes("six-iterations")) options.inverse = NystromformerOptions::Inverse::pinv;
    const arma::mat b = exact_scores(problem, Target::softmax).dense();
    const double size = spectral_norm<double>(b), rounding = all_points_rounding(problem, b, size);
    for (const arma::uword parts : {16, 8, 4, 2, 1}) {
      const arma::uword d = std::max<arma::uword>(1, n / parts);
      const arma::uword used = d == n && check.makes("one-landmark-less") && n > 1 ? n - 1 : d;
      const auto approximation = nystromformer(problem, used, check.draw_key, options);
      const double error = spectral_norm<double>(approximation.scores->dense() - b);
      Finding finding = decide_identity(fmt::format("{} d={}", subject.name, d), error, rounding, size);
      finding.n = n;
      finding.p = problem.p();
      finding.d = d;
      finding.hypotheses = fmt::format("all points are landmarks = {}; ||B|| = {:.4g}", d == n ? "yes" : "no", size);
      if (d == n) {
        judge_trivial(finding, {{"the matrix 0", size}});
        worst = std::max(worst, error / size);
      } else {
        finding.verdict = Verdict::not_applicable;  // the lemma says nothing: measured to be looked at
        finding.bound = finding.power = Finding::kNone;
      }
      report.findings.push_back(std::move(finding));
      if (d == n) break;
    }
  }
  report.number = worst;
  report.sentence = "largest ||B - F A^+ G|| / ||B|| with all points as landmarks and the exact pseudo-inverse";
  return report;
}

Report check_six_iterations(const Check& check) {
  const double good = check.value("relative error");
  Report report;
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, check.count("tokens"));
    for (const arma::uword d : check.counts("landmarks")) {
      const std::string input = fmt::format("{} d={}", subject.name, d);
      if (d > problem.n()) {
        report.findings.push_back(too_few_tokens(input, d));
        continue;
      }
      arma::mat a = core_of(problem, d);
      if (check.makes("well-conditioned")) a = arma::eye(arma::size(a)) + a / static_cast<double>(d);
      const auto pinv = pseudo_inverse<double>(a, static_cast<double>(d) * 2 * kUnit);
      const auto six = iterative_inverse(a);
      const double error = spectral_norm<double>(pinv.apply(arma::eye(d, d)) - six.inverse) * pinv.values.min();
      Finding finding = decide_identity(input, error, good);
      finding.n = problem.n();
      finding.p = problem.p();
      finding.d = d;
      finding.hypotheses = fmt::format("cond(A) = {:.3g}; rank = {}; ||I - A Z_6||_F = {:.4g}",
                                       pinv.largest / pinv.values.min(), pinv.rank(), six.residual);
      finding.threshold = check.stated("relative error");
      report.number = std::fmin(report.number, error);
      report.findings.push_back(std::move(finding));
    }
  }
  report.sentence = fmt::format("smallest ||A^+ - Z_6|| / ||A^+||; good is {:g}", good);
  return report;
}

// What rounding may add to the output error with Z_6 or A^+, over the size of the output: F, A and G are off by
// weight_rounding, and so are products with them, which changes F A^+ G V by this much in the first order. In the null
// space of A a step of the iteration multiplies it by 13/4.
double output_rounding(const Problem<double>& problem, arma::uword d, double size) {
  const arma::mat queries = segment_means(problem.Q(), d), keys = segment_means(problem.K(), d);
  const arma::mat f = softmax_transposed(problem.Q(), keys).t(), a = core_of(problem, d),
                  values = softmax_transposed(queries, problem.K()).t() * problem.V();
  const auto pinv = pseudo_inverse<double>(a, static_cast<double>(d) * 2 * kUnit);
  const arma::mat weights = pinv.apply(values), back = f * pinv.apply(arma::eye(d, d));
  const double of_weights = frobenius_norm(weights), of_back = frobenius_norm(back);
  return std::pow(13.0 / 4, 6) * weight_rounding(problem) *
         (1 + (of_back * (frobenius_norm(a) * of_weights + frobenius_norm(values)) + frobenius_norm(f) * of_weights) /
                  size);
}

// The error of the output with Z_6 against that with A^+.
Report check_six_output(const Check& check) {
  const double worse = check.value("worse by");
  Report report;
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, check.count("tokens"));
    const auto exact = exact_attention(problem, Target::softmax);
    const double size = spectral_norm<double>(exact.output);
    for (const arma::uword d : check.counts("landmarks")) {
      const std::string input = fmt::format("{} d={}", subject.name, d);
      if (vanishes(exact.output, problem)) {
        report.findings.push_back(not_applicable(input, kOutputVanishes));
        continue;
      }
      // With all points as landmarks A^+ is exact, and so is attention itself.
      if (d >= problem.n()) {
        report.findings.push_back(all_points_finding(input, problem));
        continue;
      }
      const auto error = [&](NystromformerOptions::Inverse inverse, int iterations) {
        NystromformerOptions options;
        options.inverse = inverse;
        options.iterations = iterations;
        const arma::mat output = nystromformer(problem, d, check.draw_key, options).output;
        return spectral_norm<double>(output - exact.output) / size;
      };
      using Inverse = NystromformerOptions::Inverse;
      const double with_six = error(Inverse::iterative, 6), with_pinv = error(Inverse::pinv, 6);
      const double rounding = output_rounding(problem, d, size);
      Finding finding =
          decide_identity(input, with_six, (check.makes("half") ? 0.5 : 1 + worse) * with_pinv + rounding);
      finding.threshold = check.stated("worse by");
      finding.n = problem.n();
      finding.p = problem.p();
      finding.d = d;
      add_measured(finding, fmt::format("output error with Z_6 = {:.4g}; with A^+ = {:.4g}; rounding = {:.2g}",
                                        with_six, with_pinv, rounding));
      // Of errors that are rounding alone a quotient is no number.
      if (with_six > rounding) report.number = std::fmax(report.number, with_six / with_pinv);
      report.findings.push_back(std::move(finding));
    }
  }
  report.sentence = "largest (output error with Z_6) / (output error with A^+)";
  return report;
}

}  // namespace croquis::claims
