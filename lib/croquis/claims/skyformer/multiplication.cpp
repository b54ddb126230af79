// Lemma C.2: ||H Pi Pi^T H^T - H H^T|| <= ||H||^2 / 2, Pi = sqrt(n) S.
#include <fmt/format.h>

#include <boost/math/distributions/binomial.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skyformer/checks.hpp>
#include <croquis/claims/skyformer/small_lift_factor.hpp>
#include <croquis/random/indices.hpp>

namespace croquis::claims {
namespace {

constexpr double kProved = 28.0 / 3;
constexpr const char* kAllColumns = "all columns, d >= n";

struct MultiplicationCase {
  std::string name;
  arma::mat h;  // columns are drawn; rows that are zero in the n x n matrix of the lemma are left out
};

std::vector<MultiplicationCase> multiplication_cases(const Check& check) {
  std::vector<MultiplicationCase> cases;
  for (const Subject& s : check.subjects) {
    if (!check.own_input && s.name != "gaussian:2" && s.name != "duplicates:4") continue;
    const LiftFactor factor = small_lift_factor(s.problem, check);
    cases.push_back({s.name + " Psi", factor.leverage_factor(ridge_of(factor, check), check.value("least weight"))});
  }
  if (check.own_input) return cases;
  const arma::uword size = check.count("identity size"), columns = check.count("columns");
  cases.push_back({"identity", arma::mat(size, size, arma::fill::eye)});
  arma::mat heavy(1, columns);  // one column has nine tenths of the weight: beta = 1/58
  heavy.fill(std::sqrt(0.1 / static_cast<double>(columns - 1)));
  heavy(0) = std::sqrt(0.9);
  cases.push_back({"heavy-column", heavy});
  for (const arma::uword n : {columns, check.count("many columns")}) {
    arma::mat half(1, n, arma::fill::zeros);  // two values: the scalar Bernstein bound with s = 1, beta = 1/2
    half.head_cols(n / 2).ones();
    cases.push_back({"half-columns", half});
  }
  return cases;
}

struct Bound {
  double stable_rank, beta, scale;  // scale = (s / beta) log(2n / delta)
};

Bound bound_with(double stable_rank, double beta, double n, const Check& check) {
  Bound bound{stable_rank, beta, 0};
  if (check.makes("coherence")) bound.beta = 1;
  if (check.makes("no-stable-rank")) bound.stable_rank = 1;
  bound.scale = bound.stable_rank / bound.beta;
  if (!check.makes("no-logarithm")) bound.scale *= std::log(2 * n / check.value("delta"));
  return bound;
}

Bound bound_of(const arma::mat& h, const Check& check) {
  const auto n = static_cast<double>(h.n_cols);
  const arma::rowvec norms = arma::sum(arma::square(h), 0);
  const double frobenius = arma::accu(norms), spectral = arma::eig_sym(arma::symmatu(h * h.t())).max();
  return bound_with(frobenius / spectral, std::min(1.0, frobenius / (n * norms.max())), n, check);
}

// H = I of more columns than draws decide. The error is above 1/2 where a column is drawn more than 1.5 d / n times.
// Two terms of inclusion and exclusion bound the probability of that from below; two columns are both drawn so often
// with the square of the probability of one at most, because each leaves fewer draws for the other.
Finding identity_by_binomial(const Check& check, double constant) {
  const arma::uword columns = check.count("many columns");
  const auto n = static_cast<double>(columns);
  const double delta = check.value("delta"), d = std::ceil(constant * bound_with(n, 1, n, check).scale);
  const double one = cdf(complement(boost::math::binomial(d, 1 / n), std::floor(1.5 * d / n)));
  const double failure = n * one - n * (n - 1) / 2 * one * one;
  Finding finding = decide_exactly(fmt::format("identity n = {}, by the binomial distribution", columns),
                                   !(failure > delta), failure, delta);
  finding.n = columns;
  finding.d = static_cast<arma::uword>(d);
  finding.hypotheses = fmt::format("the probability of a failure is {:.3g} at least; delta = {}", failure, delta);
  return finding;
}

Finding decide(const MultiplicationCase& c, const Check& check, double constant, const Bound& bound, double alpha,
               bool quantile) {
  const auto d = static_cast<arma::uword>(std::ceil(constant * bound.scale));
  const arma::mat gram = arma::symmatu(c.h * c.h.t());
  const double norm = arma::eig_sym(gram).max();
  const double scale = (check.makes("no-scale") ? 1.0 : static_cast<double>(c.h.n_cols)) / static_cast<double>(d);
  Finding finding =
      decide_probability(check,
                         {.input = fmt::format("{} n = {} constant = {:.4g}", c.name, c.h.n_cols, constant),
                          .bound = 0.5,
                          .delta = check.value("delta"),
                          .alpha = alpha,
                          .most_trials = check.count("draws"),
                          .quantile = quantile},
                         [&](const Key& draw_key) {
                           arma::rowvec counts(c.h.n_cols, arma::fill::zeros);
                           for (const arma::uword i : sample_with_replacement(c.h.n_cols, d, draw_key))
                             counts(i) += scale;
                           const arma::mat sketched = c.h.each_row() % counts;
                           return arma::abs(arma::eig_sym(arma::symmatu(sketched * c.h.t() - gram))).max() / norm;
                         });
  finding.n = c.h.n_cols;
  finding.d = d;
  add_measured(finding, fmt::format("s = {:.4g}; beta = {:.4g}; delta = {}", bound.stable_rank, bound.beta,
                                    check.value("delta")));
  return finding;
}

}  // namespace

Report check_multiplication(const Check& check) {
  const std::vector<MultiplicationCase> cases = multiplication_cases(check);
  const auto steps = static_cast<int>(check.value("bisections"));
  const double alpha = check.alpha / static_cast<double>(cases.size()) / (1 + 2 * steps);
  Report report;
  report.number = 0;
  std::size_t verified = 0, counted = 0;
  const double stated = kProved * (check.makes("half-constant") ? 0.5 : check.makes("quarter-constant") ? 0.25 : 1);
  for (const MultiplicationCase& c : cases) {
    const Bound bound = bound_of(c.h, check);
    Finding finding = decide(c, check, stated, bound, alpha, true);
    finding.input = fmt::format("{} n = {}", c.name, c.h.n_cols);
    if (finding.verdict == Verdict::verified) ++verified;
    if (finding.verdict == Verdict::verified && check.mutant.empty()) {
      // Between `fails`, shown to fail too often, and `holds`, shown to hold, the trials do not decide.
      double fails = 0, holds = kProved;
      for (const bool upper : {true, false}) {
        double lo = fails, hi = holds;
        for (int k = 0; k < steps; ++k) {
          const double middle = lo > 0 ? std::sqrt(lo * hi) : hi / 4;
          const Verdict verdict = decide(c, check, middle, bound, alpha, false).verdict;
          if (verdict == Verdict::refuted) fails = std::max(fails, middle);
          if (verdict == Verdict::verified) holds = std::min(holds, middle);
          ((upper ? verdict == Verdict::verified : verdict != Verdict::refuted) ? hi : lo) = middle;
        }
      }
      finding.hypotheses += fmt::format("; smallest constant = {:.3g} [{:.3g}, {:.3g}]",
                                        std::sqrt(std::max(fails, 0.01) * holds), fails, holds);
      report.number = std::max(report.number, holds);
    }
    const bool all = finding.d >= c.h.n_cols;
    if (all) judge_trivial(finding, {{kAllColumns, 0}});
    counted += all ? 0 : 1;
    report.findings.push_back(finding);
  }
  if (!check.own_input) {
    Finding identity = identity_by_binomial(check, stated);
    if (identity.d >= identity.n) judge_trivial(identity, {{kAllColumns, 0}});
    report.findings.push_back(std::move(identity));
  }
  // Between what H = I needs as n grows and 28/3.
  constexpr double needed = 9.24;
  report.tightness = {1, kProved / needed};
  report.sentence = fmt::format("28/3 suffices in {} of {} cases; d < n in {}", verified, cases.size(), counted);
  if (report.number > 0) {
    report.sentence +=
        fmt::format("; {:.3g} would do for all that it suffices for, but I needs {} as n grows", report.number, needed);
  }
  return report;
}

}  // namespace croquis::claims
