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

struct ConditioningCase {
  std::string name;
  Problem<double> problem;
};

// Three tokens wide, two long: queries s e_1, s e_2, keys s e_1 + L e_3, s e_2. The queries do not see L: A and B have
// condition number coth(s^2 / (2 sqrt(3))) for every L. C has its first column scaled by exp(-L^2 / (2 sqrt(3))).
Problem<double> unseen_norm(double s, double length) {
  return {arma::mat{{s, 0, 0}, {0, s, 0}}, arma::mat{{s, 0, length}, {0, s, 0}}, arma::mat(2, 1, arma::fill::ones)};
}

std::vector<ConditioningCase> conditioning_cases(const Check& check) {
  std::vector<ConditioningCase> cases;
  for (const Subject& s : check.subjects) cases.push_back({s.name, first_tokens(s.problem, check.count("tokens"))});
  if (check.own_input) return cases;
  const arma::uword n = check.count("gaussian tokens");
  for (const double norm : check.values("gaussian norms")) {
    cases.push_back({fmt::format("gaussian:{} n = {}", norm, n),
                     gaussian_input(check.draw_key.child(fmt::format("gaussian {}", norm)), {n, 16, norm})});
  }
  return cases;
}

struct Decay {
  Interval condition;           // of the exact matrix; up to infinity where rounding hides the smallest singular value
  arma::uword one_percent = 0;  // singular values above a hundredth of the largest
  double stable_rank = 0;
  double log_determinant = 0;  // log |det|, of the matrix as it was given
  bool lost = false;           // by underflow: then the others mean nothing
};

// Singular values are good to `rounding` times the largest one.
Decay decay_of(const arma::mat& matrix, double rounding) {
  const arma::vec given = arma::svd(matrix), values = given / given.max();
  const double smallest = values.min();
  return {{(1 - rounding) / (smallest + rounding),
           smallest > rounding ? (1 + rounding) / (smallest - rounding) : std::numeric_limits<double>::infinity()},
          arma::accu(values > 0.01),
          arma::accu(arma::square(values)),
          arma::accu(arma::log(given)),
          underflows(given.max())};
}

std::string text_of(const Interval& condition) {
  return std::isinf(condition.hi) ? fmt::format("over {:.2g}", condition.lo) : fmt::format("{:.3g}", condition.lo);
}

struct Matrices {
  Decay a, b, c;
  double scaling = 0;  // log |det A| - log |det C|: half of the sum of ||q_i||^2 + ||k_j||^2 over sqrt(p)
};

Matrices decays_of(const ConditioningCase& c) {
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

  return {a, b, k, a.log_determinant + static_cast<double>(n) * scores.max() - k.log_determinant};
}

std::string describe(const Matrices& m) {
  return fmt::format(
      "cond A = {}; cond B = {}; cond C = {}; values above 1 % of A = {}; of B = {}; of C = {}; stable rank of A = "
      "{:.3g}; of B = {:.3g}; of C = {:.3g}",
      text_of(m.a.condition), text_of(m.b.condition), text_of(m.c.condition), m.a.one_percent, m.b.one_percent,
      m.c.one_percent, m.a.stable_rank, m.b.stable_rank, m.c.stable_rank);
}

// The two tokens whose keys differ by L in a direction that no query sees: cond C against that of A or B.
Report compare(const Check& check, Decay Matrices::*other, const std::string& name) {
  Report report;
  for (const double length : check.values("lengths")) {
    const ConditioningCase c = {fmt::format("unseen-norm:{:g}", length),
                                unseen_norm(check.value("s"), check.makes("balanced") ? 0 : length)};
    const Matrices m = decays_of(c);
    Finding finding;
    finding.input = c.name;
    finding.n = c.problem.n();
    finding.p = c.problem.p();
    finding.estimate = finding.observed = m.c.condition.lo;
    finding.interval = m.c.condition;
    finding.bound = (m.*other).condition.hi;
    // At L = 0 the two are the same up to a number.
    finding.verdict = m.c.condition.lo > check.value("factor") * finding.bound ? Verdict::refuted : Verdict::verified;
    finding.hypotheses = describe(m);
    report.number = m.c.condition.lo / finding.bound;
    report.findings.push_back(std::move(finding));
  }
  report.sentence = fmt::format("cond C / cond {} for two tokens and L = 8: it grows as exp(L^2 / (2 sqrt 3))", name);
  return report;
}

}  // namespace

Report check_conditioning_of_a(const Check& check) {
  return compare(check, &Matrices::a, "A");
}

Report check_conditioning_of_b(const Check& check) {
  return compare(check, &Matrices::b, "B");
}

// What the inputs show: no statement is decided, for "more reasonable" names no number.
Report check_conditioning_table(const Check& check) {
  const std::vector<ConditioningCase> cases = conditioning_cases(check);
  Report report;
  report.findings.resize(cases.size());
  std::vector<Matrices> matrices(cases.size());
  parallel_for(cases.size(), [&](std::size_t i) { matrices[i] = decays_of(cases[i]); });
  std::size_t below_a = 0, below_b = 0, judged = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Matrices& m = matrices[i];
    Finding& finding = report.findings[i];
    finding.input = cases[i].name;
    if (m.c.lost) {
      finding = not_applicable(cases[i].name, kScoresUnderflow);
      continue;
    }
    ++judged;
    finding.n = cases[i].problem.n();
    finding.p = cases[i].problem.p();
    finding.estimate = finding.observed = m.c.condition.lo;
    finding.interval = m.c.condition;
    finding.hypotheses = describe(m) + "; would decide = a threshold on the condition numbers and a sample of heads";
    below_a += m.c.condition.hi < m.a.condition.lo ? 1 : 0;
    below_b += m.c.condition.hi < m.b.condition.lo ? 1 : 0;
    // What can fail is the table: C = D_Q^{-1/2} A D_K^{-1/2}, so that determinants differ by a known factor.
    finding.verdict = Verdict::inconclusive;
    const double squares = arma::accu(arma::square(cases[i].problem.K())) +
                           (check.makes("keys-only") ? 0 : arma::accu(arma::square(cases[i].problem.Q())));
    const double expected = squares / (2 * std::sqrt(static_cast<double>(cases[i].problem.p())));
    const double known = 1e-12 * static_cast<double>(finding.n.value()) * (m.a.condition.hi + m.c.condition.hi);
    if (known < 1e-3 && std::abs(m.scaling - expected) > 1e-3 * (1 + expected)) finding.verdict = Verdict::refuted;
  }
  if (judged > 0) report.number = static_cast<double>(below_a) / static_cast<double>(judged);
  report.sentence =
      fmt::format("cond C is surely below cond A on {} of {} inputs, below cond B on {}: no number is claimed", below_a,
                  judged, below_b);
  return report;
}

}  // namespace croquis::claims
