// Whether so many features are needed: rpe.thm3.necessity; and the paper's simulation, rpe.fig1b.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/claims/nprf/few_keys.hpp>
#include <croquis/claims/power.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/stats/search.hpp>

namespace croquis::claims {
namespace {

// "m features are not enough": the failure rate of error > t is above delta. A bound that holds refutes it, so that its
// power is the largest rate that would: as many draws within t as refute a smaller share of them than 1 - delta.
Finding not_enough(const Check& check, const FewKeys& points, const std::string& name, arma::uword m, double alpha) {
  const double delta = check.value("delta"), t = 4 * check.value("epsilon");
  Finding finding = decide_probability(check, {fmt::format("{} m={}", name, m), t, delta, alpha, check.count("draws")},
                                       [&](const Key& draw_key) { return points.error(m, FeatureMap::prf, draw_key); });
  if (finding.verdict == Verdict::verified) {
    finding.verdict = Verdict::refuted;
  } else if (finding.verdict == Verdict::refuted) {
    finding.verdict = Verdict::verified;
  }
  const std::uint64_t most = check.trials(check.count("draws"));
  const double level = level_of_last_look({.delta = delta, .alpha = alpha, .max_trials = most});
  finding.power = 1 - power_of_counting(most, 1 - delta, level);
  finding.n = points.keys.n_rows;
  finding.d = m;
  return finding;
}

// The fewest features, to a few percent, with which nine tenths of the draws are within t: a number, no claim.
Finding measured_number(const Check& check, const FewKeys& points, const std::string& name, std::uint64_t draws,
                        double most) {
  const double delta = check.value("delta"), t = 4 * check.value("epsilon");
  const double found = smallest_sufficient(1, most, check.value("tolerance"), [&](double features) {
    const auto m = static_cast<arma::uword>(std::ceil(features));
    return quantile_of(run_trials(check, fmt::format("smallest {} {}", name, m), draws,
                                  [&](const Key& draw_key) { return points.error(m, FeatureMap::prf, draw_key); }),
                       1 - delta) <= t;
  });
  Finding finding;
  finding.input = name + " measured";
  finding.verdict = Verdict::not_applicable;
  finding.n = points.keys.n_rows;
  finding.estimate = found;
  finding.hypotheses = fmt::format("smallest m of {} draws each {} {:.4g}", draws, found < most ? "=" : ">=", found);
  return finding;
}

// The logarithm of m(R) for which E|r_j - 1| <= sqrt(e^{(2+4 eta) R^2} / m) + 2 e^{-eta^2 R^2} is small enough that
// Pr(||A - A^||_1 >= t) <= (2+t)/t E X <= delta for every n and every input (T16): each term delta t / (2 (2+t)). The
// smallest over eta; none where the second term is too large for every eta <= 1/2.
double log_sufficient(double radius, double t, double delta) {
  const double share = delta * t / (2 * (2 + t)), square = radius * radius;
  const double eta = std::sqrt(std::log(2 / share) / square);
  if (eta > 0.5) return std::numeric_limits<double>::infinity();
  return (2 + 4 * eta) * square - 2 * std::log(share);
}

}  // namespace

// "May need an exponential number" for every input: equal keys need one feature, the poles at R = 2 a few.
Report check_every_input(const Check& check) {
  const bool turned = check.makes("two-keys");
  const FewKeys first = turned ? FewKeys::two_sides(2) : FewKeys::equal(2, 8),
                second = turned ? FewKeys::two_sides(2) : FewKeys::poles(2, 8);
  Report report;
  report.findings = {not_enough(check, first, first.name + " R=2", 1, check.alpha / 2),
                     not_enough(check, second, second.name + " R=2", check.count("m"), check.alpha / 2)};
  for (Finding& f : report.findings)
    add_measured(f, fmt::format("e^(4 R^2) = {:.3g}; 90 % quantile of the error = {:.3g}", std::exp(16.0), f.observed));
  report.number = report.findings.back().observed;
  report.sentence = "90 % quantile of the error with 16 features, half of the keys q, half -q, R = 2: e^{4R^2} is 9e6";
  return report;
}

// On two keys at 45 degrees e^{2R^2} features fail in more than a tenth of the draws.
Report check_some_input(const Check& check) {
  Report report;
  const std::vector<double>&radii = check.values("R"), &most = check.values("most features");
  const std::vector<arma::uword> draws = check.counts("measured draws");
  for (std::size_t k = 0; k < radii.size(); ++k) {
    const double radius = radii[k];
    const FewKeys points = check.makes("equal-keys") ? FewKeys::equal(radius, 2) : FewKeys::two_sides(radius);
    const auto m = static_cast<arma::uword>(std::exp(2 * radius * radius));
    Finding finding = not_enough(check, points, fmt::format("{} R={:g}", points.name, radius), m,
                                 check.alpha / static_cast<double>(radii.size()));
    add_measured(finding, fmt::format("e^(2 R^2) = {:.4g}; e^(4 R^2) = {:.4g}; share that fails = {:.3g}",
                                      std::exp(2 * radius * radius), std::exp(4 * radius * radius), finding.estimate));
    report.number = finding.estimate;
    report.findings.push_back(std::move(finding));
    if (check.mutant.empty() && !check.quick) {
      report.findings.push_back(
          measured_number(check, points, fmt::format("{} R={:g}", points.name, radius), draws.at(k), most.at(k)));
    }
  }
  report.sentence =
      "share of draws with e^{2R^2} = 2980 features, R = 2, that are off by more than 0.4; a tenth is allowed";
  return report;
}

// The exponent cannot be below 2 (T19): one key q with a given weight, the others 0, whose features are all near 1, and
// e^{c R^2} features, among which those that carry the mean of the key at q are missing.
Report check_lower_exponent(const Check& check) {
  Report report;
  const double c = check.value("c"), weight = check.value("weight");
  const std::vector<double>& radii = check.values("R");
  for (const double radius : radii) {
    const double others = std::round(std::exp(radius * radius) * (1 - weight) / weight);
    const arma::uword n = 1 + static_cast<arma::uword>(std::max(1.0, others));
    const FewKeys points = check.makes("equal-keys") ? FewKeys::equal(radius, n) : FewKeys::one_among_zeros(radius, n);
    const auto m = static_cast<arma::uword>(std::exp(c * radius * radius));
    Finding finding = not_enough(check, points, fmt::format("{} R={:g}", points.name, radius), m,
                                 check.alpha / static_cast<double>(radii.size()));
    add_measured(finding, fmt::format("share that fails = {:.3g}", finding.estimate));
    report.number = finding.estimate;
    report.findings.push_back(std::move(finding));
  }
  report.sentence = fmt::format(
      "share of draws with e^{{{:g} R^2}} features, R = {:g}, that are off by more than {:g}; a tenth is allowed", c,
      radii.back(), 4 * check.value("epsilon"));
  return report;
}

// As t -> 0 e^{4R^2} / t^2 features are needed but for a constant (T20): the key q and one with half of its weight,
// where the share of draws that are off by t or more tends to erfc((27 c / 8)^{1/2}) with c e^{4R^2} / t^2 features.
Report check_small_error(const Check& check) {
  Report report;
  const double c = check.value("c"), t = 4 * check.value("epsilon"), limit = std::erfc(std::sqrt(27 * c / 8));
  const std::vector<double>& radii = check.values("R");
  for (const double radius : radii) {
    const FewKeys points =
        check.makes("equal-keys") ? FewKeys::equal(radius, 2) : FewKeys::two_scores(radius, 0, std::log(2.0));
    const auto m = static_cast<arma::uword>(c * std::exp(4 * radius * radius) / (t * t));
    Finding finding = not_enough(check, points, fmt::format("{} R={:g}", points.name, radius), m,
                                 check.alpha / static_cast<double>(radii.size()));
    add_measured(finding,
                 fmt::format("share that fails = {:.3g}; its limit as t -> 0 = {:.3g}", finding.estimate, limit));
    report.number = finding.estimate;
    report.findings.push_back(std::move(finding));
  }
  report.sentence = fmt::format(
      "share of draws with {:g} e^{{4 R^2}} / t^2 features, R = {:g}, that are off by more than t = {:g}; a tenth is "
      "allowed",
      c, radii.back(), t);
  return report;
}

// "Precisely": some input needs c e^{4R^2} features, c > 0 for all R, at fixed eps and delta. T16 gives
// e^{(2 + o(1)) R^2} for every input: no c does. With the variance alone (mutant) the exponent stays 4.
Report check_exponent(const Check& check) {
  const double t = 4 * check.value("epsilon"), delta = check.value("delta");
  Report report;
  double before = std::numeric_limits<double>::infinity();
  for (const double radius : check.values("R")) {
    const double square = radius * radius;
    double log_m = log_sufficient(radius, t, delta);
    if (check.makes("variance-alone")) log_m = 4 * square + std::log((1 + t) * (1 + t) / (t * t * delta));
    const double log_c = log_m - 4 * square;  // c must be below e^{log_c}
    // Refuted when c falls without end: at each R below the one before by a factor that grows.
    Finding finding = decide_identity(fmt::format("R={:g}", radius), std::isinf(before) ? 0 : before - log_c, 1);
    if (std::isinf(before) || finding.verdict == Verdict::verified) finding.verdict = Verdict::inconclusive;
    finding.estimate = log_m / square;
    finding.hypotheses = fmt::format("log(sufficient m) / R^2 = {:.4g}; log c at most = {:.5g}", log_m / square, log_c);
    before = log_c;
    report.findings.push_back(std::move(finding));
  }
  report.findings.erase(report.findings.begin());
  report.number = report.findings.back().estimate;
  report.sentence =
      "log(m that suffices for every input) / R^2 at R = 80, falling to 2: an exponent of 4 is not needed";
  return report;
}

// One query and 1024 keys uniform on the sphere of radius R, p = 64; means over draws of points and features.
Report check_figure(const Check& check) {
  const auto draws = static_cast<std::size_t>(check.value("draws"));
  const arma::uword n = check.count("keys"), p = check.count("width"), few = check.count("few features"),
                    many = check.count("many features");
  struct Means {
    Accumulator few, many, uniform;
  };
  const auto means_at = [&](double radius) {
    arma::mat errors(3, draws);
    parallel_for(draws, [&](std::size_t t) {
      if (check.interrupted()) throw Interrupted();
      const Key key = check.draw_key.child("points").child(t);
      arma::mat points(n + 1, p);
      fill_normal(key, 0, points.n_elem, points.memptr());
      points = radius * unit_rows(points);
      const FewKeys on{"sphere", points.row(0), points.tail_rows(n)};
      errors(0, t) = on.error(few, FeatureMap::prf, key.child("few"));
      errors(1, t) = on.error(many, FeatureMap::prf, key.child("many"));
      errors(2, t) = on.uniform_error();
    });
    Means means;
    for (std::size_t t = 0; t < draws; ++t) {
      means.few.add(errors(0, t));
      means.many.add(errors(1, t));
      means.uniform.add(errors(2, t));
    }
    return means;
  };
  const double shift = check.makes("normalised") ? 0 : 1;  // the norms of R = 4 brought back to 1
  const Means one = means_at(1), two = means_at(2), four = means_at(1 + 3 * shift);
  Report report;
  const auto add = [&](const std::string& input, double observed, double bound, double error, const Means& means) {
    Finding finding = decide_identity(input, observed, bound);
    finding.n = n;
    finding.p = p;
    finding.trials = static_cast<std::uint64_t>(draws);
    finding.power = power_of_means(error);
    finding.threshold = fmt::format("{:g}; draws = {}", std::abs(bound), draws);
    withhold_within_error(finding);
    const auto with_error = [](const Accumulator& a) {
      return fmt::format("{:.3g} ({:.1g})", a.mean(), a.mean() * relative_error_of_mean(a));
    };
    add_measured(finding,
                 fmt::format("mean ||A - A^||_1 (standard error): m = 4: {}; m = 1024: {}; uniform attention: {}",
                             with_error(means.few), with_error(means.many), with_error(means.uniform)));
    report.findings.push_back(std::move(finding));
  };
  const auto error_of = [](const Accumulator& a, const Accumulator& b) {
    return std::hypot(relative_error_of_mean(a), relative_error_of_mean(b));
  };
  add("R=1: falls from m = 4 to 1024", -one.few.mean() / one.many.mean(), -check.value("fall at R = 1"),
      error_of(one.few, one.many), one);
  add("R=4: the error at m = 1024", -four.many.mean(), -check.value("error at R = 4"),
      relative_error_of_mean(four.many), four);
  add("R=4: falls little", four.few.mean() / four.many.mean(), check.value("fall at R = 4"),
      error_of(four.few, four.many), four);
  // Uniform attention has no features: at R = 2 it is better than 1024 of them.
  add("R=2: 1024 features against uniform attention", two.many.mean(), two.uniform.mean(),
      error_of(two.many, two.uniform), two);
  report.findings.back().verdict = Verdict::not_applicable;
  if (two.uniform.mean() <= two.many.mean()) {
    report.findings.back().trivial = fmt::format("uniform attention ({:.3g})", two.uniform.mean());
  }
  report.number = four.many.mean();
  report.sentence = fmt::format("mean error at R = 4, m = 1024; at R = 1 {:.3g}, where uniform attention has {:.3g}",
                                one.many.mean(), one.uniform.mean());
  return report;
}

}  // namespace croquis::claims
