// Approximate products by sampled columns: Proposition 1.
#include <fmt/format.h>

#include <cmath>
#include <croquis/attention/sampled_columns.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skeinformer/checks.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/sampling/pilot.hpp>
#include <croquis/sketch/importance_sampling.hpp>

namespace croquis::claims {
namespace {

constexpr arma::uword kTokens = 128;
constexpr double kDelta = 0.05;

// eta^2 / beta: the bound without d and the norms.
double factor_of(double beta) {
  const double eta = 1 + std::sqrt(8 / beta * std::log(1 / kDelta));
  return eta * eta / beta;
}

struct Example {
  std::string name;
  Problem<double> problem;
  arma::mat b = softmax_transposed(problem.Q(), problem.K()).t();
  arma::mat output = b * problem.V();
  double norms = std::pow(frobenius_norm(b) * frobenius_norm(problem.V()), 2);
  /// ||B^(i)|| ||V_i||: the best probabilities times a constant.
  arma::vec best = arma::sqrt(arma::sum(arma::square(b), 0).t() % arma::sum(arma::square(problem.V()), 1));

  /// Quality of probabilities p_i ~ w_i: the largest beta <= 1 with p_i >= beta best_i / sum best.
  double quality(const arma::vec& w) const {
    const arma::uvec needed = arma::find(best > 0);
    if (needed.is_empty()) return 1;
    return std::min(1.0, arma::min(w(needed) / best(needed)) * arma::accu(best) / arma::accu(w));
  }
  /// ||B V||_F^2, what the approximation 0 is off by, over ||B||_F^2 ||V||_F^2.
  double trivial() const { return std::pow(frobenius_norm(output), 2) / norms; }
};

// Values with a common part, and one key that takes half of every row and has the largest value: B V is large beside
// ||B||_F ||V||_F, so that the bound says something for d <= n.
std::vector<Example> own_examples(const Key& draw_key) {
  const auto flat = gaussian_input(draw_key.child("common value"), {kTokens, 16, 1});
  const arma::mat common = 1 + 0.5 * flat.V();
  arma::mat keys = flat.K(), values = flat.V(), queries = flat.Q();
  queries.col(0).fill(2);
  keys.row(0).zeros();
  keys(0, 0) = 2 * std::log(static_cast<double>(kTokens));  // its score is log n
  values.row(0).fill(std::sqrt(static_cast<double>(kTokens)));
  return {{"common value", {flat.Q(), flat.K(), common}}, {"heavy key", {queries, keys, values}}};
}

enum class Probabilities { exact, pilot, uniform };

arma::vec weights_of(const Example& e, Probabilities kind, arma::uword d, const Key& draw_key) {
  if (kind == Probabilities::exact) return e.best;
  if (kind == Probabilities::uniform) return arma::vec(e.problem.n(), arma::fill::ones);
  return pilot_sample(e.problem.Q(), e.problem.K(), e.problem.V(), d, draw_key.child("pilot")).weights;
}

// ||BV - B S S^T V||_F^2 over ||B||_F^2 ||V||_F^2, by the library's estimator or a mistaken one.
double error_of(const Check& check, const Example& e, const PreparedMethod<double>& method, const arma::vec& weights,
                arma::uword d, const Key& draw_key) {
  arma::mat output;
  if (check.mutant.empty()) {
    output = method.approximate(d, draw_key).output;
  } else {
    // S S^T is diagonal: the sum of 1 / (d p_i) over the draws of i.
    const ImportanceSampling s(weights, d, draw_key.child("columns"));
    arma::vec diagonal(e.problem.n(), arma::fill::zeros);
    for (arma::uword j = 0; j < d; ++j) {
      const double entry = s.entries()(j) * s.entries()(j);
      if (check.makes("weights-swapped")) diagonal(s.indices()(j)) += 1 / entry / static_cast<double>(d);
      if (check.makes("sum-for-mean")) diagonal(s.indices()(j)) += entry * static_cast<double>(d);
    }
    output = e.b * arma::diagmat(diagonal) * e.problem.V();
  }
  return std::pow(frobenius_norm<double>(output - e.output), 2) / e.norms;
}

Finding finding_of(const Check& check, const Example& e, Probabilities kind, arma::uword d, double alpha) {
  static const char* const names[] = {"exact", "pilot", "uniform"};
  const char* name = names[static_cast<int>(kind)];
  const auto method = prepare(find_method<double>("sampled-columns"), e.problem,
                              OptionValues(std::map<std::string, std::string>{{"p", name}}));
  if (!(e.norms > 0)) {
    Finding zero;
    zero.input = fmt::format("{} {} d={}", e.name, name, d);
    zero.verdict = Verdict::not_applicable;
    zero.hypotheses = "V = 0";
    return zero;
  }
  std::vector<double> betas;
  for (std::uint64_t t = 0; t < (kind == Probabilities::pilot ? 51 : 1); ++t) {
    betas.push_back(e.quality(weights_of(e, kind, d, check.draw_key.child("beta").child(t))));
  }
  const double beta = quantile_of(betas, 0.5), bound = factor_of(beta) / static_cast<double>(d);
  Finding finding = decide_probability(check, {fmt::format("{} {} d={}", e.name, name, d), 1, kDelta, alpha, 8000},
                                       [&](const Key& draw_key) {
                                         const arma::vec weights = weights_of(e, kind, d, draw_key);
                                         const double quality = e.quality(weights);
                                         if (!(quality > 0))
                                           return 0.0;  // no beta in (0, 1]: the proposition says nothing of this draw
                                         const double allowed = factor_of(quality) / static_cast<double>(d);
                                         return error_of(check, e, method, weights, d, draw_key) / allowed;
                                       });
  finding.n = e.problem.n();
  finding.p = e.problem.p();
  finding.d = d;
  const std::string found = std::move(finding.hypotheses);
  finding.hypotheses = fmt::format("beta = {:.4g}; bound / (||B||_F^2 ||V||_F^2) = {:.4g}; of B V itself = {:.4g}",
                                   beta, bound, e.trivial());
  if (!found.empty()) finding.hypotheses += "; " + found;
  if (finding.verdict == Verdict::verified && !(bound < e.trivial())) finding.verdict = Verdict::vacuous;
  return finding;
}

}  // namespace

Report check_product(const Check& check) {
  std::vector<Example> examples;
  for (const Subject& subject : check.subjects) {
    examples.push_back({subject.name, first_tokens(subject.problem, kTokens)});
  }
  if (!check.own_input) {
    for (Example& e : own_examples(check.draw_key.child("examples"))) examples.push_back(std::move(e));
  }
  const arma::uword n = examples.front().problem.n();
  const std::vector<arma::uword> sizes =
      check.quick || n < 2 ? std::vector<arma::uword>{n} : std::vector<arma::uword>{(n + 1) / 2, n};
  Report report;
  double slack = std::numeric_limits<double>::infinity();
  int useful = 0;
  for (const Example& e : examples) {
    for (const Probabilities kind : {Probabilities::exact, Probabilities::pilot, Probabilities::uniform}) {
      for (const arma::uword d : sizes) {
        const double alpha = check.alpha / static_cast<double>(3 * sizes.size() * examples.size());
        report.findings.push_back(finding_of(check, e, kind, d, alpha));
        const Finding& f = report.findings.back();
        if (f.observed > 0) slack = std::min(slack, f.bound / f.observed);
        if (f.verdict == Verdict::verified) ++useful;
      }
    }
  }
  report.number = slack;
  report.sentence = fmt::format("smallest bound / observed 95 % quantile; it is below ||BV||_F^2 in {} of {}", useful,
                                report.findings.size());
  return report;
}

}  // namespace croquis::claims
