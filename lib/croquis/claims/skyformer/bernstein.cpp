// Lemma C.1, the matrix Bernstein inequality.
#include <fmt/format.h>

#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skyformer/checks.hpp>
#include <croquis/claims/skyformer/small_lift_factor.hpp>
#include <croquis/claims/worst_case.hpp>
#include <croquis/random/indices.hpp>
#include <memory>

namespace croquis::claims {
namespace {

// A sum of independent symmetric matrices with mean 0, the largest norm R of a term and sigma^2 = ||sum E X_k^2||.
struct Ensemble {
  std::string name;
  arma::uword size, terms;
  double largest, variance, one_variance;  // of all terms and of one
  std::function<double(const Key&)> norm;
};

double sign(const Key& draw_key, std::uint64_t k) {
  return draw_key.block(k / 128)[(k / 32) % 4] >> (k % 32) & 1 ? 1 : -1;
}

// Entry k of a diagonal, ten terms +-1 each: the norm is the largest of `size` sums of ten signs. With size = 1 it is
// Bernstein's scalar inequality.
Ensemble diagonal_signs(arma::uword size, arma::uword terms) {
  return {fmt::format("diagonal-signs size = {}", size),
          size,
          terms * size,
          1,
          static_cast<double>(terms),
          1,
          [=](const Key& draw_key) {
            double largest = 0;
            for (arma::uword i = 0; i < size; ++i) {
              double sum = 0;
              for (arma::uword k = 0; k < terms; ++k) sum += sign(draw_key, i * terms + k);
              largest = std::max(largest, std::abs(sum));
            }
            return largest;
          }};
}

// X_ij = +-(e_i e_j^T + e_j e_i^T), i < j: a symmetric matrix of signs, ||X_ij|| = 1, sum E X^2 = (size - 1) I.
Ensemble sign_matrix(arma::uword size) {
  return {fmt::format("sign-matrix size = {}", size),
          size,
          size * (size - 1) / 2,
          1,
          static_cast<double>(size) - 1,
          1,
          [=](const Key& draw_key) {
            arma::mat sum(size, size, arma::fill::zeros);
            std::uint64_t k = 0;
            for (arma::uword i = 0; i < size; ++i) {
              for (arma::uword j = 0; j < i; ++j) sum(i, j) = sum(j, i) = sign(draw_key, k++);
            }
            return arma::abs(arma::eig_sym(sum)).max();
          }};
}

// The sum of Lemma C.2 for H = Psi^T of a subject: X_k = (N/d) h h^T - H H^T / d for a uniform column h of the r x N
// matrix H. d^2 E X^2 = N sum_i ||h_i||^2 h_i h_i^T - (H H^T)^2.
Ensemble sampled_columns(const std::string& name, const LiftFactor& factor, const Check& check) {
  const arma::uword columns = check.count("columns");
  const auto d = static_cast<double>(columns);
  const auto h =
      std::make_shared<const arma::mat>(factor.leverage_factor(ridge_of(factor, check), check.value("least weight")));
  const arma::mat gram = *h * h->t();
  const auto points = static_cast<double>(h->n_cols);
  const arma::rowvec norms = arma::sum(arma::square(*h), 0);
  const arma::mat weighted = h->each_row() % norms;
  const double variance = arma::norm(arma::symmatu(points * weighted * h->t() - gram * gram), 2) / d;
  const double largest = std::max(points * norms.max(), arma::eig_sym(gram).max()) / d;
  return {fmt::format("{} sampled-columns size = {}", name, h->n_rows),
          h->n_rows,
          columns,
          largest,
          variance,
          variance / d,
          [=](const Key& draw_key) {
            const arma::mat drawn = h->cols(sample_with_replacement(h->n_cols, columns, draw_key));
            return arma::abs(arma::eig_sym(arma::symmatu(points / d * drawn * drawn.t() - gram))).max();
          }};
}

std::vector<Ensemble> ensembles_of(const Check& check) {
  std::vector<Ensemble> all;
  if (!check.own_input) {
    const arma::uword terms = check.count("signs");
    for (const arma::uword size : check.counts("diagonal sizes")) all.push_back(diagonal_signs(size, terms));
    all.push_back(sign_matrix(check.count("matrix size")));
  }
  for (const Subject& s : check.subjects) {
    if (!check.own_input && s.name != "gaussian:2" && s.name != "clustered:8") continue;
    all.push_back(sampled_columns(s.name, small_lift_factor(s.problem, check), check));
  }
  return all;
}

// One sign, n = 1: ||X|| is 1 with probability 1, and the bound at t = R = sigma = 1 is 2 exp(-3/8). `dimension` is the
// 2n of the lemma, or what a rung has in its place.
Finding one_sign(double dimension) {
  const double bound = dimension * std::exp(-0.5 / (1 + 1.0 / 3));
  Finding finding = decide_exactly("one sign, n = 1, t = 1", bound >= 1, 1, bound);
  finding.d = 1;
  finding.hypotheses = fmt::format("R = 1; sigma^2 = 1; the bound is {:.3g}, and the probability is 1", bound);
  judge_trivial(finding, {{"a probability is at most 1", 1}});
  return finding;
}

}  // namespace

Report check_bernstein(const Check& check) {
  const std::vector<double>& tails = check.values("tails");
  const auto ensembles = ensembles_of(check);
  const double alpha = check.alpha / static_cast<double>(tails.size() * ensembles.size());
  Report report;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  const auto dimension_of = [&](double size) {
    return check.makes("no-dimension") ? 1 : (check.makes("one-side") ? 1 : 2) * size;
  };
  if (!check.own_input) report.findings.push_back(one_sign(dimension_of(1)));
  for (const Ensemble& e : ensembles) {
    const double dimension = dimension_of(static_cast<double>(e.size));
    const double variance =
        (check.makes("one-variance") ? e.one_variance : e.variance) * (check.makes("half-variance") ? 0.5 : 1);
    for (const double tail : tails) {
      // The t at which the bound is `tail`: t^2 / 2 = L (sigma^2 + R t / 3), L = log(2n / tail).
      const double log_term = std::log(dimension / tail), linear = e.largest * log_term / 3;
      const double t = linear + std::sqrt(linear * linear + 2 * variance * log_term);
      Finding finding = decide_probability(check,
                                           {.input = fmt::format("{} tail = {}", e.name, tail),
                                            .bound = std::nextafter(t, 0.0),  // the claim is on ||sum|| >= t
                                            .delta = tail,
                                            .alpha = alpha,
                                            .most_trials = check.count("draws")},
                                           e.norm);
      finding.d = e.terms;
      add_measured(finding,
                   fmt::format("t = {:.4g}; R = {:.4g}; sigma^2 = {:.4g}; tail = {}", t, e.largest, e.variance, tail));
      least = std::min(least, t / finding.observed);
      most = std::max(most, t / finding.observed);
      report.findings.push_back(finding);
    }
    Finding trivial;
    trivial.input = fmt::format("{} t = sigma", e.name);
    trivial.verdict = Verdict::vacuous;
    trivial.d = e.terms;
    const double sigma = std::sqrt(e.variance);
    trivial.bound = 2 * static_cast<double>(e.size) * std::exp(-0.5 / (1 + e.largest / sigma / 3));
    trivial.hypotheses = fmt::format("t = {:.4g}; the bound on a probability is 1 or more", sigma);
    if (trivial.bound >= 1) report.findings.push_back(trivial);
  }
  report.number = least;
  report.sentence =
      fmt::format("t is {:.3g} to {:.3g} times the quantile of the norm where the bound is 0.5 to 0.01", least, most);
  // With half of the variance t is sqrt(1/2) of what it was, where R t is small beside sigma^2.
  const double part = check.makes("half-variance") ? std::sqrt(0.5) : 1;
  add_worst(report, check, "sky.lemmaC1", part, part);
  return report;
}

}  // namespace croquis::claims
