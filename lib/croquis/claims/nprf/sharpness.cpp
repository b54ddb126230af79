// How sharp attention is for rows of bounded norm, with a bias and without: rpe.sharp.
#include <fmt/format.h>

#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/random/draws.hpp>

namespace croquis::claims {
namespace {

// The largest softmax weight of the scores radius^2 q.k_j, rows of unit length.
double largest_weight(const arma::mat& q, const arma::mat& k, double radius) {
  double largest = 0;
  for (arma::uword i = 0; i < q.n_rows; ++i) {
    arma::vec scores = radius * radius * k * q.row(i).t();
    scores = arma::exp(scores - scores.max());
    raise(largest, scores.max() / arma::accu(scores));
  }
  return largest;
}

// The smallest weight of key i for query i, with the bias on it.
double least_own_weight(const arma::mat& q, const arma::mat& k, double bias) {
  double least = 1;
  for (arma::uword i = 0; i < q.n_rows; ++i) {
    arma::vec scores = k * q.row(i).t();
    scores(i) += bias;
    scores = arma::exp(scores - scores.max());
    lower(least, scores(i) / arma::accu(scores));
  }
  return least;
}

struct Case {
  std::string name;
  arma::mat q, k;  // rows of unit length
};

std::vector<Case> cases_of(const Check& check, arma::uword n) {
  std::vector<Case> all;
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, n);
    all.push_back({subject.name, unit_rows(problem.Q()), unit_rows(problem.K())});
  }
  arma::mat q(1, 8), k(n, 8);
  fill_normal(check.draw_key.child("pole"), 0, q.n_elem, q.memptr());
  q = unit_rows(q);
  for (arma::uword j = 0; j < n; ++j) k.row(j) = j == 0 ? q.row(0) : arma::rowvec(-q.row(0));
  all.push_back({"k_1 = q, the others -q", q, k});
  all.push_back({"k_1 = -q, the others q", q, -k});
  return all;
}

}  // namespace

Report check_sharp_norms(const Check& check) {
  const arma::uword n = std::min(check.count("tokens"), check.subjects.front().problem.n());
  Report report;
  double tightest = 0;
  for (const Case& on : cases_of(check, n)) {
    const auto keys = static_cast<double>(on.k.n_rows);
    for (const double radius : check.values("R")) {
      double allowed = 1 / (1 + (keys - 1) * std::exp(-2 * radius * radius));
      if (check.makes("half-exponent")) allowed = 1 / (1 + (keys - 1) * std::exp(-radius * radius));
      const double used = check.makes("norms-doubled") ? 2 * radius : radius;
      const double weight = largest_weight(on.q, on.k, used);
      Finding finding = decide_bound(fmt::format("{} R={:g}", on.name, radius), weight, allowed * (1 + 1e-12));
      finding.n = on.k.n_rows;
      // Weight 1 - tau needs R^2 >= log((n-1)(1-tau)/tau) / 2.
      finding.hypotheses = fmt::format("R = {:g}; R for a weight of 0.9 at least = {:.4g}", radius,
                                       std::sqrt(std::log((keys - 1) * 9) / 2));
      tightest = std::max(tightest, weight / allowed);
      report.findings.push_back(std::move(finding));
    }
  }
  report.number = 1 / (1 + (static_cast<double>(n) - 1) * std::exp(-2.0));
  report.sentence = fmt::format("largest weight at R = 1, n = {}; attained to {:.6f}", n, tightest);
  report.tightness = {1, 1 / tightest};
  return report;
}

Report check_sharp_bias(const Check& check) {
  const arma::uword n = std::min(check.count("tokens"), check.subjects.front().problem.n());
  Report report;
  double least = 1, loosest = 0;
  for (const Case& on : cases_of(check, n)) {
    const auto keys = static_cast<double>(on.k.n_rows);
    for (const double bias : check.values("b_0")) {
      const double stated = 1 / (1 + (keys - 1) * std::exp(2 - bias));
      const double weight = least_own_weight(on.q, on.k, check.makes("bias-clipped") ? std::min(bias, 1.0) : bias);
      Finding finding = decide_bound(fmt::format("{} b_0={:g}", on.name, bias), -weight, -stated * (1 - 1e-12));
      finding.n = on.k.n_rows;
      finding.estimate = weight;
      loosest = std::max(loosest, stated / weight);
      if (bias == check.values("b_0").back()) least = std::min(least, weight);
      report.findings.push_back(std::move(finding));
    }
  }
  report.number = least;
  report.sentence =
      "smallest weight of a token on itself with b_0 = 20, R = 1: any weight below 1 is reached by a large b_0";
  report.tightness = {1, 1 / loosest};
  return report;
}

}  // namespace croquis::claims
