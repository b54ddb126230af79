// Condition numbers and decay of A, B and C.
#include <fmt/format.h>

#include <croquis/attention/exact.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skyformer/checks.hpp>
#include <croquis/claims/skyformer/rounding.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/kernel/softmax.hpp>

namespace croquis::claims {
namespace {

struct Case {
  std::string name;
  Problem<double> problem;
};

// Three tokens wide, two long: queries s e_1, s e_2, keys s e_1 + L e_3, s e_2. The queries do not see L: A and B have
// condition number coth(s^2 / (2 sqrt(3))) for every L. C has its first column scaled by exp(-L^2 / (2 sqrt(3))).
Problem<double> unseen_norm(double length) {
  const double s = 2;
  return {arma::mat{{s, 0, 0}, {0, s, 0}}, arma::mat{{s, 0, length}, {0, s, 0}}, arma::mat(2, 1, arma::fill::ones)};
}

std::vector<Case> cases_of(const Check& check) {
  std::vector<Case> cases;
  // The mistake: only inputs that suit the claim.
  if (check.makes("balanced")) return {{"unseen-norm:0", unseen_norm(0)}};
  for (const Subject& s : check.subjects) cases.push_back({s.name, first_tokens(s.problem, check.quick ? 32 : 128)});
  if (check.own_input) return cases;
  for (const double length : {2.0, 4.0, 8.0})
    cases.push_back({fmt::format("unseen-norm:{}", length), unseen_norm(length)});
  for (const double norm : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0}) {
    cases.push_back({fmt::format("gaussian:{} n = 16", norm),
                     gaussian_input(check.draw_key.child(fmt::format("gaussian {}", norm)), {16, 16, norm})});
  }
  return cases;
}

struct Decay {
  Interval condition;           // of the exact matrix; up to infinity where rounding hides the smallest singular value
  arma::uword one_percent = 0;  // singular values above a hundredth of the largest
  double stable_rank = 0;
};

// Singular values are good to `rounding` times the largest one.
Decay decay_of(const arma::mat& matrix, double rounding) {
  const arma::vec values = arma::svd(matrix) / arma::svd(matrix).max();
  const double smallest = values.min();
  return {{(1 - rounding) / (smallest + rounding),
           smallest > rounding ? (1 + rounding) / (smallest - rounding) : std::numeric_limits<double>::infinity()},
          arma::accu(values > 0.01),
          arma::accu(arma::square(values))};
}

std::string text_of(const Interval& condition) {
  return std::isinf(condition.hi) ? fmt::format("over {:.2g}", condition.lo) : fmt::format("{:.3g}", condition.lo);
}

// Verified when C has the smallest condition number of the three, refuted when A or B has a smaller one; neither where
// rounding hides which it is.
Finding compare(const Case& c) {
  const arma::uword n = c.problem.n();
  const auto scores = scores_transposed<double>(c.problem.Q(), c.problem.K()).t().eval();
  const double exponent = arma::abs(scores).max();
  // Exponents of A and B are off by (p + 2) u max|s|, those of C by entry_rounding with norms of the moved points.
  const arma::rowvec centre = arma::mean(arma::join_cols(c.problem.Q(), c.problem.K()), 0);
  const auto squared = [&](const arma::mat& x) {
    return arma::sum(arma::square(x.each_row() - centre), 1).eval().max() / std::sqrt(static_cast<double>(x.n_cols));
  };
  const double kernel_entry = entry_rounding(c.problem.p(), std::max(squared(c.problem.Q()), squared(c.problem.K())));
  const double softmax_entry = entry_rounding(c.problem.p(), exponent);
  const double solver = solver_rounding(n);
  const Decay a = decay_of(arma::exp(scores - scores.max()), softmax_entry + solver);
  const Decay b = decay_of(exact_scores(c.problem, Target::softmax).dense(), softmax_entry + solver);
  const Decay k = decay_of(exact_scores(c.problem, Target::kernelized).dense(), kernel_entry + solver);

  Finding finding;
  finding.input = c.name;
  finding.n = n;
  finding.p = c.problem.p();
  const Interval other = {std::min(a.condition.lo, b.condition.lo), std::min(a.condition.hi, b.condition.hi)};
  finding.verdict = k.condition.lo > other.hi    ? Verdict::refuted
                    : k.condition.hi <= other.lo ? Verdict::verified
                                                 : Verdict::not_applicable;
  finding.estimate = finding.observed = k.condition.lo;
  finding.interval = k.condition;
  finding.bound = other.lo;
  finding.hypotheses = fmt::format(
      "cond A = {}; cond B = {}; cond C = {}; values above 1 % of A = {}; of B = {}; of C = {}; stable rank of A = "
      "{:.3g}; of B = {:.3g}; of C = {:.3g}",
      text_of(a.condition), text_of(b.condition), text_of(k.condition), a.one_percent, b.one_percent, k.one_percent,
      a.stable_rank, b.stable_rank, k.stable_rank);
  return finding;
}

}  // namespace

Report check_conditioning(const Check& check) {
  const std::vector<Case> cases = cases_of(check);
  Report report;
  report.findings.resize(cases.size());
  parallel_for(cases.size(), [&](std::size_t i) { report.findings[i] = compare(cases[i]); });
  std::size_t worse = 0, told = 0;
  report.number = 0;
  for (const Finding& f : report.findings) {
    if (f.verdict == Verdict::not_applicable) continue;
    ++told;
    worse += f.verdict == Verdict::refuted ? 1 : 0;
    if (f.observed > report.number * f.bound) report.number = f.observed / f.bound;
  }
  report.sentence =
      fmt::format("C is worse conditioned than A or B in {} of {} cases; cond C / min(cond A, cond B) is up to {:.2g}",
                  worse, told, report.number);
  return report;
}

}  // namespace croquis::claims
