// Theorem 1: attention is low rank. What exists trivially, what no fixed matrix does, and what random projections do.
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/linformer/checks.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/worst_case.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/sketch/gaussian.hpp>

namespace croquis::claims {
namespace {

arma::mat scores_of(const Problem<double>& problem) {
  return exact_scores(problem, Target::softmax).dense();
}

// ||P R^T R w - P w||, R of k rows; without the 1/k in a mutant.
double error_of(const Check& check, const arma::mat& scores, const arma::vec& w, const arma::vec& product,
                arma::uword k, const Key& draw_key) {
  const GaussianSketch sketch(w.n_elem, k, draw_key);
  const double scale = check.makes("no-scale") ? static_cast<double>(k) : 1;
  return arma::norm(scores * (scale * sketch.expand(arma::mat(sketch.left(arma::mat(w)))).col(0)) - product);
}

// The claim that this error is within a bound, by draws of R.
Finding decide_error(const Check& check, ProbabilityClaim claim, const arma::mat& scores, const arma::vec& w,
                     const arma::vec& product, arma::uword k) {
  claim.most_trials = check.count("draws");
  Finding finding = decide_probability(
      check, claim, [&](const Key& draw_key) { return error_of(check, scores, w, product, k, draw_key); });
  finding.n = w.n_elem;
  finding.d = k;
  return finding;
}

}  // namespace

// Flat attention and a w of sum 0: P w = 0, and 0 < 0 does not hold for any P~.
Report check_low_rank_strict(const Check& check) {
  const Rational half(1, 2);
  const RationalMatrix p = {{half, half}, {half, half}},
                       w = check.makes("nonzero") ? RationalMatrix{{1}, {1}} : RationalMatrix{{1}, {-1}};
  const RationalMatrix product = p * w;
  const bool zero = product == RationalMatrix(2, 1);
  Report report;
  report.findings = {decide_exactly("P = 1/2 (1, 1; 1, 1), w = (1, -1)", !zero, 0, 0)};
  report.findings.front().hypotheses = fmt::format("P w = 0: {}", zero ? "yes" : "no");
  report.number = 0;
  report.sentence = "||P~ w - P w|| < eps ||P w|| = 0 cannot hold: flat attention, w of sum 0; any P~";
  return report;
}

// P~ = P w w^T / ||w||^2 has rank 1 and no error, for any P: the statement says nothing of attention.
Report check_low_rank_trivial(const Check& check) {
  const RationalMatrix p = {{Rational(2, 3), Rational(1, 6), Rational(1, 6)},
                            {Rational(1, 5), Rational(3, 5), Rational(1, 5)},
                            {Rational(1, 2), Rational(1, 4), Rational(1, 4)}},
                       w = {{3}, {-1}, {2}};
  const Rational square = (w.transposed() * w)(0, 0);
  const RationalMatrix low = Rational(1) / (check.makes("unscaled") ? Rational(1) : square) * (p * w * w.transposed());
  const RationalMatrix gap = low * w - p * w;
  double worst = 0;
  for (std::size_t i = 0; i < 3; ++i) worst = std::max(worst, std::abs(static_cast<double>(gap(i, 0))));
  Report report;
  report.findings = {decide_exactly("P~ = P w w^T / ||w||^2, n = 3", worst == 0, worst, 0)};
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, check.count("tokens"));
    const arma::mat scores = scores_of(problem);
    const arma::vec v = problem.V().col(0), exact = scores * v;
    if (arma::norm(v) == 0) continue;
    const double scale = check.makes("unscaled") ? 1 : arma::dot(v, v);
    const double error = arma::norm(exact * (arma::dot(v, v) / scale) - exact);
    Finding finding = decide_identity(subject.name, error, check.value("epsilon") * arma::norm(exact));
    finding.n = problem.n();
    finding.d = 1;
    report.findings.push_back(std::move(finding));
  }
  for (Finding& finding : report.findings) {
    if (finding.verdict == Verdict::verified) {
      finding.verdict = Verdict::vacuous;
      finding.trivial = "P w w^T / ||w||^2, of rank 1";
    }
  }
  report.number = worst;
  report.sentence = "error of P~ = P w w^T / ||w||^2, of rank 1, for any P and w: existence is trivial";
  return report;
}

// One P~ for all columns of V = (I; 0), where P = I: the mean over the columns of the squared error is 1 - r/p at least
// (Eckart and Young), and it is attained.
Report check_low_rank_for_values(const Check& check) {
  const auto n = static_cast<int>(check.value("tokens"));
  const double epsilon = check.value("epsilon");
  const auto rank = static_cast<int>(rank_of_proof(epsilon, n));
  const int width = check.makes("narrow") ? rank : n;
  const Rational least(std::max(0, width - rank), width);
  Finding finding = decide_exactly(fmt::format("P = I, V = (I; 0), p_v = {}", width), least <= Rational(1, 4),
                                   std::sqrt(static_cast<double>(least)), epsilon);
  finding.n = static_cast<arma::uword>(n);
  finding.d = static_cast<arma::uword>(rank);
  Finding trivial = decide_exactly("P~ = P V V^+, p_v <= rank", true, 0, epsilon);
  trivial.verdict = Verdict::vacuous;
  trivial.trivial = "P V V^+, of rank p_v";
  Report report;
  report.findings = {std::move(finding), std::move(trivial)};
  report.number = report.findings.front().observed;
  report.sentence = fmt::format("relative error that a P~ of rank {} has on one of {} columns at least", rank, width);
  return report;
}

// P = I and any P~ of rank r that does not know w: Pr(||P~ w - w|| <= eps ||w||) is at most that of Beta((n-r)/2, r/2)
// <= eps^2 for w uniform on the sphere (T2).
Report check_low_rank_oblivious(const Check& check) {
  Report report;
  const double epsilon = check.value("epsilon"), allowed = check.value("success");
  for (const double n : check.values("tokens")) {
    const double r = check.makes("nearly-full") ? n - 1.0 : rank_of_proof(epsilon, n);
    const double success = boost::math::ibeta((n - r) / 2, r / 2, epsilon * epsilon);
    Finding finding = decide_least(fmt::format("P = I, w uniform, n = {:g}", n), success >= allowed, success, allowed);
    finding.n = static_cast<arma::uword>(n);
    finding.d = static_cast<arma::uword>(r);
    finding.hypotheses = success > 0 ? fmt::format("largest probability of success = {:.3g}", success)
                                     : "largest probability of success < 1e-300";
    report.findings.push_back(std::move(finding));
  }
  report.number = report.findings.front().estimate;
  report.sentence =
      "largest probability that a P~ of that rank, made without w, is within eps; n = 512, exact distribution";
  return report;
}

// P~ = P R^T R on flat attention with w = e_1 - e_2: P w = 0, and P~ w is normal with variance > 0.
Report check_low_rank_construction(const Check& check) {
  Report report;
  const double epsilon = check.value("epsilon");
  double worst = 0;
  const double decisions = 2 + 2 * static_cast<double>(check.subjects.size());
  const auto decide = [&](const std::string& input, const arma::mat& scores, const arma::vec& w) {
    const auto n = static_cast<double>(w.n_elem);
    const double rows = rank_of_proof(epsilon, n);
    const auto k = static_cast<arma::uword>(rows);
    const arma::vec product = scores * w;
    ProbabilityClaim claim;
    claim.input = input;
    claim.bound = epsilon * (check.makes("norms") ? frobenius_norm(scores) * arma::norm(w) : arma::norm(product));
    claim.delta = 2 * n * std::exp(-(epsilon * epsilon * (1 - epsilon)) * rows / 4);
    claim.alpha = check.alpha / decisions;
    Finding finding = decide_error(check, claim, scores, w, product, k);
    add_measured(finding, fmt::format("delta = {:.3g}; ||Pw|| / (||P||_F ||w||) = {:.3g}", claim.delta,
                                      arma::norm(product) / (frobenius_norm(scores) * arma::norm(w))));
    if (finding.verdict == Verdict::refuted) finding.verdict = Verdict::refuted_proof;
    worst = std::max(worst, finding.estimate);
    report.findings.push_back(std::move(finding));
  };
  const arma::uword n = check.count("tokens");
  arma::vec difference(n, arma::fill::zeros);
  difference(0) = 1;
  difference(1) = -1;
  decide("flat attention, w = e_1 - e_2", arma::mat(n, n).fill(1 / static_cast<double>(n)), difference);
  decide("P = I, w = e_1 - e_2", arma::eye(n, n), difference);
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, n);
    if (rank_of_proof(epsilon, static_cast<double>(problem.n())) > static_cast<double>(problem.n())) continue;
    const arma::mat scores = scores_of(problem);
    const arma::vec w = problem.V().col(0);
    if (arma::norm(w) == 0) continue;
    decide(subject.name + " column of V", scores, w);
    decide(subject.name + " centred column of V", scores, w - arma::mean(w));
  }
  report.number = worst;
  report.sentence =
      "worst failure rate of P~ = P R^T R at k = 5 log n / (eps^2 - eps^3): P w may be small or 0 where P~ w is not";
  return report;
}

// ||P R^T R w - P w|| <= eps ||P||_F ||w|| at k = 2 / (eps^2 delta) (T1).
Report check_low_rank_corrected(const Check& check) {
  Report report;
  const double epsilon = check.value("epsilon"), delta = check.value("delta");
  const double part = check.makes("half-constant")     ? 0.5
                      : check.makes("eighth-constant") ? 0.125
                      : check.makes("no-delta")        ? delta
                                                       : 1;
  const auto k = static_cast<arma::uword>(std::ceil(part * 2 / (epsilon * epsilon * delta)));
  double loosest = std::numeric_limits<double>::infinity();
  const double decisions = 1 + 2 * static_cast<double>(check.subjects.size());
  const auto decide = [&](const std::string& input, const arma::mat& scores, const arma::vec& w) {
    if (arma::norm(w) == 0) return;
    const double frobenius = frobenius_norm(scores);
    const arma::vec product = scores * w;
    ProbabilityClaim claim;
    claim.input = input;
    claim.bound = epsilon * frobenius * arma::norm(w);
    claim.delta = delta;
    claim.alpha = check.alpha / decisions;
    Finding finding = decide_error(check, claim, scores, w, product, k);
    loosest = std::min(loosest, finding.slack());
    add_measured(finding,
                 fmt::format("||Pw|| / (||P||_F ||w||) = {:.3g}", arma::norm(product) / (frobenius * arma::norm(w))));
    judge_trivial(finding, {{"P~ = 0", arma::norm(product)}, {"P~ = 1 1^T / n", arma::norm(product - arma::mean(w))}});
    report.findings.push_back(std::move(finding));
  };
  // Two halves that attend to themselves, w = 1 and -1 on them: P w = w, which neither 0 nor the mean is near.
  arma::mat halves(128, 128, arma::fill::zeros);
  halves.submat(0, 0, 63, 63).fill(1.0 / 64);
  halves.submat(64, 64, 127, 127).fill(1.0 / 64);
  decide("two halves, w = 1 and -1", halves, arma::join_cols(arma::ones(64), -arma::ones(64)));
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, check.count("tokens"));
    const arma::mat scores = scores_of(problem);
    decide(subject.name + " ones", scores, arma::ones(problem.n()));
    decide(subject.name + " column of V", scores, problem.V().col(0));
  }
  report.number = loosest;
  report.sentence = fmt::format("smallest bound / (90 % quantile of the error) at k = {} = 2 / (eps^2 delta)", k);
  add_worst(report, check, "lin.thm1", part, part);
  return report;
}

}  // namespace croquis::claims
