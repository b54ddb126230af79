#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/linformer/checks.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/nystrom/segment_means.hpp>
#include <croquis/sketch/gaussian.hpp>

namespace croquis::claims {
namespace {

constexpr double kEpsilon = 0.5;

// softmax of the rows of x.
arma::mat softmax_rows(arma::mat x) {
  x.each_col() -= arma::max(x, 1);
  x = arma::exp(x);
  x.each_col() /= arma::sum(x, 1);
  return x;
}

// The logits w E^T / sqrt(p) of all rows w, from E K.
arma::mat logits(const Problem<double>& problem, const arma::mat& projected_keys) {
  return problem.Q() * projected_keys.t() / std::sqrt(static_cast<double>(problem.p()));
}

// Largest ||softmax(w E^T) F V - softmax(w) V|| / (||softmax(w)|| ||V||) over the rows w: Eq. 8 is that it is <= eps.
double worst_ratio(const arma::mat& output, const arma::mat& exact, const arma::mat& scores, const arma::mat& v) {
  const arma::vec gap = arma::sqrt(arma::sum(arma::square(output - exact), 1));
  const arma::vec norms = arma::sqrt(arma::sum(arma::square(scores), 1));
  return arma::max(gap / norms) / spectral_norm<double>(v);
}

// V, and a column of ones: values that do not average out.
std::vector<std::pair<std::string, arma::mat>> values_of(const Problem<double>& problem) {
  return {{"V", problem.V()}, {"ones", arma::mat(problem.n(), 1, arma::fill::ones)}};
}

// Keys that stand for all: least squares for Y = F V at fixed W = E K, and steps of W against the gradient of the
// squared error, halved until they help.
struct Witness {
  arma::mat keys, values;  // W (k x p) and Y (k x p_v)
  double error = 0;        // ||softmax(Q W^T / sqrt(p)) Y - O||_F
};

arma::mat fit_values(const arma::mat& weights, const arma::mat& output) {
  return arma::pinv(weights, 1e-10) * output;
}

Witness with_keys(const Problem<double>& problem, const arma::mat& output, const arma::mat& keys) {
  const arma::mat weights = softmax_rows(logits(problem, keys));
  const arma::mat values = fit_values(weights, output);
  return {keys, values, arma::norm(weights * values - output, "fro")};
}

Witness best_witness(const Check& check, const Problem<double>& problem, const arma::mat& output, arma::uword k) {
  Witness best = with_keys(problem, output, segment_means(problem.K(), k));
  double step = 1;
  const int steps = check.quick ? 10 : 40;
  for (int i = 0; i < steps && best.error > 0; ++i) {
    if (check.interrupted()) throw Interrupted();
    const arma::mat weights = softmax_rows(logits(problem, best.keys));
    const arma::mat slope = (weights * best.values - output) * best.values.t();
    arma::mat inner = weights % slope;
    const arma::vec sums = arma::sum(inner, 1);
    inner -= weights.each_col() % sums;
    const arma::mat gradient = inner.t() * problem.Q();
    const double size = arma::norm(gradient, "fro");
    if (size == 0) break;
    bool helped = false;
    for (int halving = 0; halving < 12 && !helped; ++halving, step /= 2) {
      Witness next = with_keys(problem, output, best.keys - step * arma::norm(best.keys, "fro") / size * gradient);
      helped = next.error < best.error;
      if (helped) best = std::move(next);
    }
    if (!helped) break;
    step *= 4;
  }
  return best;
}

}  // namespace

Report check_construction(const Check& check) {
  Report report;
  constexpr arma::uword k = 64;
  double worst = 0;
  const double decisions = 6 * static_cast<double>(check.subjects.size());
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, 192);
    const auto n = static_cast<double>(problem.n());
    const arma::mat a = logits(problem, problem.K()), scores = softmax_rows(a);
    for (const auto& [what, v] : values_of(problem)) {
      for (const double delta : {1e-6, 1 / n, 1.0}) {
        const arma::mat exact = scores * v;
        ProbabilityClaim claim;
        claim.input = fmt::format("{} {} delta={:.3g}", subject.name, what, delta);
        claim.bound = kEpsilon;
        claim.delta = 2 * std::exp(-(kEpsilon * kEpsilon * (1 - kEpsilon)) * k / 4);
        claim.alpha = check.alpha / decisions;
        claim.most_trials = 400;
        Finding finding = decide_probability(check, claim, [&, &v = v](const Key& draw_key) {
          if (check.makes("no-compression")) return worst_ratio(scores * v, exact, scores, v);
          const GaussianSketch r(problem.n(), k, draw_key);
          const arma::mat weights = softmax_rows(delta * r.right(a));
          return worst_ratio(weights * (std::exp(-delta) * r.left(v)), exact, scores, v);
        });
        const GaussianSketch first(problem.n(), k, check.draw_key.child("weights"));
        const double uneven = arma::abs(static_cast<double>(k) * softmax_rows(delta * first.right(a)) - 1).max();
        finding.n = problem.n();
        finding.p = problem.p();
        finding.d = k;
        finding.hypotheses =
            fmt::format("eps = {}; delta = {:.3g}; max |k softmax(w E^T) - 1| = {:.3g}", kEpsilon, claim.delta, uneven);
        worst = std::max(worst, finding.observed);
        report.findings.push_back(std::move(finding));
      }
    }
  }
  report.number = worst;
  report.sentence = "largest error over ||softmax(w)|| ||V|| (claimed: 0.5): as delta -> 0 the weights become uniform";
  return report;
}

Report check_existence(const Check& check) {
  Report report;
  double worst = 0;
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, check.quick ? 96 : 192);
    const auto n = static_cast<double>(problem.n()), p = static_cast<double>(problem.p());
    const arma::mat scores = softmax_rows(logits(problem, problem.K())), exact = scores * problem.V();
    const double asked = std::min(9 * p * std::log(p), 5 * std::log(n)) / (kEpsilon * kEpsilon);
    for (const arma::uword k : {4, 16, 64}) {
      if (k >= problem.n()) continue;
      const Witness witness = best_witness(check, problem, exact, k);
      // E and F themselves, of E K = W and F V = Y; least norm, exact when K and V have full column rank.
      const arma::mat e = witness.keys * arma::pinv(problem.K()), f = witness.values * arma::pinv(problem.V());
      const arma::mat& left = check.makes("exchanged") ? f : e;
      const arma::mat& right = check.makes("exchanged") ? e : f;
      const arma::mat output = softmax_rows(logits(problem, left * problem.K())) * (right * problem.V());
      const double relative = arma::norm(output - exact, "fro") / arma::norm(exact, "fro");
      const double fitted = witness.error / arma::norm(exact, "fro");
      const bool realised = problem.n() >= std::max(problem.p(), problem.p_v()) &&
                            arma::rank(problem.K()) == problem.p() && arma::rank(problem.V()) == problem.p_v();
      Finding finding;
      finding.input = fmt::format("{} d={}", subject.name, k);
      finding.n = problem.n();
      finding.p = problem.p();
      finding.d = k;
      finding.estimate = finding.observed = relative;
      finding.bound = kEpsilon;
      // No number decides a statement with free constants. What can fail is the witness: E and F must do what the
      // search says, up to the rounding of two pseudo-inverses.
      const bool sound = !realised || !(relative > fitted + 1e-6);
      finding.verdict = sound ? Verdict::inconclusive : Verdict::refuted;
      finding.hypotheses = fmt::format(
          "k of the theorem with constants 1 = {:.0f}; error over ||softmax(w)|| ||V|| = {:.3g}; K and V of full rank "
          "= {}",
          asked, worst_ratio(output, exact, scores, problem.V()), realised ? "yes" : "no");
      if (k == 64) worst = std::max(worst, relative);
      report.findings.push_back(std::move(finding));
    }
  }
  report.number = worst;
  report.sentence = "worst ||O - O~||_F / ||O||_F of the best E, F found for k = 64; no constant is claimed";
  return report;
}

}  // namespace croquis::claims
