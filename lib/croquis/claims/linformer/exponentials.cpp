// The steps of the proof of Theorem 2: exponentials of projections (lin.eq9, lin.eq23) and the coefficients of rows in
// chosen rows (lin.eq26).
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/linformer/checks.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sketch/gaussian.hpp>

namespace croquis::claims {
namespace {

// All choices of r out of m rows, one after the other: false after the last.
bool next_choice(std::vector<arma::uword>& rows, arma::uword m) {
  const std::size_t r = rows.size();
  for (std::size_t i = r; i-- > 0;) {
    if (rows[i] + (r - i) < m) {
      ++rows[i];
      for (std::size_t j = i + 1; j < r; ++j) rows[j] = rows[j - 1] + 1;
      return true;
    }
  }
  return false;
}

// The largest coefficient of a row of M in the rows of M whose determinant is largest (or smallest, but not zero).
double largest_coefficient(const arma::mat& m, bool smallest) {
  std::vector<arma::uword> rows(m.n_cols), chosen;
  for (arma::uword i = 0; i < m.n_cols; ++i) rows[i] = i;
  double volume = smallest ? std::numeric_limits<double>::infinity() : 0;
  do {
    const double determinant = std::abs(arma::det(m.rows(arma::uvec(rows))));
    if (smallest ? determinant > 1e-8 && determinant < volume : determinant > volume)
      volume = determinant, chosen = rows;
  } while (next_choice(rows, m.n_rows));
  return largest_entry<double>(m * arma::inv(m.rows(arma::uvec(chosen))));
}

}  // namespace

// x = 0, y = 1: exp(x E^T) F y^T = e^{-delta} N(0, n) for every k, and exp(x) y^T = n.
Report check_exponentials(const Check& check) {
  const double epsilon = check.value("epsilon");
  const arma::uword k = check.count("k");
  Report report;
  const boost::math::normal normal;
  for (const arma::uword n : check.counts("tokens")) {
    const double tokens = static_cast<double>(n), delta = std::exp2(-tokens);
    ProbabilityClaim claim;
    claim.input = fmt::format("x = 0, y = 1, n = {}", n);
    claim.bound = epsilon * tokens;
    claim.delta = 2 * std::exp(-(epsilon * epsilon * (1 - epsilon)) * static_cast<double>(k) / 4);
    claim.alpha = check.alpha / static_cast<double>(check.counts("tokens").size());
    claim.most_trials = check.count("draws");
    Finding finding = decide_probability(check, claim, [&](const Key& draw_key) {
      if (check.makes("no-compression")) return 0.0;  // E = F = I
      const GaussianSketch r(n, k, draw_key);
      return std::abs(std::exp(-delta) * arma::accu(r.left(arma::mat(n, 1, arma::fill::ones))) - tokens);
    });
    // |e^{-delta} sqrt(n) g - n| > eps n, g normal.
    const double root = std::sqrt(tokens) * std::exp(delta);
    const double failure = boost::math::cdf(boost::math::complement(normal, (1 + epsilon) * root)) +
                           boost::math::cdf(normal, (1 - epsilon) * root);
    finding.n = n;
    finding.d = k;
    add_measured(finding, fmt::format("delta = {:.3g}; exact failure = {:.6g}", claim.delta, failure));
    report.number = std::max(std::isnan(report.number) ? 0 : report.number, failure);
    report.findings.push_back(std::move(finding));
  }
  report.sentence =
      "largest exact failure of (9) at x = 0, y = 1, where it is that of a normal distribution, whatever k";
  return report;
}

// x = 0: exp(delta x R) = 1, exp(delta x) R = 1^T R ~ N(0, n/k I_k), so that E||.||^2 = k + n, and ||exp x||^2 = n.
Report check_small_delta(const Check& check) {
  Report report;
  const arma::uword k = check.count("k");
  for (const arma::uword n : check.counts("tokens")) {
    const double expected = check.makes("first-order") ? 0 : static_cast<double>(k + n) / static_cast<double>(n);
    // The quotient is not o(1): its mean is above 1 for every n and delta.
    Finding finding = decide_exactly(fmt::format("x = 0, n = {}", n), expected < 1, expected, 1);
    finding.n = n;
    finding.d = k;
    finding.hypotheses = "observed: E||exp(delta x R) - exp(delta x) R||^2 / ||exp x||^2";
    report.findings.push_back(std::move(finding));
  }
  report.number = report.findings.back().observed;
  report.sentence = "E||exp(delta x R) - exp(delta x) R||^2 / ||exp x||^2 at x = 0: 1 + k/n, for every delta";
  return report;
}

// d = 1, queries 0, log(1+h) and log 2, keys (1, 0, 0), V = (1, -1, 0): row i of (exp(A E^T) F V, exp(A) V) is
// (x_i, e^{q_i} - 1). The first two rows, with 0 and h, have the rank 2, and the third has 1/h of the second whatever
// x_1 != 0 is. Here x_i = 1, as for delta -> 0, where the x_i are all the same; a factor of theirs does not change
// Gamma.
Report check_coefficients_any(const Check& check) {
  Report report;
  for (const double one_over : check.values("1/h")) {
    const auto inverse = static_cast<int>(one_over);
    const Rational h(1, check.makes("orthogonal") ? 1 : inverse);
    const RationalMatrix rows = {{1, 0}, {check.makes("orthogonal") ? 0 : 1, h}}, other = {{1, 1}};
    const RationalMatrix gamma = other * croquis::claims::inverse(rows);
    const double largest =
        std::max(std::abs(static_cast<double>(gamma(0, 0))), std::abs(static_cast<double>(gamma(0, 1))));
    constexpr double width = 1;  // d = 1: Theta(d) is a constant
    Finding finding =
        decide_exactly(fmt::format("rows (1, 0), (1, h), h = 1/{}", inverse), largest <= width, largest, width);
    if (finding.verdict == Verdict::refuted) finding.verdict = Verdict::refuted_proof;
    report.number = largest;
    report.findings.push_back(std::move(finding));
  }
  report.sentence =
      "entry of Gamma for rows of full rank that are nearly parallel: it grows as 1/h, no constant serves";
  return report;
}

// Rows of largest determinant: each coefficient is a quotient of two determinants (Cramer), the larger below.
Report check_coefficients_best(const Check& check) {
  Report report;
  report.number = 0;
  const arma::uword rows = check.count("rows");
  for (const arma::uword columns : check.counts("columns")) {
    for (const std::uint64_t trial : {0, 1, 2}) {
      arma::mat m(rows, columns);
      fill_normal(Key(check.count("seed")).child("lin.eq26").child(columns).child(trial), 0, m.n_elem, m.memptr());
      if (trial == 2) m.col(1) = m.col(0) + 1e-3 * m.col(1);  // nearly dependent
      const double largest = largest_coefficient(m, check.makes("smallest-determinant"));
      Finding finding = decide_bound(fmt::format("normals {} x {}, {}", rows, columns, trial), largest,
                                     check.makes("half") ? 0.5 : 1 + 1e-10);
      finding.n = rows;
      finding.p = columns / 2;
      report.number = std::max(report.number, largest);
      report.findings.push_back(std::move(finding));
    }
  }
  report.sentence = "largest entry of Gamma for the 2d rows of largest determinant; 1 is Cramer's bound";
  report.tightness = {1, 1};  // the chosen rows themselves have the coefficient 1
  return report;
}

// The last line bounds the error of row i by Theta(d) ||exp(A_s)|| ||V||, where eps ||exp(A_i)|| ||V|| is wanted.
Report check_last_line(const Check& check) {
  Report report;
  for (const double t : check.values("t")) {
    // p = 1, k = (1, ..., 1): row i has q = 0, the chosen row has q = t, exp(A_s) = e^t exp(A_i).
    const double ratio = check.makes("same-row") ? 1 : std::exp(t);
    Finding finding = decide_exactly(fmt::format("q_i = 0, q_s = {:g}, k = 1", t), ratio <= 1, ratio, 1);
    if (finding.verdict == Verdict::refuted) finding.verdict = Verdict::refuted_proof;
    report.number = ratio;
    report.findings.push_back(std::move(finding));
  }
  report.sentence = "||exp(A_s)|| / ||exp(A_i)||: the proof's last line has the one where the theorem needs the other";
  return report;
}

}  // namespace croquis::claims
