// How small the constant of Theorem 2 can be: points that must all be drawn.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skyformer/checks.hpp>
#include <croquis/stats/chernoff.hpp>

namespace croquis::claims {
namespace {

// A lower bound on the probability that one of m points is missing from d uniform draws of N: the first two terms of
// inclusion and exclusion (Bonferroni).
double missing(double m, double points, double d) {
  return m * std::pow(1 - 1 / points, d) - m * (m - 1) / 2 * std::pow(1 - 2 / points, d);
}

}  // namespace

double draws_that_fail(double n, double delta) {
  // Where one point is missing on average the bound is 1/2, and it falls from there.
  double least = std::floor(2 * n * std::log(2 * n - 2));
  const double step = std::max(1.0, std::floor(n / 1000));
  while (missing(2 * n - 2, 2 * n, least + step) > delta) least += step;
  return least;
}

// q_1 = k_1 and all other points isolated: ||C|| = 1, lambda = eps, and an isolated point that is not drawn leaves 1 >
// lambda in M - M~. So 2n - 2 of the 2n points must be drawn, where 2n max l_i = 2n / (1 + eps).
Report check_smaller_constant(const Check& check) {
  const double epsilon = check.value("epsilon"), delta = check.value("delta"),
               constant = check.makes("larger") ? kHalfOfMean : check.value("constant");
  Report report;
  report.number = 0;
  for (const double n : check.values("tokens")) {
    const double scale = 2 * n / (1 + epsilon) * std::log(4 * n / delta);
    const double least = draws_that_fail(n, delta);
    const double asked = std::ceil(constant * scale), failure = missing(2 * n - 2, 2 * n, asked);
    Finding finding = decide_exactly(fmt::format("isolated points, n = {:g}", n), !(failure > delta), failure, delta);
    finding.n = static_cast<arma::uword>(n);
    finding.d = static_cast<arma::uword>(asked);
    finding.threshold = fmt::format("constant = {:g}", constant);
    finding.hypotheses =
        fmt::format("eps = {:g}; delta = {:g}; every constant up to {:.3g} fails", epsilon, delta, least / scale);
    report.number = std::max(report.number, least / scale);
    report.findings.push_back(std::move(finding));
  }
  report.sentence =
      "largest constant that is shown to fail, with log(4n / delta), eps = .99; 2 is the limit of this argument";
  return report;
}

}  // namespace croquis::claims
