// Algorithm 1 against Eq. 10: rpe.alg1.
#include <fmt/format.h>

#include <cmath>
#include <croquis/attention/nprf.hpp>
#include <croquis/attention/prf_rpe.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nprf/biases.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/unit.hpp>
#include <croquis/claims/vanishing.hpp>
#include <croquis/features/feature_pair.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/toeplitz/toeplitz_operator.hpp>

namespace croquis::claims {

// Eq. 10 by sums over keys, with the features that the library draws. Errors: the transforms add E_i = entry_error()
// sum_r |phi_r(q_i)| ||phi_r(K) V_c|| to a numerator, and the same without V to the row sum; rows whose sum that would
// spoil by a hundredth the library computes directly.
Report check_algorithm_normalised(const Check& check) {
  const Subject& subject = check.subjects.front();
  const Problem<double> given = first_tokens(subject.problem, check.count("tokens"));
  const arma::uword n = given.n(), features = check.count("features");
  const arma::mat q = unit_rows(given.Q()), k = unit_rows(given.K());
  Report report;
  for (const NamedPosition& named : all_biases(n, check.draw_key.child("bias"))) {
    const Problem<double> problem(given.Q(), given.K(), given.V(), std::nullopt, named.position);
    const Key draw_key = check.draw_key.child("draw");
    RelativeFeatureOptions options;
    options.product = ToeplitzPath::fft;
    const arma::mat output = check.makes("not-normalised") ? prf_rpe(problem, features, draw_key, options).output
                                                           : nprf_rpe(problem, features, draw_key, options).output;
    const auto phi = FeaturePair<double>(q, k, features, kNprfFeatures, draw_key.child("features")).matrices();
    arma::mat weights = dense_weights(named.position, n);
    if (check.makes("bias-turned")) weights = weights.t().eval();
    const arma::mat scores = (phi.queries * phi.keys.t()) % weights;
    const arma::vec sums = arma::sum(scores, 1);
    arma::mat expected = scores * given.V();
    expected.each_col() /= sums;
    const double entry = ToeplitzOperator<double>(named.position, n, ToeplitzPath::fft).entry_error();
    double worst = 0, largest = 0;
    for (arma::uword i = 0; i < n; ++i) {
      for (arma::uword c = 0; c < expected.n_cols; ++c) {
        double of_sum = 0, of_numerator = 0;
        for (arma::uword r = 0; r < features; ++r) {
          of_sum += std::abs(phi.queries(i, r)) * entry * arma::norm(phi.keys.col(r));
          of_numerator += std::abs(phi.queries(i, r)) * entry * arma::norm(phi.keys.col(r) % given.V().col(c));
        }
        const double rounding = 8 * double(n + features) * kUnit * arma::abs(given.V().col(c)).max();
        const double allowed = rounding + 1.02 * (of_numerator + std::abs(expected(i, c)) * of_sum) / sums(i);
        raise(worst, part_of_allowed(std::abs(output(i, c) - expected(i, c)), allowed));
        largest = std::max(largest, allowed);
      }
    }
    const std::string input = fmt::format("{} {} n={}", subject.name, named.name, n);
    if (largest == 0 && worst == 0) {  // V = 0
      report.findings.push_back(not_applicable(input, kOutputVanishes));
      continue;
    }
    Finding finding = decide_identity(input, worst, 1);
    finding.n = n;
    finding.d = features;
    finding.power = 2 * largest / arma::abs(expected).max();
    add_measured(finding, fmt::format("largest error that is allowed = {:.3g}", largest));
    report.number = std::fmax(report.number, worst);
    report.findings.push_back(std::move(finding));
  }
  report.sentence = "largest error of Algorithm 1 against Eq. 10 on rows of unit length over what rounding allows";
  return report;
}

// A row of zeros over its length, as Algorithm 1 has it.
Report check_algorithm_zero_rows(const Check& check) {
  arma::mat q(2, 3, arma::fill::ones);
  q.row(0).zeros();
  arma::mat divided = q;
  divided.each_col() /= arma::sqrt(arma::sum(arma::square(q), 1));
  if (check.makes("zero-stays-zero")) divided = unit_rows(q);
  Report report;
  report.findings = {decide_exactly("q_1 = 0", divided.is_finite(), divided.is_finite() ? 0 : 1, 0)};
  report.findings.front().hypotheses = fmt::format("q_1 / ||q_1|| = {}", divided(0, 0));
  report.number = report.findings.front().observed;
  report.sentence = "share of the entries of a zero row that are not finite after the division by its length";
  return report;
}

}  // namespace croquis::claims
