// How fast the singular values of attention fall: lin.spectrum (Fig. 1) and lin.eckart-young.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/linformer/checks.hpp>
#include <croquis/claims/rank_correlation.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/claims/skyformer/rounding.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/vanishing.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/stats/accumulator.hpp>
#include <limits>
#include <map>
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
  const double least = check.value("share");
  const arma::uword n = check.count("tokens"), first = check.count("first values");
  Report report;
  for (const double t : check.values("radius")) {
    const double share = share_of(singular_values(circle(n, t, check.makes("one-key"))), first);
    Finding finding = decide_identity(fmt::format("circle t={:g}", t), 1 - share, 1 - least);
    finding.n = n;
    finding.p = 2;
    finding.threshold = check.stated("share");
    finding.hypotheses = fmt::format("share of the first 128 = {:.4g}; as t grows = 0.25", share);
    report.number = share;
    report.findings.push_back(std::move(finding));
  }
  report.sentence =
      "share of the first 128 of 512 singular values where B is nearly I; .88 is the lowest label of the heat map";
  return report;
}

Report check_spectrum_charitable(const Check& check) {
  const double least = check.value("share");
  Report report;
  report.number = 1;
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, check.count("tokens"));
    arma::vec values = singular_values(problem);
    if (check.makes("all-values")) values = values.head(values.n_elem / 4);
    const double share = share_of(values, std::max<arma::uword>(1, problem.n() / 4));
    Finding finding = decide_identity(subject.name, 1 - share, 1 - least);
    // The sentence is about trained models, which the inputs of the default run are not.
    if (!check.own_input && !check.makes("all-values")) finding.verdict = Verdict::inconclusive;
    finding.n = problem.n();
    finding.p = problem.p();
    finding.threshold = check.stated("share");
    finding.hypotheses = fmt::format("share of the first quarter = {:.4g}; tokens = {}", share, problem.n());
    if (problem.n() < check.count("tokens")) finding.verdict = Verdict::not_applicable;
    if (finding.verdict == Verdict::inconclusive) finding.hypotheses += "; would decide = heads of a trained model";
    report.number = std::min(report.number, share);
    report.findings.push_back(std::move(finding));
  }
  report.sentence =
      check.own_input ? "smallest share of the first quarter of singular values; the claim is .85 or more at 512 tokens"
                      : "smallest share of the first quarter on inputs that are no trained heads";
  return report;
}

// The mean share of the heads of a layer, layer by layer: whether it rises with the layer.
Report check_spectrum_layers(const Check& check) {
  const double least = check.value("rank correlation");
  std::map<std::uint64_t, Accumulator> layers;
  for (std::size_t i = 0; i < check.subjects.size(); ++i) {
    const Subject& subject = check.subjects[i];
    const auto layer = check.makes("place-for-layer") ? std::optional<std::uint64_t>(i) : subject.layer;
    if (!layer) continue;
    const Problem<double> problem = first_tokens(subject.problem, check.count("tokens"));
    layers[*layer].add(share_of(singular_values(problem), std::max<arma::uword>(1, problem.n() / 4)));
  }
  Finding finding;
  finding.input = check.of_own(
      fmt::format("{}{} layers", check.own_input && check.subjects.size() > 1 ? "and others, " : "", layers.size()));
  finding.bound = least;
  finding.threshold = check.stated("rank correlation");
  if (layers.size() >= check.count("layers")) {
    arma::vec places(layers.size()), shares(layers.size());
    arma::uword i = 0;
    for (const auto& [layer, sample] : layers) {
      places(i) = static_cast<double>(layer);
      shares(i) = sample.mean();
      finding.hypotheses += fmt::format("{}layer {} = {:.4g}", i > 0 ? "; " : "mean share of ", layer, shares(i));
      ++i;
    }
    // The n singular values are off by solver_rounding of the largest, which is at most their sum.
    const arma::uword n = check.count("tokens");
    const double rounding = 2 * static_cast<double>(n) * solver_rounding(n);
    finding.estimate = finding.observed = rank_correlation(places, shares, rounding);
    finding.verdict = std::isnan(finding.observed) ? Verdict::not_applicable  // all layers have the same share
                      : finding.observed >= least  ? Verdict::verified
                                                   : Verdict::refuted;
  } else {
    finding.hypotheses = fmt::format("layers that would decide = {}", check.count("layers"));
  }
  Report report;
  report.number = finding.estimate;
  report.findings = {std::move(finding)};
  report.sentence = layers.size() >= check.count("layers")
                        ? "rank correlation of the layer and the mean share of its heads"
                        : "needs the heads of several layers of a trained model: --model ... --layer all --head all";
  return report;
}

Report check_truncation_strict(const Check& check) {
  const double epsilon = check.value("epsilon");
  const auto k = static_cast<int>(check.value("rank")), n = static_cast<int>(check.value("tokens"));
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
    finding.n = static_cast<arma::uword>(n);
    finding.d = static_cast<arma::uword>(rank);
    finding.threshold = fmt::format("epsilon = {:g}; rank = {}", epsilon, k);
  }
  report.number = report.findings.front().observed;
  report.sentence =
      fmt::format("relative error of the best matrix of rank {} of {}, in the mean square over w", rank, n);
  return report;
}

Report check_truncation_given(const Check& check) {
  const double epsilon = check.value("epsilon");
  Report report;
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, check.count("tokens"));
    const double n = static_cast<double>(problem.n());
    const double asked = rank_of_proof(epsilon, n);
    const auto k = std::min(problem.n(), static_cast<arma::uword>(asked));
    arma::mat u, v;
    arma::vec s;
    const arma::mat scores = exact_scores(problem, Target::softmax).dense();
    arma::svd_econ(u, s, v, scores);
    const arma::uword rank = check.makes("rank-1") ? 1 : k;
    const arma::mat low = u.head_cols(rank) * arma::diagmat(s.head(rank)) * v.head_cols(rank).t();
    const arma::mat output = scores * problem.V();
    if (vanishes(output, problem)) {
      report.findings.push_back(not_applicable(subject.name, kOutputVanishes));
      continue;
    }
    const double size = frobenius_norm(output), error = frobenius_norm<double>(low * problem.V() - output) / size;
    Finding finding = decide_identity(subject.name, error, epsilon);
    finding.n = problem.n();
    finding.p = problem.p();
    finding.d = rank;
    finding.threshold = check.stated("epsilon");
    finding.hypotheses = fmt::format("sigma_{{k+1}} / sigma_1 = {:.3g}", k < s.n_elem ? s(k) / s(0) : 0.0);
    const arma::mat mean = arma::repmat(arma::mean(problem.V(), 0), problem.n(), 1);
    judge_trivial(finding, {{"output 0", 1.0},
                            {"V-mean", frobenius_norm<double>(mean - output) / size},
                            {"all singular values", asked >= n ? 0 : std::numeric_limits<double>::infinity()}});
    report.number = std::fmax(report.number, error);
    report.findings.push_back(std::move(finding));
  }
  report.sentence =
      fmt::format("largest ||P_low V - P V||_F / ||P V||_F at k = 5 log n / (eps^2 - eps^3), eps = {:g}", epsilon);
  return report;
}

}  // namespace croquis::claims
