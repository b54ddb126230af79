// How fast the singular values of attention fall: lin.spectrum (Fig. 1) and lin.eckart-young.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/linformer/checks.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/thresholds.hpp>
#include <croquis/linalg/norms.hpp>
#include <numbers>

namespace croquis::claims {
namespace {

// q_i = k_i = t (cos 2 pi i / n, sin 2 pi i / n): B -> I as t grows. In a mutant all keys are the same.
Problem<double> circle(arma::uword n, double t, bool same_keys) {
  arma::mat q(n, 2);
  for (arma::uword i = 0; i < n; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
    q(i, 0) = t * std::cos(angle);
    q(i, 1) = t * std::sin(angle);
  }
  const arma::mat k = same_keys ? arma::mat(arma::ones(n) * q.row(0)) : q;
  return {q, k, q};
}

double share_of(const arma::vec& values, arma::uword first) {
  return arma::accu(values.head(std::min<arma::uword>(first, values.n_elem))) / arma::accu(values);
}

arma::vec singular_values(const Problem<double>& problem) {
  return arma::svd(exact_scores(problem, Target::softmax).dense());
}

}  // namespace

Report check_spectrum_strict(const Check& check) {
  const double least = threshold("lin.spectrum/strict", "share");
  Report report;
  for (const double t : {50.0, 200.0, 1000.0}) {
    const double share = share_of(singular_values(circle(512, t, check.makes("one-key"))), 128);
    Finding finding = decide_identity(fmt::format("circle t={:g}", t), 1 - share, 1 - least);
    finding.n = 512;
    finding.p = 2;
    finding.threshold = fmt::format("share = {:g}", least);
    finding.hypotheses = fmt::format("share of the first 128 = {:.4g}; as t grows = 0.25", share);
    report.number = share;
    report.findings.push_back(std::move(finding));
  }
  report.sentence = "share of the first 128 of 512 singular values where B is nearly I; the paper has .88 to .96";
  return report;
}

Report check_spectrum_charitable(const Check& check) {
  const double least = threshold("lin.spectrum/charitable", "share");
  Report report;
  report.number = 1;
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, 512);
    arma::vec values = singular_values(problem);
    if (check.makes("all-values")) values = values.head(values.n_elem / 4);
    const double share = share_of(values, std::max<arma::uword>(1, problem.n() / 4));
    Finding finding = decide_identity(subject.name, 1 - share, 1 - least);
    // The sentence is about trained models, which the inputs of the default run are not.
    if (!check.own_input && !check.makes("all-values")) finding.verdict = Verdict::inconclusive;
    finding.n = problem.n();
    finding.p = problem.p();
    finding.threshold = fmt::format("share = {:g}", least);
    finding.hypotheses = fmt::format("share of the first quarter = {:.4g}", share);
    report.number = std::min(report.number, share);
    report.findings.push_back(std::move(finding));
  }
  report.sentence =
      check.own_input ? "smallest share of the first quarter of the singular values; the claim is .85 or more"
                      : "smallest share of the first quarter on inputs that are no trained heads: give some to decide";
  return report;
}

Report check_truncation_strict(const Check& check) {
  const double epsilon = threshold("lin.eckart-young/strict", "epsilon");
  const auto k = static_cast<int>(threshold("lin.eckart-young/strict", "rank"));
  constexpr int n = 512;
  // P = I: P_low is a projection of rank k, and a w in its complement keeps error ||w||. The mean square over w on the
  // sphere is (n - k) / n.
  const int rank = check.makes("full-rank") ? n : k;
  Report report;
  const Rational mean_square(n - rank, n);
  report.findings = {decide_exactly("P = I, the mean square over w", mean_square <= Rational(1, 4),
                                    std::sqrt(static_cast<double>(mean_square)), epsilon),
                     decide_exactly("P = I, the worst w", rank == n, rank == n ? 0 : 1, epsilon)};
  // P = (a - b) I + b 1 1^T is row-stochastic with sigma_2 = ... = sigma_n = a - b: w in the complement of 1 and of
  // the first k vectors keeps ||P w - P_low w|| = ||P w||.
  const Rational a(1, 2), b = (1 - a) / (n - 1);
  report.findings.push_back(decide_exactly("P = (a - b) I + b 1 1^T, a = 1/2, the worst w", rank == n,
                                           rank == n ? 0 : static_cast<double>((a - b) / (a - b)), epsilon));
  for (Finding& finding : report.findings) {
    finding.n = n;
    finding.d = static_cast<arma::uword>(rank);
    finding.threshold = fmt::format("epsilon = {:g}; rank = {}", epsilon, k);
  }
  report.number = report.findings.front().observed;
  report.sentence =
      fmt::format("relative error of the best matrix of rank {} of {}, in the mean square over w", rank, n);
  return report;
}

Report check_truncation_given(const Check& check) {
  const double epsilon = threshold("lin.eckart-young/charitable", "epsilon");
  Report report;
  report.number = 0;
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, check.quick ? 128 : 256);
    const double n = static_cast<double>(problem.n());
    const auto k = std::min(problem.n(), static_cast<arma::uword>(std::ceil(std::log(n) / (epsilon * epsilon))));
    arma::mat u, v;
    arma::vec s;
    const arma::mat scores = exact_scores(problem, Target::softmax).dense();
    arma::svd_econ(u, s, v, scores);
    const arma::uword rank = check.makes("rank-1") ? 1 : k;
    const arma::mat low = u.head_cols(rank) * arma::diagmat(s.head(rank)) * v.head_cols(rank).t();
    const arma::mat output = scores * problem.V();
    const double size = frobenius_norm(output), error = frobenius_norm<double>(low * problem.V() - output) / size;
    Finding finding = decide_identity(subject.name, error, epsilon);
    finding.n = problem.n();
    finding.p = problem.p();
    finding.d = rank;
    finding.threshold = fmt::format("epsilon = {:g}", epsilon);
    finding.hypotheses = fmt::format("sigma_{{k+1}} / sigma_1 = {:.3g}", k < s.n_elem ? s(k) / s(0) : 0.0);
    const arma::mat mean = arma::repmat(arma::mean(problem.V(), 0), problem.n(), 1);
    judge_trivial(finding, {{"output 0", 1.0}, {"V-mean", frobenius_norm<double>(mean - output) / size}});
    report.number = std::max(report.number, error);
    report.findings.push_back(std::move(finding));
  }
  report.sentence = fmt::format("largest ||P_low V - P V||_F / ||P V||_F at k = log n / eps^2, eps = {:g}", epsilon);
  return report;
}

}  // namespace croquis::claims
