// How many features softmax attention needs: Theorem 3, as printed and sharper.
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/claims/nprf/few_keys.hpp>
#include <croquis/claims/worst_case.hpp>
#include <functional>

namespace croquis::claims {
namespace {

// A number of features for ||A - A^||_1 < t with probability 1 - delta.
struct Bound {
  std::function<double(double radius, double n, double t, double delta)> features;
  FeatureMap map = FeatureMap::prf;
};

// T14c, for any n and t: (1 + t)^2 / (t^2 delta) times m times the largest relative variance.
double sufficient(FeatureMap map, double radius, double t, double delta) {
  const double e = 4 * radius * radius;
  const double variance = map == FeatureMap::prf ? std::expm1(e) : std::exp(e) * std::pow(std::expm1(-e), 2) / 2;
  return (1 + t) * (1 + t) * variance / (t * t * delta);
}

// The ladder: each factor away, each constant less.
double changed(const Check& check, const Bound& bound, double radius, double n, double t, double delta) {
  if (check.makes("without-n")) n = 1;
  if (check.makes("without-exponential")) radius = 0;
  if (check.makes("half-exponent")) radius /= std::sqrt(2.0);
  double m = bound.features(radius, n, t, delta);
  if (check.makes("without-exponential")) m = std::max(m, 1 / (t * t * delta));  // e^0 - 1 = 0: the rest of it
  if (check.makes("half-constant")) m /= 2;
  if (check.makes("without-delta")) m *= delta;
  return std::ceil(m);
}

Finding finding_of(const Check& check, const Bound& bound, const FewKeys& points, double radius, double t,
                   double alpha) {
  const double delta = check.value("delta");
  const auto n = static_cast<double>(points.keys.n_rows);
  const double features = changed(check, bound, radius, n, t, delta);
  const std::string input = fmt::format("{} R={:g} n={} t={:g}", points.name, radius, points.keys.n_rows, t);
  Finding finding;
  if (features > check.value("most features")) {
    finding.input = input;
    finding.verdict = Verdict::not_applicable;  // more than can be drawn; the ladder has them
  } else {
    auto m = static_cast<arma::uword>(features);
    if (check.makes("one-direction")) m = 1;  // one direction for all features: no more information
    FewKeys drawn = points;
    if (check.makes("sign-turned")) drawn.query = -drawn.query;
    const arma::vec exact = points.exact();
    finding = decide_probability(check, {input, t, delta, alpha, check.count("draws")}, [&](const Key& draw_key) {
      if (!check.makes("sign-turned")) return points.error(m, bound.map, draw_key);
      const auto phi = FeaturePair<double>(drawn.query, drawn.keys, m * functions_of(bound.map),
                                           {bound.map, ProjectionDistribution::iid, 0}, draw_key)
                           .matrices();
      arma::vec estimate = phi.keys * phi.queries.t();
      return arma::accu(arma::abs(exact - estimate / arma::accu(estimate)));
    });
    judge_trivial(finding, {{"uniform attention", points.uniform_error()}});
  }
  finding.n = points.keys.n_rows;
  finding.d = static_cast<arma::uword>(std::min(features, 1e15));
  add_measured(finding,
               fmt::format("m = {:.5g}; uniform attention is off by = {:.3g}", features, points.uniform_error()));
  return finding;
}

// As t -> 0 the error of two keys is the absolute value of a normal number of variance V / m (T20): z^2 V / t^2
// features are needed, Pr(|g| > z) = delta, over those that are asked for. R = 4 is within a hundredth of R -> oo,
// where these scores are those that need most.
Finding finding_of_small_errors(const Check& check, const Bound& bound) {
  constexpr double radius = 4, small = 1e-6;
  const double delta = check.value("delta"), below = std::log(3.0) / 4,
               z = std::sqrt(2.0) * boost::math::erfc_inv(delta);
  FewKeys points = FewKeys::two_scores(radius, below, below);
  if (bound.map == FeatureMap::trf) points.query = -points.query;
  const double asked = small * small * changed(check, bound, radius, 2, small, delta),
               share = z * z * points.variance_of_many(bound.map) / asked;
  Finding finding = decide_bound(fmt::format("{} R={:g} n=2 t -> 0", points.name, radius), share, 1);
  finding.n = 2;
  finding.hypotheses = "observed: features that are needed over those that are asked for";
  judge_trivial(finding, {{"uniform attention", 0}});  // the two weights are the same
  return finding;
}

Report check_number(const Check& check, const Bound& bound) {
  struct Case {
    FewKeys points;
    double radius, t;
  };
  const double t = 4 * check.value("epsilon");
  std::vector<Case> cases;
  for (const double radius : check.values("R of poles")) cases.push_back({FewKeys::poles(radius, 2), radius, t});
  for (const double radius : check.values("R of two keys")) cases.push_back({FewKeys::two_sides(radius), radius, t});
  if (bound.map == FeatureMap::trf) {  // the variance of cosines grows with ||q - k_j||
    for (Case& on : cases) on.points.query = -on.points.query;
  }
  if (!check.quick) cases.push_back({FewKeys::poles(1, 4), 1, t});
  Report report;
  double least = std::numeric_limits<double>::infinity(), smallest_drawn = least, largest_drawn = 0;
  for (const Case& on : cases) {
    report.findings.push_back(
        finding_of(check, bound, on.points, on.radius, on.t, check.alpha / static_cast<double>(cases.size())));
    const Finding& f = report.findings.back();
    if (f.observed > 0) least = std::min(least, f.bound / f.observed);
    if (!f.trials) continue;
    smallest_drawn = std::min(smallest_drawn, on.radius);
    largest_drawn = std::max(largest_drawn, on.radius);
  }
  const Finding small = finding_of_small_errors(check, bound);
  report.findings.push_back(small);
  const double delta = check.value("delta");
  report.number = least;
  report.sentence = fmt::format("smallest t / (90 % quantile of the error), t = {:g}, delta = {:g}, R = {:g} to {:g}",
                                t, delta, smallest_drawn, largest_drawn);
  // How many times what T14c asks for; of all inputs the least is that of two keys, R -> oo and t -> 2, the largest
  // error of all.
  const bool prf = bound.map == FeatureMap::prf;
  const auto over_proved = [&](double radius, double n, double at) {
    return changed(check, bound, radius, n, at, delta) / std::ceil(sufficient(bound.map, radius, at, delta));
  };
  const std::string name = prf ? "rpe.thm3" : "rpe.thm3-trf";
  add_worst(report, check, name, over_proved(4, 2, 2),
            over_proved(1, static_cast<double>(searched_bound(name).space.rows), t), small.observed);
  return report;
}

}  // namespace

// As printed, any eps > 0, with the constant 16 for the Theta: 4 eps' = eps, and eps > 2 is never exceeded.
Report check_feature_number_strict(const Check& check) {
  return check_number(check, {[](double radius, double n, double t, double delta) {
                        return 16 * n * std::exp(4 * radius * radius) / (t * t * delta);
                      }});
}

// With 4 eps in the place of eps, as the last line of the proof has it: t = 4 eps.
Report check_feature_number(const Check& check) {
  return check_number(check, {[](double radius, double n, double t, double delta) {
                        const double epsilon = t / 4;
                        return n * std::exp(4 * radius * radius) / (epsilon * epsilon * delta);
                      }});
}

// T14: no n.
Report check_feature_number_corrected(const Check& check) {
  return check_number(check, {[](double radius, double, double t, double delta) {
                        const double epsilon = t / 4;
                        return std::expm1(4 * radius * radius) / (epsilon * epsilon * delta);
                      }});
}

Report check_feature_number_sharper(const Check& check) {
  return check_number(check, {[](double radius, double, double t, double delta) {
                        return sufficient(FeatureMap::prf, radius, t, delta);
                      }});
}

Report check_feature_number_trf(const Check& check) {
  return check_number(check, {[](double radius, double, double t, double delta) {
                                return sufficient(FeatureMap::trf, radius, t, delta);
                              },
                              FeatureMap::trf});
}

}  // namespace croquis::claims
