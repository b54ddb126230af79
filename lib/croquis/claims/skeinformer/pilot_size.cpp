// "O(log n) pilot rows suffice": ske.pilot-size.
#include <fmt/format.h>

#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/claims/skeinformer/checks.hpp>
#include <croquis/claims/skeinformer/columns.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/stats/search.hpp>

namespace croquis::claims {
namespace {

// B = (1 - n e) I + e 11^T, near the circle's limit, ||V_i|| = 1. With s_i = sum of b_ji^2 over the d_0 rows drawn,
// beta = n min sqrt(s) / sum sqrt(s) <= n sqrt(min s / max s): beta^2 < 1/3 wherever n^2 min s < max s / 3. For d_0 < n
// some row is not drawn in any draw, and the worst draw for the bound is d_0 different rows or one row d_0 times:
// min s = d_0 e^2, max s >= (1 - (n-1) e)^2.
Finding missed_finding(const Check& check, int n, int d_0, const Rational& e) {
  const Rational others = e * e * d_0, own = 1 - (n - 1) * e;
  Rational bound = Rational(n) * n * others / (own * own);  // of beta^2
  if (check.makes("flat-inputs")) bound = Rational(1);      // e = 1/n: every row is the same, beta = 1
  Finding finding = decide_least(fmt::format("n={} d_0={}, entries 1 - (n-1) e and e = {}", n, d_0, e.str()),
                                 bound >= Rational(1, 3), std::sqrt(static_cast<double>(bound)), kPilotQuality);
  finding.n = static_cast<arma::uword>(n);
  finding.hypotheses = fmt::format("in every draw beta^2 <= {:.4g}; rows for all of them = n log n = {:.4g}",
                                   static_cast<double>(bound), n * std::log(n));
  return finding;
}

// n = 3, entries .98 and .01, the rows 1 and 2: beta itself.
Finding example_finding(const Check& check) {
  arma::mat b(3, 3);
  b.fill(check.makes("flat-inputs") ? 1.0 / 3 : 0.01);
  if (!check.makes("flat-inputs")) b.diag().fill(0.98);
  const Columns columns{arma::square(b.t()), arma::vec(3, arma::fill::ones)};
  const arma::vec seen = arma::sqrt(arma::vec(columns.squares.cols(0, 1) * arma::ones(2)));
  const double beta = columns.quality(seen);
  Finding finding = decide_identity("n=3, entries .98 and .01, rows 1 and 2", -beta, -kPilotQuality);
  finding.estimate = beta;
  finding.n = 3;
  return finding;
}

// The smallest number of rows with which a pilot reaches the quality in 95 % of the draws; above `most` when none does.
Finding measured_finding(const Check& check, const Subject& subject) {
  const Columns columns = Columns::of(first_tokens(subject.problem, check.count("tokens")));
  const auto n = static_cast<double>(columns.n());
  const double delta = check.value("delta"), most = check.value("most rows") * n;
  const double rows = smallest_sufficient(1, most, check.value("tolerance"), [&](double d) {
    const auto d_0 = static_cast<arma::uword>(std::ceil(d));
    return quantile_of(run_trials(check, fmt::format("smallest {} {}", subject.name, d_0),
                                  check.trials(check.count("measured draws")),
                                  [&](const Key& draw_key) { return columns.drawn_quality(d_0, draw_key); }),
                       delta) >= kPilotQuality;
  });
  Finding finding;
  finding.input = subject.name + " measured";
  finding.verdict = Verdict::not_applicable;  // a number, no claim
  finding.n = columns.n();
  finding.estimate = rows;
  finding.hypotheses =
      fmt::format("rho = {:.4g}; smallest d_0 {} {:.4g}; over log(2n/delta) = {:.4g}", columns.concentration(),
                  rows < most ? "=" : ">=", rows, rows / std::log(2 * n / delta));
  return finding;
}

}  // namespace

Report check_pilot_size_strict(const Check& check) {
  Report report;
  report.findings = {
      example_finding(check), missed_finding(check, 3, 2, Rational(1, 100)),
      missed_finding(check, 4, 3, Rational(1, 100)),
      // 8 log(2n/delta) rows of 512, and of a million.
      missed_finding(check, 512, 80, Rational(1, 1000000)),
      missed_finding(check, 1000000, 141, Rational(1, boost::multiprecision::cpp_int("1000000000000000")))};
  if (check.mutant.empty() && !check.quick) {
    for (const Subject& subject : check.subjects) report.findings.push_back(measured_finding(check, subject));
  }
  report.number = report.findings.front().estimate;
  report.sentence = "beta for n = 3, entries .98 and .01, two rows; with d_0 < n rows a column is missed in every draw";
  return report;
}

// Where rho is bounded: four clusters at growing n, d_0 = (28/3) rho log(2n/delta), which is O(log n).
Report check_pilot_size_charitable(const Check& check) {
  const double delta = check.value("delta");
  Report report;
  double share = 0;
  const std::vector<arma::uword> sizes = check.counts("tokens");
  const arma::uword clusters = check.count("clusters");
  for (const arma::uword n : sizes) {
    const Columns columns = Columns::of_clusters(n, clusters);
    const double rho = columns.concentration(), rows = std::ceil(28.0 / 3 * rho * std::log(2.0 * double(n) / delta));
    const auto d_0 = check.makes("rho-ignored") ? arma::uword{3} : static_cast<arma::uword>(rows);
    Finding finding = decide_probability(check,
                                         {fmt::format("{} clusters n={} d_0={}", clusters, n, d_0), -kPilotQuality,
                                          delta, check.alpha / static_cast<double>(sizes.size()), check.count("draws")},
                                         [&](const Key& draw_key) { return -columns.drawn_quality(d_0, draw_key); });
    finding.n = n;
    add_measured(finding, fmt::format("rho = {:.4g}; d_0 = {}; d_0 / n = {:.3g}", rho, d_0, double(d_0) / double(n)));
    share = double(d_0) / double(n);
    report.findings.push_back(std::move(finding));
  }
  report.number = share;
  report.sentence = "share of the rows that (28/3) rho log(2n/delta) are at the largest n with four clusters";
  report.tightness = tightness_of_rows(28.0 / 3);
  return report;
}

}  // namespace croquis::claims
