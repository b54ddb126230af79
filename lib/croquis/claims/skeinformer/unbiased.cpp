// E[S S^T] = I, entry by entry.
#include <fmt/format.h>

#include <cmath>
#include <croquis/claims/skeinformer/checks.hpp>
#include <croquis/claims/skeinformer/operators.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/stats/intervals.hpp>

namespace croquis::claims {
namespace {

constexpr arma::uword kColumns = 4;
constexpr std::size_t kParts = 32;  // of the trials, each with sums of its own, joined in order

// The mistakes. "shared-sign": rows 0 and 1 take one sign, as a hash that drops the lowest bit of the index gives; a
// single row without its sign changes no entry of E[S S^T], since the other row's sign is still fair.
arma::mat mistaken(const Check& check, const Operator& op, arma::mat s) {
  const auto& parameters = op.description().parameters;
  if (check.makes("addends-unscaled") && parameters.contains("m")) s /= std::sqrt(parameters.at("m"));
  if (check.makes("shared-sign")) {
    for (arma::uword j = 0; j < s.n_cols; ++j) s(1, j) = std::abs(s(1, j)) * (s(0, j) < 0 ? -1 : 1);
  }
  if (check.makes("weights-swapped") && op.description().distribution == "importance") {
    for (double& x : s) x = x == 0 ? 0 : 1 / x;  // sqrt(d p_i) for 1 / sqrt(d p_i)
  }
  if (check.makes("row-0-lost")) s.row(0).zeros();
  return s;
}

// Entries (i, k), k <= i, of S S^T over the trials, one after the other.
std::vector<Accumulator> entries_of(const Check& check, const Operator& op, std::uint64_t trials, const Key& draw_key) {
  const arma::uword n = op.description().rows;
  std::vector<std::vector<Accumulator>> parts(kParts, std::vector<Accumulator>(n * (n + 1) / 2));
  parallel_for(kParts, [&](std::size_t part) {
    if (check.interrupted()) throw Interrupted();
    for (std::uint64_t t = part; t < trials; t += kParts) {
      const arma::mat s = mistaken(check, op, op.draw(draw_key.child(t)).dense());
      const arma::mat product = s * s.t();
      std::size_t entry = 0;
      for (arma::uword i = 0; i < n; ++i) {
        for (arma::uword k = 0; k <= i; ++k) parts[part][entry++].add(product(i, k));
      }
    }
  });
  for (std::size_t part = 1; part < kParts; ++part) {
    for (std::size_t e = 0; e < parts[0].size(); ++e) parts[0][e].merge(parts[part][e]);
  }
  return parts[0];
}

// A value beyond the largest that the distribution allows is a counterexample by itself.
Interval interval_of(const Accumulator& entry, double largest, double alpha) {
  const double rounded = largest * (1 + 1e-12);
  if (entry.max() > rounded || entry.min() < -rounded) return {Finding::kNone, Finding::kNone};
  return empirical_bernstein_interval(entry, {-rounded, rounded}, alpha);
}

Finding finding_of(const Check& check, const Operator& op, double resolution, double alpha) {
  // Normals are bounded by 9.5 only, which costs more trials than any other distribution.
  const std::uint64_t trials = check.trials(op.name() == "gaussian" ? 1'000'000 : 250'000);
  const arma::uword n = op.description().rows;
  Finding finding;
  finding.input = fmt::format("{} n={}", op.name(), n);
  finding.n = n;
  finding.d = kColumns;
  finding.trials = trials;
  finding.confidence = 1 - alpha;
  finding.bound = resolution;
  finding.observed = -1;
  finding.verdict = Verdict::verified;
  const std::vector<Accumulator> entries = entries_of(check, op, trials, check.draw_key.child(finding.input));
  double widest = 0;
  std::size_t e = 0;
  for (arma::uword i = 0; i < n; ++i) {
    for (arma::uword k = 0; k <= i; ++k, ++e) {
      const double expected = i == k ? 1 : 0, mean = entries[e].mean(), off = std::abs(mean - expected);
      const Interval interval =
          interval_of(entries[e], op.largest_entry(), alpha / static_cast<double>(entries.size()));
      widest = std::max(widest, interval.width() / 2);
      if (!interval.contains(expected)) finding.verdict = Verdict::refuted;
      if (off > finding.observed) {
        finding.observed = off;
        finding.estimate = mean;
        finding.interval = interval;
        finding.hypotheses = fmt::format("entry = ({}, {}); ", i, k);
      }
    }
  }
  finding.hypotheses += fmt::format("widest half-width of {} entries = {:.3g}", entries.size(), widest);
  if (widest > resolution && finding.verdict == Verdict::verified) {
    finding.verdict = Verdict::inconclusive;
    const double more = widest / resolution;
    finding.hypotheses += fmt::format("; trials that would decide = {:.0f}", 1.1 * more * more * double(trials));
  }
  return finding;
}

}  // namespace

Report check_unbiased(const Check& check) {
  const double resolution = check.quick ? 0.25 : 0.05;
  std::vector<Operator> all;
  for (const arma::uword n : {5, 8}) {
    for (Operator& op : operators(n, kColumns)) all.push_back(std::move(op));
  }
  Report report;
  report.number = 0;
  std::size_t entries = 0;
  for (const Operator& op : all) {
    report.findings.push_back(finding_of(check, op, resolution, check.alpha / static_cast<double>(all.size())));
    report.number = std::max(report.number, report.findings.back().observed);
    entries += op.description().rows * (op.description().rows + 1) / 2;
  }
  report.sentence =
      fmt::format("largest |mean of (S S^T)_ij - I_ij| over {} entries of {} distributions at n = 5 and 8, d = {}",
                  entries, all.size() / 2, kColumns);
  return report;
}

}  // namespace croquis::claims
