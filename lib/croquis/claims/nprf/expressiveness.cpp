// A bias that no dot product of width p replaces: Proposition 1.
#include <fmt/format.h>

#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nprf/biases.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/claims/unit.hpp>
#include <croquis/kernel/softmax.hpp>

namespace croquis::claims {
namespace {

arma::mat toeplitz_of(const arma::vec& bias) {
  const arma::uword n = (bias.n_elem + 1) / 2;
  arma::mat t(n, n);
  for (arma::uword j = 0; j < n; ++j) {
    for (arma::uword i = 0; i < n; ++i) t(i, j) = bias(j + n - 1 - i);
  }
  return t;
}

// Softmax of the two score matrices is the same when they differ by M + beta 1^T = T, M = X W X^T of rank p at most:
// the difference of the products of two heads whose tokens have width p, whatever the weights and the tokens are; or
// one head of width p alone, where the one with the bias has W_rel = 0. With P = I - 11^T/n, which removes beta,
//   min_{M, beta} ||T - M - beta 1^T|| = min_M ||T P - M|| = sigma_{p+1}(T P) >= sigma_{p+2}(T):
// >= because P does not lengthen, = for the best M of T P. Singular values have an error of 8 n u ||T|| at most.
Finding finding_of(const Check& check, const std::string& input, const arma::vec& bias, arma::uword p) {
  const arma::mat t = toeplitz_of(bias);
  const arma::uword n = t.n_rows;
  arma::mat u, v;
  arma::vec values;
  arma::mat centred = t.each_col() - arma::mean(t, 1);
  if (check.makes("query-bias")) centred.zeros();  // b_i, the same for all keys: a multiple of 1^T
  arma::svd(u, values, v, centred);
  const arma::vec of_t = arma::svd(t);
  const arma::uword width = check.makes("wide-heads") ? n - 1 : p;
  const double rounding = 8 * static_cast<double>(n) * kUnit * of_t.max();
  const double residual = width < n ? values(width) : 0;
  const auto rank = static_cast<arma::uword>(arma::accu(of_t > rounding));
  Finding finding = decide_identity(check.of_own(input), rounding, residual);
  finding.n = n;
  finding.p = p;
  finding.estimate = residual;
  finding.power = rounding / of_t.max();  // a residual below it would not be told from none
  if (rank <= p + 1) finding.verdict = Verdict::not_applicable;
  // How far softmax of the best M is from softmax of T, where tokens have no scores of their own.
  const arma::uword kept = std::min<arma::uword>(p, n);
  const arma::mat best = u.head_cols(kept) * arma::diagmat(values.head(kept)) * v.head_cols(kept).t();
  arma::mat wanted = t.t(), found = best.t();
  softmax_columns(wanted);
  softmax_columns(found);
  finding.hypotheses = fmt::format(
      "rank(T) = {}; sigma_(p+2)(T) / ||T|| = {:.4g}; residual / ||T|| = {:.4g}; worst row in total variation = {:.4g}",
      rank, p + 1 < n ? of_t(p + 1) / of_t.max() : 0, residual / of_t.max(),
      arma::max(arma::sum(arma::abs(wanted - found), 0)) / 2);
  return finding;
}

// Outside the hypotheses: W_rel may be any, and tokens are wider than the heads. With M_rel = -(best part of T of rank
// p) the scores with the bias are the rest of T, which for n = 2p has rank p: a head of width p without a bias has
// them.
Finding wide_tokens_finding(const std::string& input, const arma::vec& bias, arma::uword p) {
  const arma::mat t = toeplitz_of(bias);
  arma::mat u, v;
  arma::vec values;
  arma::svd(u, values, v, t);
  const arma::mat rest = t - u.head_cols(p) * arma::diagmat(values.head(p)) * v.head_cols(p).t();
  arma::svd(u, values, v, rest);
  arma::mat with_bias = rest.t(), without = (u.head_cols(p) * arma::diagmat(values.head(p)) * v.head_cols(p).t()).t();
  softmax_columns(with_bias);
  softmax_columns(without);
  Finding finding;
  finding.input = input;
  finding.verdict = Verdict::not_applicable;
  finding.n = t.n_rows;
  finding.p = p;
  finding.estimate = arma::max(arma::sum(arma::abs(with_bias - without), 0)) / 2;
  finding.hypotheses =
      fmt::format("rank(T) = {}; worst row in total variation = {:.4g}", arma::rank(t), finding.estimate);
  return finding;
}

}  // namespace

Report check_expressiveness(const Check& check) {
  Report report;
  std::vector<arma::uword> widths = check.counts("width");
  if (check.own_input) widths = {check.subjects.front().problem.p()};
  for (const arma::uword p : widths) {
    for (const arma::uword n : {p + 2, check.count("tokens over the width") * p}) {
      for (const NamedPosition& bias : finite_biases(n, check.draw_key.child("bias").child(n))) {
        const std::string input = fmt::format("{} n={} p={}", bias.name, n, p);
        report.findings.push_back(finding_of(check, input, bias.position.bias, p));
      }
    }
    // Outside the hypotheses: b_t = t has rank 2, p + 1 tokens leave nothing over, and two heads of wider tokens.
    const arma::vec line = arma::regspace(1 - static_cast<double>(4 * p), static_cast<double>(4 * p) - 1);
    const auto few = finite_biases(p + 1, check.draw_key.child("few"));
    Finding linear = finding_of(check, fmt::format("b_t = t n={} p={}", 4 * p, p), line, p);
    Finding tight = finding_of(check, fmt::format("random:3 n={} p={}", p + 1, p), few.back().position.bias, p);
    linear.verdict = tight.verdict = Verdict::not_applicable;
    report.findings.insert(report.findings.end(), {linear, tight});
    const auto twice = finite_biases(2 * p, check.draw_key.child("twice"));
    report.findings.push_back(wide_tokens_finding(
        check.of_own(fmt::format("random:3 n={} p={}, wider tokens", 2 * p, p)), twice.back().position.bias, p));
  }
  if (check.own_input && !check.subjects.front().problem.position().bias.is_empty() &&
      check.subjects.front().problem.position().height == 1) {
    const Problem<double>& own = check.subjects.front().problem;
    const auto cut = truncated(own.position(), own.n(), std::min<arma::uword>(own.n(), 512));
    if (cut.bias.is_finite()) {
      report.findings.push_back(finding_of(check, "own bias", cut.bias, own.p()));
      if (own.n() <= own.p() + 1) report.findings.back().verdict = Verdict::not_applicable;
    }
  }
  report.number = std::numeric_limits<double>::infinity();
  for (const Finding& f : report.findings) {
    if (f.verdict != Verdict::not_applicable) report.number = std::min(report.number, f.bound / f.observed);
  }
  report.sentence =
      "smallest (distance of a bias to the dot products of width p) / (rounding); no distance at n = p + 1";
  return report;
}

}  // namespace croquis::claims
