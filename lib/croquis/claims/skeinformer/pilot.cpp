// Lemma 1 on pilot rows: as stated, and with a number of rows that does: ske.lemma1.
#include <fmt/format.h>

#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skeinformer/checks.hpp>
#include <croquis/claims/skeinformer/columns.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/stats/chernoff.hpp>
#include <utility>

namespace croquis::claims {
namespace {

struct Case {
  std::string name;
  Columns columns;
};

std::vector<Case> cases_of(const Check& check) {
  const arma::uword tokens = check.count("tokens");
  std::vector<Case> all;
  for (const Subject& subject : check.subjects) {
    all.push_back({subject.name, Columns::of(first_tokens(subject.problem, tokens))});
  }
  if (check.own_input) return all;
  for (const double norm : check.values("gaussian norms")) {
    const std::string name = fmt::format("gaussian:{}", norm);
    all.push_back({name, Columns::of(gaussian_input(check.draw_key.child(name), {tokens, 16, norm}))});
  }
  for (const arma::uword clusters : check.counts("clusters")) {
    all.push_back({fmt::format("{} clusters", clusters), Columns::of_clusters(tokens, clusters)});
  }
  return all;
}

// The number of rows with the constant and the log of the claim, or of a rung of its ladder.
double rows_for(const Check& check, double constant, double rho, double n) {
  const double delta = check.value("delta");
  double log_term = std::log(2 * n / delta);
  if (check.makes("without-log")) log_term = 1;
  if (check.makes("without-n")) log_term = std::log(2 / delta);
  if (check.makes("half-constant")) constant /= 2;
  if (check.makes("quarter-constant")) constant /= 4;
  if (check.makes("eighth-constant")) constant /= 8;
  return std::ceil(constant * (check.makes("without-rho") ? 1 : rho) * log_term);
}

Finding finding_of(const Check& check, const Case& on, double constant, double alpha) {
  const double delta = check.value("delta"), rho = on.columns.concentration();
  const auto n = static_cast<double>(on.columns.n());
  const double rows = rows_for(check, constant, rho, n);
  const std::string input = fmt::format("{} d_0={:.0f}", on.name, rows);
  Finding finding;
  // All rows and more: nothing is saved, and where the rows asked for are many more the draws take time for nothing.
  if (rows >= n && check.mutant.empty()) {
    finding.input = input;
    finding.verdict = Verdict::vacuous;
    finding.trivial = "all rows: exact attention";
  } else {
    const auto d_0 = static_cast<arma::uword>(rows);
    finding = decide_probability(
        check, {input, -kPilotQuality, delta, alpha, check.count("draws")},
        [&](const Key& draw_key) { return -on.columns.drawn_quality(check.makes("few-rows") ? 1 : d_0, draw_key); });
  }
  finding.bound = -kPilotQuality;
  finding.n = on.columns.n();
  add_measured(finding, fmt::format("rho = {:.4g}; d_0 = {:.0f}", rho, rows));
  return finding;
}

// n clusters of one token, the circle: rho = n. The counts of rows are multinomial, negatively associated, so that no
// count is c or less with probability at most (1 - q)^n, q = P(Bin(d_0, 1/n) <= c). A column with a count of c at most
// a third of (sum sqrt(count) / n)^2 has beta < sqrt(1/3); for c = 0 whatever the others are.
Finding circle_finding(const Check& check, double constant, double n) {
  const double delta = check.value("delta"), rows = rows_for(check, constant, n, n);
  const double missed = std::exp(rows * std::log1p(-1 / n));
  const double failure = -std::expm1(n * std::log1p(-missed));
  Finding finding = decide_identity(fmt::format("circle n={:g}, a row that is never drawn", n), failure, delta);
  finding.verdict = failure > delta ? Verdict::refuted : Verdict::vacuous;  // more rows than there are
  if (finding.verdict == Verdict::vacuous) finding.trivial = "all rows: exact attention";
  finding.hypotheses = fmt::format("rho = n; d_0 / n = {:.4g}; failure at least = {:.3g}", rows / n, failure);
  return finding;
}

Report check_rows(const Check& check, double constant) {
  std::vector<Case> cases = cases_of(check);
  Report report;
  int useful = 0;
  double least = 1;
  for (const Case& on : cases) {
    report.findings.push_back(finding_of(check, on, constant, check.alpha / static_cast<double>(cases.size())));
    const Finding& f = report.findings.back();
    if (f.verdict == Verdict::verified) ++useful, least = std::min(least, -f.observed);
  }
  for (const double n : check.values("circle tokens")) report.findings.push_back(circle_finding(check, constant, n));
  if (useful > 0) report.number = least;
  report.sentence =
      fmt::format("smallest 5 % quantile of beta on the {} inputs whose d_0 is below n; needed is 0.577", useful);
  report.tightness = tightness_of_rows(constant);
  return report;
}

}  // namespace

Report check_pilot_as_stated(const Check& check) {
  Report report;
  double least = std::numeric_limits<double>::infinity();
  const double delta = check.value("delta");
  const std::vector<Case> cases = cases_of(check);
  const double alpha = check.alpha / static_cast<double>(cases.size());
  for (const Case& on : cases) {
    const auto n = static_cast<double>(on.columns.n());
    // Rows of B are probability vectors: sum_i ||B^(i)||^2 = ||B||_F^2 <= n, so the smallest of n columns has C <= 1/n.
    const double c = check.makes("without-n") ? on.columns.sums.max() : on.columns.sums.min() / n;
    const double rows = std::ceil(2 / (c * c) * std::log(2 * n / delta));
    least = std::min(least, rows / n);
    Finding finding;
    finding.input = on.name;
    finding.verdict = Verdict::vacuous;
    finding.trivial = "all rows: exact attention";
    if (rows < n) {
      const auto d_0 = static_cast<arma::uword>(rows);
      finding = decide_probability(check, {on.name, -kPilotQuality, delta, alpha, check.count("draws")},
                                   [&](const Key& draw_key) { return -on.columns.drawn_quality(d_0, draw_key); });
    }
    finding.n = on.columns.n();
    finding.bound = -kPilotQuality;
    add_measured(finding, fmt::format("C = {:.4g}; 1/n = {:.4g}; rows asked for = {:.4g}; least for C = 1/n = {:.4g}",
                                      c, 1 / n, rows, 2 * n * n * std::log(2 * n / delta)));
    report.findings.push_back(std::move(finding));
  }
  report.number = least;
  report.sentence = "smallest (rows that the lemma asks for) / n: C <= 1/n, so it is 2 n log(2n/delta) at least";
  return report;
}

Report check_pilot_corrected(const Check& check) {
  return check_rows(check, 28.0 / 3);
}

Report check_pilot_sharper(const Check& check) {
  return check_rows(check, kHalfOfMean);
}

}  // namespace croquis::claims
