#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/linformer/checks.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/sketch/gaussian.hpp>
#include <croquis/stats/intervals.hpp>
#include <croquis/stats/search.hpp>

namespace croquis::claims {
namespace {

constexpr double kEpsilon = 0.5;

// (e^2 - e^3) k / 4: the exponent of the lemma.
double exponent(double epsilon, double k) {
  return (epsilon * epsilon - epsilon * epsilon * epsilon) * k / 4;
}

// R^T x with R = S^T (k x n), entries N(0, 1/k); without the 1/k in a mutant.
arma::mat embed(const Check& check, arma::uword k, const arma::mat& x, const Key& draw_key) {
  const arma::mat rx = GaussianSketch(x.n_rows, k, draw_key).left(x);
  return check.makes("no-scale") ? arma::mat(std::sqrt(static_cast<double>(k)) * rx) : rx;
}

arma::mat scores_of(const Problem<double>& problem) {
  return exact_scores(problem, Target::softmax).dense();
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

// What the theorem multiplies: a row of B and a column of V; the same column less its mean; and the row with a vector
// nearly orthogonal to it.
std::vector<Pair> pairs_of(const Subject& subject) {
  const Problem<double> problem = first_tokens(subject.problem, 128);
  const arma::vec x = scores_of(problem).row(0).t(), y = problem.V().col(0);
  return {{"row of B, column of V", x, y},
          {"row of B, centred column of V", x, y - arma::mean(y)},
          {"row of B, cosine 0.01", x, turned(x, y, 0.01)},
          {"row of B with itself", x, x}};
}

Report check_products(const Check& check, bool relative_to_product) {
  constexpr arma::uword k = 128;
  Report report;
  double worst = 0;
  const double decisions = 4 * static_cast<double>(check.subjects.size());
  for (const Subject& subject : check.subjects) {
    for (const Pair& pair : pairs_of(subject)) {
      if (check.makes("harmless") && pair.cosine() < 0.999) continue;
      const double product = arma::dot(pair.x, pair.y), norms = arma::norm(pair.x) * arma::norm(pair.y);
      const double allowed = relative_to_product && !check.makes("norms") ? std::abs(product) : norms;
      if (norms == 0) continue;
      ProbabilityClaim claim;
      claim.input = fmt::format("{} {}", subject.name, pair.name);
      claim.bound = kEpsilon * allowed;
      claim.delta = 2 * std::exp(-exponent(kEpsilon, k));
      claim.alpha = check.alpha / decisions;
      claim.most_trials = 4000;
      const arma::mat both = arma::join_rows(pair.x, pair.y);
      Finding finding = decide_probability(check, claim, [&](const Key& draw_key) {
        const arma::mat r = embed(check, k, both, draw_key);
        return std::abs(arma::dot(r.col(0), r.col(1)) - product);
      });
      finding.n = pair.x.n_elem;
      finding.d = k;
      const std::string measured =
          fmt::format("eps = {}; delta = {:.3g}; cosine = {:.3g}", kEpsilon, claim.delta, pair.cosine());
      finding.hypotheses = finding.hypotheses.empty() ? measured : measured + "; " + finding.hypotheses;
      worst = std::max(worst, finding.estimate);
      report.findings.push_back(std::move(finding));
    }
  }
  report.number = worst;
  return report;
}

// Right vectors w of Theorem 1: a column of V, the same less its mean, and the right singular vector that P shrinks
// most.
std::vector<std::pair<std::string, arma::vec>> vectors_of(const Problem<double>& problem, const arma::mat& scores) {
  const arma::vec w = problem.V().col(0);
  arma::mat vectors;
  arma::vec values;
  arma::eig_sym(values, vectors, arma::mat(scores.t() * scores));
  return {{"column of V", w}, {"centred column of V", w - arma::mean(w)}, {"least singular vector", vectors.col(0)}};
}

// Failures of ||P R^T R w - P w|| <= eps |allowed| over the draws of R.
Report check_low_rank(const Check& check, bool relative_to_product) {
  Report report;
  double worst = 0, loosest = 0;
  const double decisions = 3 * static_cast<double>(check.subjects.size());
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, check.quick ? 256 : 512);
    const auto n = static_cast<double>(problem.n());
    const double asked = 5 * std::log(n) / (kEpsilon * kEpsilon * (1 - kEpsilon));
    const auto k = static_cast<arma::uword>(std::ceil(asked));
    const arma::mat scores = scores_of(problem);
    const double frobenius = frobenius_norm(scores);
    for (const auto& [name, w] : vectors_of(problem, scores)) {
      const arma::vec product = scores * w;
      const bool to_product = relative_to_product && !check.makes("norms");
      ProbabilityClaim claim;
      claim.input = fmt::format("{} {}", subject.name, name);
      claim.bound = kEpsilon * (to_product ? arma::norm(product) : frobenius * arma::norm(w));
      claim.delta = 2 * n * std::exp(-exponent(kEpsilon, asked));
      claim.alpha = check.alpha / decisions;
      claim.most_trials = 4000;
      // At k features, from the random key's first ones: errors at different k are those of one sequence of draws.
      const auto error = [&, &w = w](arma::uword features, const Key& draw_key) {
        const GaussianSketch sketch(w.n_elem, features, draw_key);
        const double scale = check.makes("no-scale") ? static_cast<double>(features) : 1;
        return arma::norm(scores * (scale * sketch.expand(arma::mat(sketch.left(arma::mat(w)))).col(0)) - product);
      };
      Finding finding;
      if (k > problem.n() || arma::norm(w) == 0) {
        finding.input = claim.input;
        finding.verdict = Verdict::vacuous;
        finding.hypotheses = fmt::format("k = {} of at most n = {}", k, problem.n());
      } else {
        finding = decide_probability(check, claim, [&](const Key& draw_key) { return error(k, draw_key); });
        const std::string measured =
            fmt::format("eps = {}; delta = {:.3g}; ||Pw|| / (||P||_F ||w||) = {:.3g}", kEpsilon, claim.delta,
                        arma::norm(product) / (frobenius * arma::norm(w)));
        finding.hypotheses = finding.hypotheses.empty() ? measured : measured + "; " + finding.hypotheses;
        worst = std::max(worst, finding.estimate);
      }
      finding.n = problem.n();
      finding.p = problem.p();
      finding.d = k;
      if (!relative_to_product && finding.verdict == Verdict::verified && name == "column of V") {
        // The fewest features at which 200 draws fail at most as often as the theorem allows.
        const std::uint64_t trials = check.trials(200);
        const auto rate = [&](double features) {
          const auto errors = run_trials(check, claim.input, trials, [&](const Key& draw_key) {
            return error(static_cast<arma::uword>(std::ceil(features)), draw_key);
          });
          return static_cast<double>(
                     std::count_if(errors.begin(), errors.end(), [&](double e) { return !(e <= claim.bound); })) /
                 static_cast<double>(trials);
        };
        const double enough = std::ceil(
            smallest_sufficient(1, static_cast<double>(k), 0.05, [&](double f) { return rate(f) <= claim.delta; }));
        finding.hypotheses += fmt::format("; k that suffices = {:.0f}", enough);
        loosest = std::max(loosest, enough / asked);
      }
      report.findings.push_back(std::move(finding));
    }
  }
  report.number = relative_to_product ? worst : loosest;
  return report;
}

}  // namespace

Report check_jl_norm(const Check& check) {
  Report report;
  // ||Rx||^2 / ||x||^2 is chi^2_k / k, so the failure is known: Q(k/2, k (1 + eps)^2 / 2).
  double least = std::numeric_limits<double>::infinity();
  for (const int k : {1, 2, 4, 16, 64, 256, 1024}) {
    double ratio = std::numeric_limits<double>::infinity();
    for (double epsilon = 0.02; epsilon < 0.995; epsilon += 0.02) {
      const double over = check.makes("no-scale") ? (1 + epsilon) * (1 + epsilon) / k : (1 + epsilon) * (1 + epsilon);
      const double failure = boost::math::gamma_q(k / 2.0, k * over / 2);
      ratio = std::min(ratio, -std::log(failure) / exponent(epsilon, k));
    }
    Finding finding = decide_identity(fmt::format("exact k={}", k), 1 / ratio, 1);
    finding.d = k;
    finding.hypotheses = "eps = 0.02 to 0.98; observed: exponent of the lemma over the exact one, at worst";
    least = std::min(least, ratio);
    report.findings.push_back(std::move(finding));
  }
  constexpr arma::uword k = 32;
  const double decisions = 2 * static_cast<double>(check.subjects.size());
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, 256);
    const arma::vec row = scores_of(problem).row(0).t(), column = problem.V().col(0);
    for (const auto& [name, x] : {std::pair<const char*, arma::vec>{"row of B", row}, {"column of V", column}}) {
      if (arma::norm(x) == 0) continue;
      ProbabilityClaim claim;
      claim.input = fmt::format("{} {}", subject.name, name);
      claim.bound = 1 + kEpsilon;
      claim.delta = std::exp(-exponent(kEpsilon, k));
      claim.alpha = check.alpha / decisions;
      Finding finding = decide_probability(check, claim, [&, &x = x](const Key& draw_key) {
        return arma::norm(embed(check, k, arma::mat(x), draw_key)) / arma::norm(x);
      });
      finding.n = x.n_elem;
      finding.d = k;
      finding.hypotheses = fmt::format("eps = {}; delta = {:.3g}", kEpsilon, claim.delta);
      report.findings.push_back(std::move(finding));
    }
  }
  report.number = least;
  report.sentence = "smallest ratio of the exact exponent to the lemma's (eps^2 - eps^3) k / 4, eps < 1, k = 1 to 1024";
  return report;
}

Report check_jl_product_stated(const Check& check) {
  Report report = check_products(check, true);
  report.sentence =
      fmt::format("worst failure rate, allowed {:.3f}: |xy| is no scale for x and y that are nearly orthogonal",
                  2 * std::exp(-exponent(kEpsilon, 128)));
  return report;
}

Report check_jl_product_corrected(const Check& check) {
  Report report = check_products(check, false);
  report.sentence =
      fmt::format("worst failure rate, allowed {:.3f}, with eps ||x|| ||y|| for eps |xy|; k = 128, eps = 0.5",
                  2 * std::exp(-exponent(kEpsilon, 128)));
  return report;
}

Report check_low_rank_stated(const Check& check) {
  Report report = check_low_rank(check, true);
  report.sentence = "worst failure rate at k = 5 log n / (eps^2 - eps^3): P w can be small where ||P||_F ||w|| is not";
  return report;
}

Report check_low_rank_corrected(const Check& check) {
  Report report = check_low_rank(check, false);
  report.sentence =
      "of the k = 5 log n / (eps^2 - eps^3) that the proof asks for, the largest share that an input needs";
  return report;
}

}  // namespace croquis::claims
