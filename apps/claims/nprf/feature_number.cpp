// How many features softmax attention needs: Theorem 3.
#include <fmt/format.h>

#include <cmath>
#include <croquis/features/feature_pair.hpp>

#include "claims/decisions.hpp"
#include "claims/nprf/checks.hpp"

using croquis::Stream;
using croquis::Verdict;

namespace {

constexpr arma::uword kKeys = 16, kWidth = 8;
constexpr double kDelta = 0.1;

struct Setting {
  double radius, epsilon;
  /// n e^{4 R^2} / (eps^2 delta)
  arma::uword features() const {
    return static_cast<arma::uword>(
        std::ceil(static_cast<double>(kKeys) * std::exp(4 * radius * radius) / (epsilon * epsilon * kDelta)));
  }
};

struct Points {
  std::string name;
  arma::mat query, keys;  // 1 x p, n x p, rows of length R at most
};

arma::mat to_radius(const arma::mat& x, double radius) {
  arma::mat y = x;
  for (arma::uword i = 0; i < y.n_rows; ++i) {
    if (arma::norm(y.row(i)) > 0) y.row(i) *= radius / arma::norm(y.row(i));
  }
  return y;
}

// Uniform on the sphere, as the paper's simulation; and the worst that the bound has in mind: half of the keys equal to
// the query, ||q + k|| = 2R, half opposite.
std::vector<Points> points_of(const Check& check, double radius) {
  std::vector<Points> all;
  if (check.own_input) {
    const croquis::Problem<double> own = first_tokens(check.subjects.front().problem, kKeys);
    all.push_back({check.subjects.front().name, to_radius(own.Q().row(0), radius), to_radius(own.K(), radius)});
    return all;
  }
  arma::mat query(1, kWidth), keys(kKeys, kWidth);
  croquis::fill_normal(check.stream.child("query"), 0, query.n_elem, query.memptr());
  croquis::fill_normal(check.stream.child("keys"), 0, keys.n_elem, keys.memptr());
  if (!check.quick) all.push_back({"sphere", to_radius(query, radius), to_radius(keys, radius)});
  query.ones();
  for (arma::uword j = 0; j < kKeys; ++j) keys.row(j) = (j < kKeys / 2 ? 1.0 : -1.0) * query;
  all.push_back({"poles", to_radius(query, radius), to_radius(keys, radius)});
  return all;
}

// ||A - A^||_1 of one draw with m features; A = softmax(q.k_j), no 1/sqrt(p).
double error_of(const Check& check, const Points& points, arma::uword m, const Stream& stream) {
  const arma::vec scores = points.keys * points.query.t();
  arma::vec exact = arma::exp(scores - scores.max());
  exact /= arma::accu(exact);
  const arma::mat query = check.makes("sign-turned") ? arma::mat(-points.query) : points.query;
  // One direction for all features: as many features, no more information.
  const arma::uword drawn = check.makes("one-direction") ? 1 : m;
  const auto phi = croquis::FeaturePair<double>(query, points.keys, drawn, {}, stream).matrices();
  arma::vec estimate = phi.keys * phi.queries.t();
  estimate /= arma::accu(estimate);
  return arma::accu(arma::abs(exact - estimate));
}

}  // namespace

Report check_feature_number(const Check& check) {
  // 4 eps is 0.4 and 1, of 2 that two distributions can differ by.
  std::vector<Setting> settings = {{0.25, 0.1}, {0.5, 0.1}};
  if (!check.quick) settings.insert(settings.end(), {{0.75, 0.1}, {1, 0.25}});
  const std::size_t decisions = settings.size() * points_of(check, 1).size();
  Report report;
  double most = 0, least = std::numeric_limits<double>::infinity();
  for (const Setting& setting : settings) {
    for (const Points& points : points_of(check, setting.radius)) {
      const arma::uword m = setting.features();
      const double allowed = 4 * setting.epsilon;
      Finding finding =
          decide_probability(check,
                             {fmt::format("{} R={:g} eps={:g}", points.name, setting.radius, setting.epsilon), allowed,
                              kDelta, check.alpha / static_cast<double>(decisions), 4000},
                             [&](const Stream& stream) { return error_of(check, points, m, stream); });
      finding.n = points.keys.n_rows;
      finding.p = points.keys.n_cols;
      finding.d = m;
      std::string more;
      if (check.mutant.empty()) {
        const double smallest = smallest_sufficient(1, static_cast<double>(m), 0.05, [&](double features) {
          const auto d = static_cast<arma::uword>(std::ceil(features));
          return quantile_of(run_trials(check, fmt::format("smallest {} {}", finding.input, d), check.trials(400),
                                        [&](const Stream& stream) { return error_of(check, points, d, stream); }),
                             1 - kDelta) <= allowed;
        });
        most = std::max(most, static_cast<double>(m) / std::ceil(smallest));
        least = std::min(least, static_cast<double>(m) / std::ceil(smallest));
        more = fmt::format("; smallest m = {:.0f}", std::ceil(smallest));
      }
      finding.hypotheses = fmt::format(
          "R = {:g}; 4 eps = {:g}; largest ||q|| or ||k_j|| = {:.6g}; m = {}{}{}", setting.radius, allowed,
          std::max(arma::norm(points.query), arma::max(arma::sqrt(arma::sum(arma::square(points.keys), 1)))), m, more,
          finding.hypotheses.empty() ? "" : "; " + finding.hypotheses);
      report.findings.push_back(std::move(finding));
    }
  }
  report.number = least;
  report.sentence =
      fmt::format("smallest (m of the theorem) / (m that suffices), the largest is {:.2g}; n = 16, R <= {:g}", most,
                  settings.back().radius);
  return report;
}
