// Work and memory, by counts: nys.cost.
#include <fmt/format.h>

#include <algorithm>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nystromformer/checks.hpp>
#include <croquis/claims/nystromformer/cores.hpp>
#include <croquis/claims/skeinformer/counted_methods.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/linalg/iterative_inverse.hpp>

namespace croquis::claims {
namespace {

// n tokens, queries and keys of width p, values of width p_v.
Problem<double> problem_of(const Check& check, arma::uword n, arma::uword p, arma::uword p_v) {
  const auto wide = gaussian_input(check.draw_key.child("problem"), {n, std::max(p, p_v), 1});
  return {wide.Q().head_cols(p), wide.K().head_cols(p), wide.V().head_cols(p_v)};
}

Finding finding_of(const std::string& input, double counted, double stated, arma::uword n, arma::uword p,
                   arma::uword m) {
  Finding finding = decide_exactly(input, counted == stated, counted, stated);
  finding.n = n;
  finding.p = p;
  finding.d = m;
  finding.power = 1 / stated;  // of one multiply-add, or one number
  return finding;
}

template <typename Decide>
std::vector<Finding> at_all_sizes(const Check& check, const Decide& decide) {
  std::vector<Finding> findings;
  for (const arma::uword n : check.counts("tokens")) {
    for (const arma::uword m : check.counts("landmarks")) {
      for (const arma::uword p : check.counts("width")) findings.push_back(decide(n, m, p));
    }
  }
  return findings;
}

}  // namespace

// The sum of the overall complexity, n + 2 m^3 + n m^2 + 2 n m d_v, and what the products take, which grows with d_q.
Report check_cost_strict(const Check& check) {
  const arma::uword n = check.count("strict tokens"), m = check.count("strict landmarks"),
                    values = check.count("strict width of values");
  const double tokens = static_cast<double>(n), landmarks = static_cast<double>(m);
  Report report;
  double before = 0;
  for (const arma::uword width : check.counts("strict widths")) {
    const auto wide = static_cast<double>(width);
    double stated = tokens + tokens * landmarks * landmarks + 2 * tokens * landmarks * static_cast<double>(values) +
                    2 * landmarks * landmarks * landmarks;
    if (check.makes("with-scores")) stated += (2 * tokens + landmarks) * landmarks * wide;
    const double counted = counted_nystromformer(problem_of(check, n, width, values), m, true).multiply_adds;
    // An eightfold d_q and more doubles the quotient at least: it has no bound.
    const double share = counted / stated;
    Finding finding = decide_exactly(fmt::format("n={} m={} d_v={} d_q={}", n, m, values, width),
                                     before == 0 || share < 2 * before, share, 2 * before);
    if (before == 0) finding.verdict = Verdict::not_applicable;
    finding.n = n;
    finding.p = width;
    finding.d = m;
    finding.hypotheses = fmt::format("multiply-adds = {:.6g}; printed sum = {:.6g}", counted, stated);
    before = report.number = share;
    report.findings.push_back(std::move(finding));
  }
  report.sentence = "multiply-adds over the overall sum at the largest d_q: n m d_q is missing, and no constant serves";
  return report;
}

Report check_cost(const Check& check) {
  Report report;
  report.findings = at_all_sizes(check, [&](arma::uword n, arma::uword m, arma::uword p) {
    const auto tokens = static_cast<double>(n), landmarks = static_cast<double>(m), width = static_cast<double>(p);
    const double steps = check.makes("five-steps") ? 5 : 6, inverse = 4 * steps * landmarks * landmarks * landmarks;
    const double product = tokens * landmarks * landmarks, factors = 4 * tokens * landmarks * width,
                 core = landmarks * landmarks * width, stated = product + factors + core + inverse;
    const double counted = counted_nystromformer(problem_of(check, n, p, p), m, true).multiply_adds;
    Finding finding = finding_of(fmt::format("n={} m={} p={}", n, m, p), counted, stated, n, p, m);
    // Where the six steps are the largest part. For m > 4 p the second number is the smaller one.
    double below = 6 * landmarks * landmarks / width;
    if (!check.makes("without-24m")) below = std::min(below, 24 * landmarks);
    if ((inverse > std::max({product, factors, core})) != (tokens < below)) finding.verdict = Verdict::refuted;
    finding.hypotheses =
        fmt::format("share of the six steps = {:.3g}; largest part below n = {:.4g}", inverse / stated, below);
    return finding;
  });
  report.number = 24;
  report.sentence =
      "m^3 in n m^2 + 4 n m p + m^2 p + 24 m^3 multiply-adds: the largest part for n < min(6 m^2 / p, 24 m)";
  return report;
}

Report check_cost_memory(const Check& check) {
  Report report;
  report.findings = at_all_sizes(check, [&](arma::uword n, arma::uword m, arma::uword p) {
    const Problem<double> problem = problem_of(check, n, p, p);
    const arma::mat q = segment_means(problem.Q(), m), k = segment_means(problem.K(), m), a = core_of(problem, m),
                    z = iterative_inverse(a, {.iterations = 6}).inverse, f = softmax_transposed(problem.Q(), k).t(),
                    g = softmax_transposed(q, problem.K()).t(), output = f * (z * (g * problem.V()));
    double counted = 0;
    for (const arma::mat* factor : {&q, &k, &a, &z, &f, &g, &output}) counted += static_cast<double>(factor->n_elem);
    if (check.makes("stored-scores")) counted += static_cast<double>(n * n);
    const double stated = static_cast<double>(2 * m * p + 2 * n * m + 2 * m * m + n * p);
    return finding_of(fmt::format("n={} m={} p={}", n, m, p), counted, stated, n, p, m);
  });
  report.number = 2;
  report.sentence = "n m in 2 m p + 2 n m + 2 m^2 + n p numbers, counted: memory is linear in n";
  return report;
}

}  // namespace croquis::claims
