// What six steps of the iteration leave of the four conditions of Penrose: nys.six-iterations.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nystromformer/checks.hpp>
#include <croquis/claims/nystromformer/cores.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/worst_case.hpp>
#include <croquis/linalg/iterative_inverse.hpp>
#include <croquis/linalg/norms.hpp>

namespace croquis::claims {
namespace {

constexpr int kSteps = 6;

// x after T steps of 1 - x -> (3 (1 - x)^3 + (1 - x)^4) / 4, from x_0 = x.
double mode_after(double x, int steps) {
  double e = 1 - x;
  for (int t = 0; t < steps; ++t) e = (3 * e * e * e + e * e * e * e) / 4;
  return 1 - e;
}

struct Core {
  std::string input;
  arma::mat a, z;
  double scale = 0;  // sqrt(||A||_1 ||A||_inf)
};

// The cores of all inputs at 32 and 64 segment means, with six steps from the paper's start; rows of `report` name the
// inputs that are shorter.
std::vector<Core> cores_of(const Check& check, Report& report) {
  std::vector<Core> cores;
  const int steps = check.makes("five-steps") ? kSteps - 1 : kSteps;
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, check.count("tokens"));
    for (const arma::uword d : check.counts("landmarks")) {
      const std::string input = fmt::format("{} d={}", subject.name, d);
      if (d > problem.n()) {
        report.findings.push_back(too_few_tokens(input, d));
        continue;
      }
      const arma::mat a = core_of(problem, d);
      cores.push_back({input, a, iterative_inverse(a, {.iterations = steps}).inverse,
                       std::sqrt(arma::norm(a, 1) * arma::norm(a, "inf"))});
    }
  }
  return cores;
}

// The worst case of the bound: one singular value at the maximum, the largest at the norm.
Core worst_core(const Check& check) {
  const double x = 4.3e-4;
  const arma::mat a = arma::diagmat(arma::vec{1, std::sqrt(x)});
  const int steps = check.makes("five-steps") ? kSteps - 1 : kSteps;
  return {"A = diag(1, sqrt(4.3e-4))", a, iterative_inverse(a, {.iterations = steps}).inverse, 1};
}

}  // namespace

double penrose_constant() {
  // A grid that is fine where the maximum is.
  static const double worst = [] {
    double most = 0;
    for (int i = 0; i <= 400000; ++i) {
      const double x = std::pow(10.0, -8 + 8 * i / 400000.0);
      most = std::max(most, std::sqrt(x) * (1 - mode_after(x, kSteps)));
    }
    return most;
  }();
  return worst;
}

// A Z_6 A against A: at most 0.012532 sqrt(||A||_1 ||A||_inf), for every A (Theorem T6).
Report check_penrose_first(const Check& check) {
  const double part = check.makes("half-constant") ? 0.5 : 1, share = penrose_constant() * part;
  Report report;
  std::vector<Core> cores = cores_of(check, report);
  cores.push_back(worst_core(check));
  double tightest = 0;
  for (const Core& core : cores) {
    const double observed = spectral_norm<double>(core.a * core.z * core.a - core.a), bound = share * core.scale;
    // Rounding of six steps, relative to the size of the bound.
    Finding finding = decide_bound(core.input, observed, bound * (1 + 1e-9));
    finding.d = core.a.n_rows;
    finding.hypotheses = fmt::format("||A Z_6 A - A|| / ||A|| = {:.4g}; sqrt(||A||_1 ||A||_inf) = {:.4g}",
                                     observed / spectral_norm<double>(core.a), core.scale);
    judge_trivial(finding, {{"Z = 0", spectral_norm<double>(core.a)}});
    tightest = std::max(tightest, observed / bound);
    report.findings.push_back(std::move(finding));
  }
  report.number = share;
  report.sentence =
      fmt::format("||A Z_6 A - A|| <= {:.6f} sqrt(||A||_1 ||A||_inf), attained to {:.4f} of it", share, tightest);
  add_worst(report, check, "nys.penrose-1-stochastic", part, part);
  add_worst(report, check, "nys.penrose-1", part, part);
  return report;
}

// Z_6 A Z_6 against Z_6, on a symmetric softmax matrix with the eigenvalues 1 and 1e-3: of the small mode x_6 is all
// but 0, so that Z A Z is x_6 Z there.
Report check_penrose_second(const Check& check) {
  const double small = check.makes("well-conditioned") ? 0.5 : check.value("small mode");
  const arma::mat a = {{(1 + small) / 2, (1 - small) / 2}, {(1 - small) / 2, (1 + small) / 2}};
  const arma::mat z = iterative_inverse(a, {.iterations = kSteps}).inverse;
  const double error = spectral_norm<double>(z * a * z - z) / spectral_norm<double>(z);
  const double expected = 1 - mode_after(small * small, kSteps);
  Finding finding = decide_identity(fmt::format("A = 1/2 (1+s, 1-s; 1-s, 1+s), s = {:g}", small), error,
                                    check.value("relative error"));
  finding.threshold = check.stated("relative error");
  finding.hypotheses = fmt::format("1 - x_6 by the recursion = {:.6g}", expected);
  Report report;
  report.number = error;
  report.sentence = "||Z_6 A Z_6 - Z_6|| / ||Z_6|| for a softmax matrix with singular values 1 and 1e-3";
  report.findings = {std::move(finding)};
  return report;
}

// A Z_6 and Z_6 A are symmetric, since Z_0 = A^T / c makes every Z_t = A^T p(A A^T).
Report check_penrose_symmetry(const Check& check) {
  Report report;
  for (const Core& core : cores_of(check, report)) {
    arma::mat z = core.z;
    if (check.makes("transposed")) z = z.t().eval();
    const arma::mat az = core.a * z, za = z * core.a;
    const double observed = std::max(spectral_norm<double>(az - az.t()), spectral_norm<double>(za - za.t()));
    // Each step is off by m u times the norms of its factors, which grow with Z to at most ||Z_6||.
    const auto m = static_cast<double>(core.a.n_rows);
    const double bound = 40 * kSteps * m * kUnit * frobenius_norm(core.a) * frobenius_norm(core.z);
    Finding finding = decide_identity(core.input, observed, bound, spectral_norm<double>(az));
    finding.d = core.a.n_rows;
    report.number = std::fmax(report.number, observed / bound);
    report.findings.push_back(std::move(finding));
  }
  report.sentence = "largest gap between A Z_6, Z_6 A and their transposes over its rounding bound";
  return report;
}

}  // namespace croquis::claims
