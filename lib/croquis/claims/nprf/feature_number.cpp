// How many features softmax attention needs: Theorem 3.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/features/feature_pair.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/stats/intervals.hpp>
#include <croquis/stats/search.hpp>

namespace croquis::claims {
namespace {

constexpr arma::uword kKeys = 8, kWidth = 8;
constexpr double kDelta = 0.1;

struct Setting {
  double radius, epsilon;
  /// n e^{4 R^2} / (eps^2 delta)
  double features() const {
    return std::ceil(static_cast<double>(kKeys) * std::exp(4 * radius * radius) / (epsilon * epsilon * kDelta));
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
    const Problem<double> own = first_tokens(check.subjects.front().problem, kKeys);
    all.push_back({check.subjects.front().name, to_radius(own.Q().row(0), radius), to_radius(own.K(), radius)});
    return all;
  }
  arma::mat query(1, kWidth), keys(kKeys, kWidth);
  fill_normal(check.draw_key.child("query"), 0, query.n_elem, query.memptr());
  fill_normal(check.draw_key.child("keys"), 0, keys.n_elem, keys.memptr());
  if (!check.quick) all.push_back({"sphere", to_radius(query, radius), to_radius(keys, radius)});
  query.ones();
  for (arma::uword j = 0; j < kKeys; ++j) keys.row(j) = (j < kKeys / 2 ? 1.0 : -1.0) * query;
  all.push_back({"poles", to_radius(query, radius), to_radius(keys, radius)});
  return all;
}

// ||A - A^||_1 of one draw with m features; A = softmax(q.k_j), no 1/sqrt(p).
double error_of(const Check& check, const Points& points, arma::uword m, const Key& draw_key) {
  const arma::vec scores = points.keys * points.query.t();
  arma::vec exact = arma::exp(scores - scores.max());
  exact /= arma::accu(exact);
  const arma::mat query = check.makes("sign-turned") ? arma::mat(-points.query) : points.query;
  // One direction for all features: as many features, no more information.
  const arma::uword drawn = check.makes("one-direction") ? 1 : m;
  const auto phi = FeaturePair<double>(query, points.keys, drawn, {}, draw_key).matrices();
  arma::vec estimate = phi.keys * phi.queries.t();
  estimate /= arma::accu(estimate);
  return arma::accu(arma::abs(exact - estimate));
}

// The fewest features with which 90 % of 400 draws are within 4 eps, to 5 %, and the rate of the others there with its
// interval; `most` when no fewer do.
struct Smallest {
  double features = 0;
  std::string text;
};

Smallest smallest_features(const Check& check, const Points& points, const Setting& setting, double most) {
  const std::uint64_t trials = check.trials(400);
  const auto failures = [&](double features) {
    const auto d = static_cast<arma::uword>(std::ceil(features));
    const std::vector<double> errors =
        run_trials(check, fmt::format("smallest {} {} {}", points.name, setting.radius, d), trials,
                   [&](const Key& draw_key) { return error_of(check, points, d, draw_key); });
    return static_cast<std::uint64_t>(
        std::count_if(errors.begin(), errors.end(), [&](double e) { return !(e <= 4 * setting.epsilon); }));
  };
  const double found = std::ceil(smallest_sufficient(1, most, 0.05, [&](double features) {
    return static_cast<double>(failures(features)) <= kDelta * static_cast<double>(trials);
  }));
  const Interval rate = clopper_pearson(failures(found), trials, 1e-3);
  return {found, fmt::format("smallest m {} {:.0f}, where a share of {:.3g} to {:.3g} fails (99.9 %)",
                             found < most ? "=" : ">=", found, rate.lo, rate.hi)};
}

std::string text_of(const Setting& setting, const Points& points) {
  const double longest =
      std::max(arma::norm(points.query), std::sqrt(arma::max(arma::sum(arma::square(points.keys), 1))));
  return fmt::format("R = {:g}; 4 eps = {:g}; largest ||q|| or ||k_j|| = {:.6g}; m = {:.4g}", setting.radius,
                     4 * setting.epsilon, longest, setting.features());
}

// For R at which m features cannot be drawn: how many do.
Finding measured_finding(const Check& check, const Points& points, const Setting& setting, double* ratio) {
  constexpr double most = 2e5;
  const Smallest smallest = smallest_features(check, points, setting, most);
  Finding finding;
  finding.input = fmt::format("{} R={:g} eps={:g} measured", points.name, setting.radius, setting.epsilon);
  finding.verdict = Verdict::not_applicable;
  finding.n = points.keys.n_rows;
  finding.p = points.keys.n_cols;
  finding.estimate = smallest.features;
  finding.hypotheses = text_of(setting, points) + "; " + smallest.text;
  *ratio = setting.features() / smallest.features;
  return finding;
}

}  // namespace

Report check_feature_number(const Check& check) {
  // 4 eps is 0.4 and 1, of 2 that two distributions can differ by.
  std::vector<Setting> settings = {{0.25, 0.1}, {0.5, 0.1}};
  std::vector<Setting> large;
  if (!check.quick) {
    settings.insert(settings.end(), {{0.75, 0.1}, {1, 0.25}});
    large = {{1, 0.1}, {1.5, 0.1}, {2, 0.1}};
  }
  const std::size_t decisions = settings.size() * points_of(check, 1).size();
  Report report;
  double most = 0, least = std::numeric_limits<double>::infinity();
  const auto seen = [&](double ratio) {
    most = std::max(most, ratio);
    least = std::min(least, ratio);
  };
  for (const Setting& setting : settings) {
    for (const Points& points : points_of(check, setting.radius)) {
      const auto m = static_cast<arma::uword>(setting.features());
      Finding finding =
          decide_probability(check,
                             {fmt::format("{} R={:g} eps={:g}", points.name, setting.radius, setting.epsilon),
                              4 * setting.epsilon, kDelta, check.alpha / static_cast<double>(decisions), 4000},
                             [&](const Key& draw_key) { return error_of(check, points, m, draw_key); });
      finding.n = points.keys.n_rows;
      finding.p = points.keys.n_cols;
      finding.d = m;
      std::string text = text_of(setting, points);
      if (check.mutant.empty()) {
        const Smallest smallest = smallest_features(check, points, setting, setting.features());
        text += "; " + smallest.text;
        seen(setting.features() / smallest.features);
      }
      if (!finding.hypotheses.empty()) text += "; " + finding.hypotheses;
      finding.hypotheses = std::move(text);
      report.findings.push_back(std::move(finding));
    }
  }
  for (const Setting& setting : large) {
    for (const Points& points : points_of(check, setting.radius)) {
      double ratio = 0;
      report.findings.push_back(measured_finding(check, points, setting, &ratio));
      seen(ratio);
    }
  }
  report.number = least;
  report.sentence =
      fmt::format("smallest (m of the theorem) / (m that suffices), the largest is {:.2g}; R = 1/4 ... {:g}", most,
                  large.empty() ? settings.back().radius : large.back().radius);
  return report;
}

}  // namespace croquis::claims
