#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/linformer/checks.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/worst_case.hpp>
#include <croquis/sketch/gaussian.hpp>
#include <croquis/stats/intervals.hpp>

namespace croquis::claims {
namespace {

// (e^2 - e^3) k / 4: the exponent of the lemma.
double exponent(double epsilon, double k) {
  return (epsilon * epsilon - epsilon * epsilon * epsilon) * k / 4;
}

// R^T x with R = S^T (k x n), entries N(0, 1/k); without the 1/k in a mutant.
arma::mat embed(const Check& check, arma::uword k, const arma::mat& x, const Key& draw_key) {
  const arma::mat rx = GaussianSketch(x.n_rows, k, draw_key).left(x);
  return check.makes("no-scale") ? arma::mat(std::sqrt(static_cast<double>(k)) * rx) : rx;
}

// How much of the exponent of products a rung of the ladder claims.
double exponent_part(const Check& check) {
  return check.makes("twice") ? 2 : 1;
}

struct Pair {
  std::string name;
  arma::vec x, y;
  double cosine() const { return arma::norm_dot(x, y); }
};

// y with the part along x replaced so that the cosine of the two is c.
arma::vec turned(const arma::vec& x, const arma::vec& y, double c) {
  const arma::vec u = arma::normalise(x);
  const arma::vec across = arma::normalise(y - arma::dot(u, y) * u);
  return c * u + std::sqrt(1 - c * c) * across;
}

// Unit vectors that nothing hides behind: orthogonal, nearly so, and the same; and what Theorem 1 multiplies, a row of
// B and a column of V.
std::vector<Pair> pairs_of(const Check& check) {
  const arma::uword n = check.count("tokens");
  arma::vec first(n, arma::fill::zeros), second(n, arma::fill::zeros);
  first(0) = 1;
  second(1) = 1;
  std::vector<Pair> pairs = {{"x = e_1, y = e_2", first, second},
                             {"cosine 0.01", first, turned(first, second, 0.01)},
                             {"x = y = e_1", first, first}};
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, n);
    const arma::vec row = exact_scores(problem, Target::softmax).dense().row(0).t();
    pairs.push_back({subject.name + " row of B, column of V", row, problem.V().col(0)});
  }
  return pairs;
}

Report check_products(const Check& check, bool relative_to_product) {
  const arma::uword k = check.count("k");
  const double epsilon = check.value("epsilon");
  Report report;
  double worst = 0;
  const std::vector<Pair> pairs = pairs_of(check);
  for (const Pair& pair : pairs) {
    if (check.makes("same") && pair.cosine() < 0.999) continue;
    const double product = arma::dot(pair.x, pair.y), norms = arma::norm(pair.x) * arma::norm(pair.y);
    if (norms == 0) continue;
    ProbabilityClaim claim;
    claim.input = pair.name;
    claim.bound = epsilon * (relative_to_product ? std::abs(product) : norms);
    claim.delta =
        (check.makes("one-side") ? 1 : 2) * std::exp(-exponent_part(check) * exponent(epsilon, static_cast<double>(k)));
    claim.alpha = check.alpha / static_cast<double>(pairs.size());
    claim.most_trials = check.count("draws");
    const arma::mat both = arma::join_rows(pair.x, pair.y);
    Finding finding = decide_probability(check, claim, [&](const Key& draw_key) {
      const arma::mat r = embed(check, k, both, draw_key);
      return std::abs(arma::dot(r.col(0), r.col(1)) - product);
    });
    finding.n = pair.x.n_elem;
    finding.d = k;
    add_measured(finding,
                 fmt::format("eps = {}; delta = {:.3g}; cosine = {:.3g}", epsilon, claim.delta, pair.cosine()));
    if (!relative_to_product) judge_trivial(finding, {{"0 in the place of x R^T R y^T", std::abs(product)}});
    worst = std::max(worst, finding.estimate);
    report.findings.push_back(std::move(finding));
  }
  report.number = worst;
  return report;
}

}  // namespace

Report check_jl_norm(const Check& check) {
  Report report;
  // ||Rx||^2 / ||x||^2 is chi^2_k / k, so the failure is known: Q(k/2, k (1 + eps)^2 / 2).
  const double step = check.value("step of epsilon"), part = check.makes("four-times")   ? 4
                                                             : check.makes("five-times") ? 5
                                                                                         : 1;
  double least = std::numeric_limits<double>::infinity();
  for (const double k : check.values("exact k")) {
    double ratio = std::numeric_limits<double>::infinity();
    for (double epsilon = step; epsilon < 1 - step / 2; epsilon += step) {
      const double over = check.makes("no-scale") ? (1 + epsilon) * (1 + epsilon) / k : (1 + epsilon) * (1 + epsilon);
      const double failure = boost::math::gamma_q(k / 2.0, k * over / 2);
      ratio = std::min(ratio, -std::log(failure) / (part * exponent(epsilon, k)));
    }
    Finding finding = decide_identity(fmt::format("exact k={:g}", k), 1 / ratio, 1);
    finding.d = static_cast<arma::uword>(k);
    finding.hypotheses = "eps = 0.02 to 0.98; observed: exponent of the lemma over the exact one, at worst";
    least = std::min(least, ratio);
    report.findings.push_back(std::move(finding));
  }
  const arma::uword k = check.count("k");
  const double bound = check.value("epsilon"), decisions = 2 * static_cast<double>(check.subjects.size());
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, check.count("tokens"));
    const arma::vec row = exact_scores(problem, Target::softmax).dense().row(0).t(), column = problem.V().col(0);
    for (const auto& [name, x] : {std::pair<const char*, arma::vec>{"row of B", row}, {"column of V", column}}) {
      if (arma::norm(x) == 0) continue;
      ProbabilityClaim claim;
      claim.input = fmt::format("{} {}", subject.name, name);
      claim.bound = 1 + bound;
      claim.delta = std::exp(-part * exponent(bound, static_cast<double>(k)));
      claim.most_trials = check.count("draws");
      claim.alpha = check.alpha / decisions;
      Finding finding = decide_probability(check, claim, [&, &x = x](const Key& draw_key) {
        return arma::norm(embed(check, k, arma::mat(x), draw_key)) / arma::norm(x);
      });
      finding.n = x.n_elem;
      finding.d = k;
      add_measured(finding, fmt::format("eps = {}; delta = {:.3g}", bound, claim.delta));
      report.findings.push_back(std::move(finding));
    }
  }
  report.number = least;
  // (eps^2 - eps^3 / 3) / ((eps^2 - eps^3) / 4) -> 4 as eps -> 0: T3 proves 4.
  report.sentence = "smallest ratio of the exact exponent to the lemma's (eps^2 - eps^3) k / 4, eps < 1, k = 1 to 1024";
  add_worst(report, check, "lin.jl-norm", 4 / part, 1 / part);
  return report;
}

Report check_jl_product_strict(const Check& check) {
  Report report = check_products(check, true);
  report.sentence =
      fmt::format("worst failure rate, allowed {:.3f}: |xy| is no scale for x and y that are nearly orthogonal",
                  2 * std::exp(-exponent(check.value("epsilon"), check.value("k"))));
  return report;
}

Report check_jl_product_corrected(const Check& check) {
  Report report = check_products(check, false);
  // x = y: x R^T R x^T / ||x||^2 is chi^2_k / k, so the failure is known. Its exponent over the bound's at eps -> 0.
  double least = std::numeric_limits<double>::infinity();
  for (const double k : check.values("exact k")) {
    for (const double epsilon : check.values("exact epsilon")) {
      const double failure =
          boost::math::gamma_q(k / 2, k * (1 + epsilon) / 2) + boost::math::gamma_p(k / 2, k * (1 - epsilon) / 2);
      if (failure > 0) least = std::min(least, -std::log(failure / 2) / exponent(epsilon, k));
    }
  }
  report.sentence = fmt::format(
      "worst failure rate, allowed {:.3f}; at x = y and eps = 10^-4, k = 10^10 the exact exponent is {:.3g} of the "
      "bound's",
      2 * std::exp(-exponent(check.value("epsilon"), check.value("k"))), least);
  add_worst(report, check, "lin.jl-product", 1 / exponent_part(check), 1 / exponent_part(check));
  return report;
}

}  // namespace croquis::claims
