// Pilot sampling: Lemma 1 as stated, and the quality that pilots have.
#include <fmt/format.h>

#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skeinformer/checks.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/pilot.hpp>
#include <croquis/stats/search.hpp>

namespace croquis::claims {
namespace {

constexpr double kDelta = 0.05, kConstant = 8;
const double kQuality = std::sqrt(1.0 / 3);

struct Columns {
  std::string name;
  Problem<double> problem;
  arma::mat squares = arma::square(softmax_transposed(problem.Q(), problem.K()));  // b_ji^2 at (i, j)
  arma::vec sums = arma::sum(squares, 1);                                          // ||B^(i)||^2
  arma::vec values = arma::sqrt(arma::sum(arma::square(problem.V()), 1));

  arma::uword n() const { return problem.n(); }
  double log_term() const { return std::log(2 * static_cast<double>(n()) / kDelta); }

  /// beta of probabilities p_i ~ w_i against ||B^(i)|| ||V_i||.
  double quality(const arma::vec& w) const {
    const arma::vec best = arma::sqrt(sums) % values;
    const arma::uvec needed = arma::find(best > 0);
    if (needed.is_empty()) return 1;  // V = 0
    return arma::min(w(needed) / best(needed)) * arma::accu(best) / arma::accu(w);
  }
  /// The library's pilot of d_0 rows.
  double drawn_quality(arma::uword d_0, const Key& draw_key) const {
    return quality(pilot_sample(problem.Q(), problem.K(), problem.V(), d_0, draw_key).weights);
  }
  /// The same from the squares, n^2 work for any d_0: for the search over d_0.
  double counted_quality(arma::uword d_0, const Key& draw_key) const {
    arma::vec counts(n(), arma::fill::zeros);
    for (const arma::uword j : sample_with_replacement(n(), d_0, draw_key)) counts(j) += 1;
    return quality(arma::sqrt(arma::vec(squares * counts)) % values);
  }
  /// max_i max_j b_ji^2 / (||B^(i)||^2 / n), from 1 to n: what decides how many rows are needed.
  double concentration() const { return static_cast<double>(n()) * arma::max(arma::max(squares, 1) / sums); }
};

// The smallest number of rows with which a pilot reaches the quality in 95 % of the draws; above `most` when none does.
double smallest_rows(const Check& check, const Columns& columns, double most) {
  return smallest_sufficient(1, most, 0.02, [&](double d) {
    const auto d_0 = static_cast<arma::uword>(std::ceil(d));
    const std::vector<double> qualities =
        run_trials(check, fmt::format("smallest {} {}", columns.name, d_0), check.trials(200),
                   [&](const Key& draw_key) { return columns.counted_quality(d_0, draw_key); });
    return quantile_of(qualities, kDelta) >= kQuality;
  });
}

}  // namespace

Report check_pilot_as_stated(const Check& check) {
  Report report;
  double least = std::numeric_limits<double>::infinity();
  for (const Subject& subject : check.subjects) {
    const Columns columns{subject.name, first_tokens(subject.problem, 512)};
    const auto n = static_cast<double>(columns.n());
    // Rows of B are probability vectors: sum_i ||B^(i)||^2 = ||B||_F^2 <= n, so the smallest of n columns has C <= 1/n.
    const double c = check.makes("without-n") ? columns.sums.max() : columns.sums.min() / n;
    const double rows = std::ceil(2 / (c * c) * columns.log_term());
    least = std::min(least, rows / n);
    Finding finding;
    finding.input = subject.name;
    finding.verdict = Verdict::vacuous;
    if (rows < n) {
      const double share = check.alpha / static_cast<double>(check.subjects.size());
      const auto d_0 = static_cast<arma::uword>(rows);
      finding = decide_probability(check, {subject.name, -kQuality, kDelta, share, 2000},
                                   [&](const Key& draw_key) { return -columns.drawn_quality(d_0, draw_key); });
      finding.observed = -finding.observed;
    }
    finding.n = columns.n();
    finding.p = columns.problem.p();
    finding.bound = kQuality;
    finding.hypotheses = fmt::format("C = {:.4g}; 1/n = {:.4g}; rows asked for = {:.4g}; least for C = 1/n = {:.4g}", c,
                                     1 / n, rows, 2 * n * n * columns.log_term());
    report.findings.push_back(std::move(finding));
  }
  report.number = least;
  report.sentence = "smallest (rows that the lemma asks for) / n: C <= 1/n, so it is 2 n log(2n/delta) at least";
  return report;
}

Report check_pilot_quality(const Check& check) {
  std::vector<Subject> subjects = check.subjects;
  if (!check.own_input) {
    for (const double norm : {1.0, 4.0}) {
      const std::string name = fmt::format("gaussian:{}", norm);
      subjects.push_back({name, gaussian_input(check.draw_key.child(name), {512, 16, norm})});
    }
  }
  if (check.makes("flat-inputs")) {
    subjects = {{"gaussian:0.5", gaussian_input(check.draw_key.child("flat"), {512, 16, 0.5})}};
  }
  Report report;
  int reached = 0;
  double fewest = std::numeric_limits<double>::infinity(), most = 0;
  for (const Subject& subject : subjects) {
    const Columns columns{subject.name, first_tokens(subject.problem, check.quick ? 128 : 512)};
    const auto stated = static_cast<arma::uword>(std::ceil(kConstant * columns.log_term()));
    const double share = check.alpha / static_cast<double>(subjects.size());
    const std::string input = fmt::format("{} d_0={}", subject.name, stated);
    Finding decided = decide_probability(check, {input, -kQuality, kDelta, share, 4000},
                                         [&](const Key& draw_key) { return -columns.drawn_quality(stated, draw_key); });
    decided.observed = -decided.observed;
    decided.bound = kQuality;
    if (decided.verdict == Verdict::verified) ++reached;
    decided.n = columns.n();
    decided.p = columns.problem.p();
    const double limit = 64 * static_cast<double>(columns.n());
    const double rows = check.mutant.empty() ? smallest_rows(check, columns, limit) : Finding::kNone;
    fewest = std::min(fewest, rows);
    most = std::max(most, rows);
    const double bernstein = 28.0 / 3 * columns.concentration() * columns.log_term();
    decided.hypotheses = fmt::format(
        "d_0 = {}; concentration = {:.4g}; d_0 by Bernstein = {:.4g}; smallest d_0 {} {:.4g}; over log(2n/delta) = "
        "{:.4g}{}",
        stated, columns.concentration(), bernstein, rows < limit ? "=" : ">=", rows, rows / columns.log_term(),
        decided.hypotheses.empty() ? "" : "; " + decided.hypotheses);
    report.findings.push_back(std::move(decided));
    for (const arma::uword d_0 : {4, 16, 64, 256}) {
      if (!check.mutant.empty()) break;
      const std::vector<double> qualities =
          run_trials(check, fmt::format("quality {} {}", subject.name, d_0), check.trials(200),
                     [&](const Key& draw_key) { return columns.drawn_quality(d_0, draw_key); });
      Finding measured;
      measured.input = fmt::format("{} d_0={} measured", subject.name, d_0);
      measured.verdict = Verdict::not_applicable;  // a curve: the statement is about the d_0 above
      measured.n = columns.n();
      measured.p = columns.problem.p();
      measured.trials = qualities.size();
      measured.estimate = quantile_of(qualities, 0.5);
      measured.hypotheses = fmt::format("d_0 = {}; 5 % quantile = {:.4g}; 95 % quantile = {:.4g}", d_0,
                                        quantile_of(qualities, 0.05), quantile_of(qualities, 0.95));
      report.findings.push_back(std::move(measured));
    }
  }
  report.number = most;
  report.sentence =
      fmt::format("largest d_0 for beta >= 0.577 in 95 % (smallest {:.4g}); 8 log(2n/delta) do on {} of {}", fewest,
                  reached, subjects.size());
  return report;
}

}  // namespace croquis::claims
