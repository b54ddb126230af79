#include <fmt/format.h>

#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skyformer/checks.hpp>
#include <croquis/claims/skyformer/rounding.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/kernel_matrix.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/norms.hpp>

namespace croquis::claims {
namespace {

struct Points {
  std::string name;
  arma::mat x;
};

// All tokens of a subject, queries and keys, and sets that strain the lemma: one point, opposite points so far out that
// SM itself would overflow, one point many times.
std::vector<Points> sets_of(const Check& check) {
  std::vector<Points> sets;
  for (const Subject& s : check.subjects) {
    const auto part = first_tokens(s.problem, check.count("tokens"));
    sets.push_back({s.name, arma::join_cols(part.Q(), part.K())});
  }
  if (check.own_input) return sets;
  sets.push_back({"one-point", arma::mat{{1.0, -2.0}}});
  sets.push_back({"opposite-points", arma::mat{{40.0, 0.0}, {-40.0, 0.0}, {0.0, 40.0}}});
  sets.push_back({"equal-points", arma::mat(20, 3, arma::fill::ones)});
  return sets;
}

// What is compared is D^{-1/2} SM D^{-1/2} with kappa, and the eigenvalues of both SM / max SM and D^{-1/2} SM
// D^{-1/2}: the same statements for every set, and nothing overflows.
std::vector<Finding> findings_of(const Points& set, const Check& check) {
  const arma::uword n = set.x.n_rows, p = set.x.n_cols;
  arma::mat s = arma::symmatu(scores_transposed<double>(set.x, set.x));
  if (check.makes("sign")) s = -s;
  const double largest = arma::abs(s.diag()).max();
  const arma::vec half = (check.makes("root") ? 1.0 : 0.5) * arma::abs(s.diag());
  arma::mat scaled = s;
  scaled.each_col() -= half;
  scaled.each_row() -= half.t();
  scaled = arma::exp(scaled);
  const arma::mat points = set.x * std::pow(static_cast<double>(p), -0.25);
  const arma::mat kernel = gaussian_kernel_matrix<double>(points).dense();
  const arma::mat unnormalised = arma::exp(s - s.max());

  // Exponents on both sides: ||x||^2 / sqrt(p) up to `largest`, up to 4 times that after the move to the mean.
  const double entry = entry_rounding(p, largest) + entry_rounding(p, 4 * largest);
  std::vector<Finding> findings = {
      decide_identity(set.name + " identity", largest_entry<double>(scaled - kernel), entry, kernel.max())};
  const auto definite = [&](const char* what, const arma::mat& matrix) {
    const arma::vec eigenvalues = arma::eig_sym(matrix);
    const double norm = arma::abs(eigenvalues).max();
    Finding finding =
        decide_identity(fmt::format("{} {}", set.name, what), -eigenvalues.min() / norm, entry + solver_rounding(n), 1);
    finding.estimate = eigenvalues.min() / norm;
    findings.push_back(finding);
  };
  definite("SM", unnormalised);
  definite("kappa", scaled);
  for (Finding& f : findings) {
    f.n = n;
    f.p = p;
    f.hypotheses = fmt::format("largest ||q||^2 / sqrt(p) = {:.4g}", largest);
  }
  return findings;
}

}  // namespace

Report check_lemma1(const Check& check) {
  const std::vector<Points> sets = sets_of(check);
  std::vector<std::vector<Finding>> found(sets.size());
  parallel_for(sets.size(), [&](std::size_t i) { found[i] = findings_of(sets[i], check); });
  Report report;
  double smallest = 1, worst = 0;
  for (const auto& findings : found) {
    worst = std::max(worst, findings[0].observed / findings[0].bound);
    smallest = std::min({smallest, findings[1].estimate, findings[2].estimate});
    report.findings.insert(report.findings.end(), findings.begin(), findings.end());
  }
  report.number = smallest;
  report.sentence = fmt::format("smallest eigenvalue {:.1e} ||SM||; the identity holds to {:.2g} of its rounding bound",
                                smallest, worst);
  return report;
}

}  // namespace croquis::claims
