// "d_stat should be O~(1)": a bound without logarithms for bounded tokens, and tokens for which d_stat is nearly n.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skyformer/checks.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/worst_case.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/nystrom/lift.hpp>

namespace croquis::claims {
namespace {

struct Measured {
  double dimension = 0, norm = 0, mean = 0;  // d_stat, ||C||, the mean entry of C
};

Measured measure(const Problem<double>& problem, double epsilon, const Check& check) {
  const arma::uword n = problem.n();
  const arma::mat lift = LiftedPoints<double>(problem.Q(), problem.K()).kernel().dense();
  const arma::mat block = lift.submat(0, n, n - 1, 2 * n - 1);
  const double norm = spectral_norm<double>(block);
  const double lambda = (check.makes("no-ridge") ? 1e-9 : epsilon) * norm;
  const arma::vec eigenvalues = arma::clamp(arma::eig_sym(lift), 0.0, arma::datum::inf);
  return {arma::accu(eigenvalues / (eigenvalues + lambda)), norm, arma::accu(block) / static_cast<double>(n * n)};
}

}  // namespace

// d_stat <= tr M / lambda = 2n / (eps ||C||) <= 2 / (eps mean C), for every n (T10).
Report check_dimension_bound(const Check& check) {
  const double epsilon = check.value("epsilon");
  std::vector<Subject> cases;
  for (const Subject& subject : check.subjects) {
    cases.push_back({subject.name, first_tokens(subject.problem, check.count("tokens"))});
  }
  if (!check.own_input) {
    for (const arma::uword n : check.counts("gaussian tokens")) {
      for (const double norm : check.values("gaussian norms")) {
        const std::string name = fmt::format("gaussian:{:g} p = 16 n = {}", norm, n);
        cases.push_back({name, gaussian_input(check.draw_key.child(name), {n, 16, norm})});
      }
    }
  }
  std::vector<Measured> measured(cases.size());
  parallel_for(cases.size(), [&](std::size_t i) {
    if (check.interrupted()) throw Interrupted();
    measured[i] = measure(cases[i].problem, epsilon, check);
  });
  Report report;
  report.number = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto n = static_cast<double>(cases[i].problem.n());
    const Measured& m = measured[i];
    const double bound = 2 * n / (epsilon * m.norm) * (check.makes("half") ? 0.5 : 1);
    // Eigenvalues are off by rounding of n u ||M||, which lambda divides.
    Finding finding = decide_bound(cases[i].name, m.dimension, bound * (1 + 1e-9));
    finding.n = cases[i].problem.n();
    finding.p = cases[i].problem.p();
    finding.hypotheses =
        fmt::format("eps = {:g}; ||C|| = {:.4g}; 2 / (eps mean C) = {:.4g}", epsilon, m.norm, 2 / (epsilon * m.mean));
    judge_trivial(finding, {{"d_stat <= 2n", 2 * n}});
    report.number = std::min(report.number, finding.slack());
    report.findings.push_back(std::move(finding));
  }
  report.sentence =
      fmt::format("smallest 2n / (eps ||C||) over d_stat, eps = {:g}: a bound that does not grow with n", epsilon);
  const double part = check.makes("half") ? 0.5 : 1;
  add_worst(report, check, "sky.dstat-growth", part, part);
  return report;
}

// q_i = k_i far apart: C = I, M has eigenvalues 2 and 0, d_stat = 2n / (2 + eps).
Report check_dimension_far(const Check& check) {
  const double epsilon = check.value("epsilon");
  Report report;
  double first = 0;
  for (const arma::uword n : check.counts("tokens")) {
    arma::mat points(n, 1);
    for (arma::uword i = 0; i < n; ++i) points(i, 0) = check.makes("one-point") ? 0 : 50.0 * static_cast<double>(i);
    const Measured m = measure({points, points, arma::mat(n, 1, arma::fill::ones)}, epsilon, check);
    const double share = m.dimension / static_cast<double>(n);
    if (first == 0) first = share;
    // d_stat is proportional to n: the same share to rounding, so that no O~(1) holds.
    const bool proportional = std::abs(share - 2 / (2 + epsilon)) < 1e-9;
    Finding finding =
        decide_exactly(fmt::format("q_i = k_i far apart, n = {}", n), !proportional, m.dimension, Finding::kNone);
    finding.n = n;
    finding.p = 1;
    finding.hypotheses = fmt::format("d_stat / n = {:.9g}; 2 / (2 + eps) = {:.9g}", share, 2 / (2 + epsilon));
    report.number = share;
    report.findings.push_back(std::move(finding));
  }
  report.sentence =
      fmt::format("d_stat / n for tokens far apart, every n, eps = {:g}: d_stat = 2n / (2 + eps)", epsilon);
  return report;
}

}  // namespace croquis::claims
