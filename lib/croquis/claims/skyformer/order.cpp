// Theorem 2's deterministic part, M~ <= M in the Loewner order, and the inequality ||C - C~|| <= ||M - M~||.
#include <fmt/format.h>

#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skyformer/checks.hpp>
#include <croquis/claims/skyformer/rounding.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/worst_case.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/random/indices.hpp>

namespace croquis::claims {
namespace {

// The lift M of a problem, stored, and its Nystrom approximations by the library's blocks and pseudo-inverse.
struct StoredLift {
  LiftedPoints<double> points;
  arma::mat matrix;
  double norm;
  double entry;  // relative error of an entry

  explicit StoredLift(const Problem<double>& problem)
      : points(problem.Q(), problem.K()),
        matrix(points.kernel().dense()),
        norm(spectral_norm(matrix)),
        entry(entry_rounding(problem.p(), points.largest_squared_norm())) {}

  struct Approximation {
    arma::mat matrix;             // M~ = F W^+ F^T
    double weights, weights_fro;  // ||Z||, ||Z||_F of Z = W^+ F^T
    double columns_fro, core;     // ||F||_F, ||W||
  };
  Approximation approximate(const arma::uvec& landmarks, double core_scale) const {
    const auto blocks = nystrom_blocks(points, landmarks);
    const arma::mat columns = arma::join_cols(blocks.left, blocks.right);
    const arma::mat core = core_scale * blocks.core;
    const auto inverse = pseudo_inverse_psd<double>(core, core_cutoff(points, landmarks.n_elem));
    const arma::mat weights = inverse.apply(columns.t());
    return {columns * weights, spectral_norm(weights), frobenius_norm(weights), frobenius_norm(columns),
            inverse.largest};
  }
};

struct OrderCase {
  std::string name;
  Problem<double> problem;
};

std::vector<OrderCase> order_cases(const Check& check, arma::uword n) {
  std::vector<OrderCase> cases;
  for (const Subject& s : check.subjects) cases.push_back({s.name, first_tokens(s.problem, n)});
  if (check.own_input) return cases;
  // One token; and tokens so close that M has rank one up to a few digits.
  cases.push_back({"one-token", first_tokens(check.subjects.front().problem, 1)});
  cases.push_back({"gaussian:0.01", gaussian_input(check.draw_key.child("nearly constant"), {n, 4, 0.01})});
  return cases;
}

std::vector<arma::uword> sizes_of(arma::uword n) {
  return n == 1 ? std::vector<arma::uword>{1, 2} : std::vector<arma::uword>{1, n / 4 + 1, 2 * n};
}

}  // namespace

// Any weights Z give a residual (I - S Z)^T M (I - S Z) >= 0 of a positive semi-definite M, that is
//   M - (M S) Z - Z^T (M S)^T + Z^T (S^T M S) Z >= 0.
// The computed Z = T F^T, T being W's truncated inverse with T W T = T, has F Z = Z^T W Z = M~. So M - M~ fails to be
// positive semi-definite only by what M S differs from F, twice times ||Z||, and S^T M S from W, times ||Z||^2:
// entry_rounding of ||F|| and ||W||, and the eigenvalue solver on W. To this come the error of the stored M, the
// product F Z (d u ||F||_F ||Z||_F) and the eigenvalues of the difference.
Report check_order(const Check& check) {
  const auto cases = order_cases(check, check.count("tokens"));
  const double decisions = 3.0 * static_cast<double>(cases.size());
  Report report;
  double worst = 0, loosest = 0;
  for (const OrderCase& c : cases) {
    const StoredLift lift(c.problem);
    for (const arma::uword d : sizes_of(c.problem.n())) {
      // The mistake: Definition 1's factor 1/d in the core alone.
      const double scale = check.makes("core-scale") ? 1 / (1.0 + static_cast<double>(d)) : 1.0;
      const ProbabilityClaim claim{.input = fmt::format("{} n = {} d = {}", c.name, c.problem.n(), d),
                                   .bound = 1,
                                   .delta = 0,
                                   .alpha = check.alpha / decisions,
                                   .most_trials = check.count("draws")};
      const auto tolerance_of = [&](const StoredLift::Approximation& a) {
        const auto features = static_cast<double>(d);
        return lift.entry * lift.norm + 2 * lift.entry * a.columns_fro * a.weights +
               (lift.entry + solver_rounding(d)) * a.core * a.weights * a.weights +
               4 * features * kUnit * a.columns_fro * a.weights_fro + solver_rounding(2 * c.problem.n()) * lift.norm;
      };
      const auto violation = [&](const Key& draw_key) {
        const auto landmarks = sample_with_replacement(2 * c.problem.n(), d, draw_key.child("landmarks"));
        const auto a = lift.approximate(landmarks, scale);
        return -arma::eig_sym(arma::symmatu(lift.matrix - a.matrix)).min() / tolerance_of(a);
      };
      Finding finding = decide_probability(check, claim, violation);
      const auto first = lift.approximate(
          sample_with_replacement(2 * c.problem.n(), d, check.draw_key.child(claim.input).child(0).child("landmarks")),
          scale);
      finding.n = c.problem.n();
      finding.p = c.problem.p();
      finding.d = d;
      add_measured(finding, fmt::format("rounding bound / ||M|| in the first draw = {:.2g}; ||Z|| = {:.3g}",
                                        tolerance_of(first) / lift.norm, first.weights));
      worst = std::max(worst, finding.observed);
      loosest = std::max(loosest, tolerance_of(first) / lift.norm);
      report.findings.push_back(finding);
    }
  }
  report.number = worst;
  report.sentence =
      fmt::format("smallest eigenvalue of M - M~ below zero by {:.1e} of its rounding bound at most", worst);
  return report;
}

// ||C - C~|| with C by exact attention and C~ by the method `skyformer`, against ||M - M~|| with the same landmarks.
// The two sides differ by rounding alone: entries of M against those of C; the order of the products, d u ||F||_F
// ||Z||_F each; and the two norms.
Report check_lift(const Check& check) {
  const auto cases = order_cases(check, check.count("tokens"));
  const double decisions = 3.0 * static_cast<double>(cases.size());
  const double stated = check.makes("quarter-constant") ? 0.25 : check.makes("half-constant") ? 0.5 : 1;
  const auto& method = find_method<double>("skyformer");
  Report report;
  double largest = 0;
  for (const OrderCase& c : cases) {
    const arma::uword n = c.problem.n();
    const StoredLift lift(c.problem);
    const arma::mat scores = exact_scores(c.problem, Target::kernelized).dense();
    const auto prepared_method = prepare(method, c.problem);
    for (const arma::uword d : sizes_of(n)) {
      const ProbabilityClaim claim{.input = fmt::format("{} n = {} d = {}", c.name, n, d),
                                   .bound = stated,
                                   .delta = 0,
                                   .alpha = check.alpha / decisions,
                                   .most_trials = check.count("draws")};
      const auto ratio = [&](const Key& draw_key) {
        const auto landmarks = sample_with_replacement(2 * n, d, draw_key.child("landmarks"));
        const auto a = lift.approximate(landmarks, 1);
        arma::mat approximation = prepared_method.approximate(d, draw_key).scores->dense();
        const auto block_at = [&](const arma::mat& m, arma::uword column) {
          return arma::mat(m.submat(0, column, n - 1, column + n - 1));
        };
        if (check.makes("other-block")) approximation = block_at(a.matrix, 0);
        if (check.makes("core-scale")) {
          approximation = block_at(lift.approximate(landmarks, 1 / (1.0 + static_cast<double>(d))).matrix, n);
        }
        const double whole = spectral_norm<double>(lift.matrix - a.matrix),
                     block = spectral_norm<double>(scores - approximation);
        const double rounding = 2 * lift.entry * lift.norm +
                                8 * static_cast<double>(d) * kUnit * a.columns_fro * a.weights_fro +
                                2 * solver_rounding(2 * n) * lift.norm;
        return block <= rounding ? 0 : (block - rounding) / whole;
      };
      Finding finding = decide_probability(check, claim, ratio);
      finding.n = n;
      finding.p = c.problem.p();
      finding.d = d;
      add_measured(finding, fmt::format("||C|| / ||M|| = {:.4g}", spectral_norm(scores) / lift.norm));
      largest = std::max(largest, finding.observed);
      report.findings.push_back(finding);
    }
  }
  add_worst(report, check, "sky.lift", 2 * stated, 2 * stated);  // proved: 1/2
  report.number = largest;
  report.sentence =
      fmt::format("||C - C~|| is at most {:.4g} ||M - M~|| over all draws; 1/2 is the sharp constant", largest);
  return report;
}

}  // namespace croquis::claims
