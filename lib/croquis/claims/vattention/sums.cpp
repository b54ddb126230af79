// vAttention's lemmas on sums: vat.lemma41, vat.lemma42.
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/claims/vattention/checks.hpp>
#include <croquis/random/draws.hpp>

namespace croquis::claims {
namespace {

// z^2 at 1 - delta / 2, or at 1 - delta.
double squared_quantile(double delta, bool one_sided) {
  return 2 * std::pow(boost::math::erfc_inv(one_sided ? 2 * delta : delta), 2);
}

// k of n numbers are 1, the others 0; the tolerance is t n. In rationals: b samples are enough for the lemma where
// b t^2 >= z^2 p (1 - p), p = k / n, and they fail where the number of ones, Binomial(b, p), is off b p by more than b
// t.
Finding numbers_finding(const Check& check, int n, int k, int b, const Rational& t) {
  const Rational p(k, n), squared(385, 100);  // z^2 < 3.85 at delta = 1/20
  Rational failure = 0, term = 1;             // term: C(b, m) p^m (1 - p)^(b - m)
  for (int m = 0; m < b; ++m) term *= 1 - p;
  for (int m = 0; m <= b; ++m) {
    const Rational off = Rational(m, b) - p;
    if (off > t || -off > t) failure += term;
    if (m < b) term *= Rational(b - m, m + 1) * p / (1 - p);
  }
  const bool enough = b * t * t >= squared * p * (1 - p);
  Finding finding = decide_exactly(fmt::format("n_s={} ones={} b={}", n, k, b), !(enough && failure > Rational(1, 20)),
                                   static_cast<double>(failure), check.value("delta"));
  finding.n = static_cast<arma::uword>(n);
  finding.hypotheses =
      fmt::format("b of the lemma at z^2 = 3.85: {:.4g}", static_cast<double>(squared * p * (1 - p) / (t * t)));
  return finding;
}

// The largest ||N/D - N~/D~|| / ||N/D|| over the allowed, for errors of eps_1 ||N|| and eps_2 D exactly.
double worst_quotient(const Check& check, double eps_1, double eps_2, const Key& draw_key) {
  arma::vec n(3), direction(3);
  fill_normal(draw_key, 0, 3, n.memptr());
  fill_normal(draw_key, 3, 3, direction.memptr());
  if ((draw_key.block(9)[0] & 1) != 0) direction = n;  // the worst error of the numerator is along it
  const double sign = (draw_key.block(9)[1] & 1) != 0 ? 1 : -1;
  const arma::vec numerator = n + eps_1 * arma::norm(n) / arma::norm(direction) * direction;
  const double error = arma::norm(n - numerator / (1 + sign * eps_2)) / arma::norm(n);
  return error / ((check.makes("without-two") ? 1 : 2) * (eps_1 + eps_2));
}

}  // namespace

Report check_budget_strict(const Check& check) {
  Report report;
  if (check.makes("even-numbers")) {  // half of them are ones: a sum of even terms is near its limit
    report.findings = {numbers_finding(check, 100, 50, 400, Rational(1, 20))};
  } else {
    report.findings = {numbers_finding(check, 100, 1, 17, Rational(48, 1000)),
                       numbers_finding(check, 1000, 1, 170, Rational(48, 10000))};
  }
  report.number = report.findings.front().observed;
  report.sentence = "failure rate of 17 samples of 100 numbers of which one is 1; the lemma has at most 0.05";
  return report;
}

Report check_budget_limit(const Check& check) {
  Report report;
  double largest = 0;
  for (const double delta : check.values("delta")) {
    const double x = squared_quantile(delta, check.makes("one-sided"));
    double worst = 0;
    for (const double k : check.values("equal eigenvalues")) {
      worst = std::max(worst, boost::math::cdf(boost::math::complement(boost::math::chi_squared(k), k * x)));
    }
    Finding equal =
        decide_identity(fmt::format("delta={} equal eigenvalues", delta), worst - delta, 1e-12 * delta, delta);
    equal.estimate = worst;
    report.findings.push_back(std::move(equal));
    largest = std::max(largest, worst / delta);
  }
  report.number = largest;
  report.tightness = {1, 1 / largest};  // equality for rank 1
  report.sentence = "largest limit of the failure rate over delta, for covariances of equal eigenvalues; delta <= 0.2";
  return report;
}

Report check_budget_any_delta(const Check& check) {
  const double delta = check.makes("small-delta") ? 0.05 : check.value("delta");
  const double failure = std::exp(-squared_quantile(delta, false));  // P(chi^2_2 > 2 x) = e^-x
  Finding finding = decide_identity(fmt::format("delta={} two equal eigenvalues", delta), failure, delta);
  finding.estimate = failure;
  Report report;
  report.findings = {finding};
  report.number = failure;
  report.sentence = "limit of the failure rate at delta = 1/4 for two equal eigenvalues: exp(-z^2)";
  return report;
}

Report check_quotient(const Check& check) {
  Report report;
  double largest = 0;
  const std::vector<double> epsilons = check.values("epsilon");
  for (const double eps_1 : epsilons) {
    for (const double eps_2 : epsilons) {
      const std::string input = fmt::format("eps_1={} eps_2={}", eps_1, eps_2);
      const std::vector<double> errors =
          run_trials(check, input, check.trials(check.count("draws")),
                     [&](const Key& draw_key) { return worst_quotient(check, eps_1, eps_2, draw_key); });
      const double worst = *std::max_element(errors.begin(), errors.end());
      Finding finding = decide_identity(input, worst, 1 + 1e-12);
      finding.trials = errors.size();
      finding.power = power_of_counting(errors.size(), 0, 0);  // one draw above refutes
      report.findings.push_back(std::move(finding));
      largest = std::max(largest, worst);
    }
  }
  report.number = largest;
  report.tightness = {1, 1 / largest};  // equality at eps_2 = 1/2
  report.sentence =
      "largest error of the quotient over 2 (eps_1 + eps_2), eps_2 <= 1/2: it is 1 / (2 (1 - eps_2)) at most";
  return report;
}

}  // namespace croquis::claims
