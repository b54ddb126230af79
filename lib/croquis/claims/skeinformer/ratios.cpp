// What Sec. 3.3 says of Informer's sparsity measure: ske.ratio, ske.informer-order.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/rank_correlation.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/claims/skeinformer/checks.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/unit.hpp>
#include <croquis/measure/vanishing.hpp>
#include <vector>

namespace croquis::claims {
namespace {

using Weights = std::vector<Rational>;

// sum a^2 / (sum a)^2 = p_i^2.
Rational squared_probability(const Weights& a) {
  Rational squares = 0, sum = 0;
  for (const Rational& x : a) squares += x * x, sum += x;
  return squares / (sum * sum);
}

// (mean a^2) / (mean a)^2: the square of the ratio of the quadratic and the arithmetic mean.
Rational squared_ratio(const Weights& a) {
  Rational squares = 0, sum = 0;
  const Rational n = static_cast<int>(a.size());
  for (const Rational& x : a) squares += x * x / n, sum += x / n;
  return squares / (sum * sum);
}

// e^{n M}: (arithmetic over geometric mean)^n times n^n, (sum a)^n / prod a. M itself has its order.
Rational exponential_of_measure(const Weights& a) {
  Rational sum = 0, product = 1, power = 1;
  for (const Rational& x : a) sum += x, product *= x;
  for (std::size_t k = 0; k < a.size(); ++k) power *= sum;
  return power / product;
}

}  // namespace

Report check_ratio_strict(const Check& check) {
  const Weights a = {1, 1};
  const Rational factor = check.makes("with-sqrt-n") ? 2 : 1;  // n, of squares
  const Rational p = factor * squared_probability(a), ratio = squared_ratio(a);
  Report report;
  report.findings.push_back(
      decide_exactly("a = (1, 1)", p == ratio, static_cast<double>(p), static_cast<double>(ratio)));
  report.findings.back().hypotheses = fmt::format("p^2 = {}; ratio^2 = {}", p.str(), ratio.str());
  // All rows flat, n = 4: every p_i is 1/2, and they add up to 2.
  if (check.mutant.empty()) {
    const Rational each = squared_probability({1, 1, 1, 1});
    report.findings.push_back(decide_exactly("flat, n = 4: sum p_i = 1", each == Rational(1, 16), 2, 1));
    report.findings.back().hypotheses = fmt::format("p_i^2 = {} for all four i", each.str());
  }
  report.number = std::sqrt(static_cast<double>(p / ratio));
  report.sentence = "p_i over the ratio of means for a = (1, 1): a factor sqrt(n) is missing, and the p_i add up to 2";
  return report;
}

Report check_ratio_corrected(const Check& check) {
  Report report;
  for (const Weights& a :
       {Weights{1, 1}, Weights{1, 2, 4}, Weights{Rational(1, 64), 1, 1, 1}, Weights{3, 1, 4, 1, 5}}) {
    const Rational n = check.makes("without-n") ? 1 : static_cast<int>(a.size());
    const Rational left = n * squared_probability(a), right = squared_ratio(a);
    report.findings.push_back(decide_equation(fmt::format("n = {}, a_1 = {}", a.size(), a.front().str()), left == right,
                                              static_cast<double>(left), static_cast<double>(right)));
  }
  report.number = 0;
  report.sentence = "difference of n p_i^2 and the squared ratio of means, in rationals";
  return report;
}

Report check_informer_order_strict(const Check& check) {
  const auto pair = [&](const std::string& input, const Weights& a, const Weights& b) {
    const Rational pa = squared_probability(a), pb = squared_probability(b), ma = exponential_of_measure(a),
                   mb = exponential_of_measure(b);
    Finding finding = decide_least(input, (pa > pb) == (ma > mb), static_cast<double>(Rational(pa - pb)), 0);
    finding.hypotheses =
        fmt::format("p^2 = {} and {}; (sum a)^n / prod a = {} and {}", pa.str(), pb.str(), ma.str(), mb.str());
    return finding;
  };
  Report report;
  if (check.makes("two-keys")) {  // of two keys either number decides the other
    report.findings = {pair("(1, 2) and (1, 3)", {1, 2}, {1, 3})};
  } else {
    report.findings = {pair("(1, 2, 4) and (1, 1, 3)", {1, 2, 4}, {1, 1, 3}),
                       pair("(1, 1, 1, 1/64) and (4, 1, 1, 1)", {1, 1, 1, Rational(1, 64)}, {4, 1, 1, 1})};
  }
  report.number = report.findings.back().estimate;
  report.sentence = "p^2 of the first row less that of the second, whose M is smaller: the two orders differ";
  return report;
}

Report check_informer_order_heads(const Check& check) {
  const double wanted = check.value("rank correlation");
  const auto tokens = check.count("tokens");
  Report report;
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, tokens);
    arma::mat logits = problem.Q() * problem.K().t() / std::sqrt(static_cast<double>(problem.p()));
    const arma::vec top = arma::max(logits, 1);
    logits.each_col() -= top;
    const arma::mat a = arma::exp(logits);
    const arma::vec p = arma::sqrt(arma::sum(arma::square(a), 1)) / arma::sum(a, 1);
    // log of the arithmetic over the geometric mean, up to log n.
    const arma::vec m = arma::log(arma::sum(a, 1)) - arma::mean(logits, 1);
    // A score less the largest of its row is off by 2 (p + 2) u L, L = largest_score, sums over n keys by another n u,
    // the mean of scores by n u 2L: p_i and M_i are off by half of this at most.
    const double rounding =
        4 * static_cast<double>(problem.n() + 2 * problem.p() + 8) * kUnit * (1 + largest_score(problem));
    const double correlation = rank_correlation(p, check.makes("its-own-order") ? p : m, rounding);
    Finding finding = std::isnan(correlation)
                          ? not_applicable(subject.name, "p_i or M_i is the same in all rows, which have no order")
                          : decide_identity(subject.name, -correlation, -wanted);
    finding.n = problem.n();
    finding.p = problem.p();
    finding.estimate = correlation;
    finding.threshold = check.stated("rank correlation");
    const arma::uword quarter = std::max<arma::uword>(1, problem.n() / 4);
    const arma::uvec by_p = arma::sort_index(p, "descend"), by_m = arma::sort_index(m, "descend");
    add_measured(finding, fmt::format("share of the quarter with the largest p that has the largest M = {:.3g}",
                                      double(arma::intersect(by_p.head(quarter), by_m.head(quarter)).eval().n_elem) /
                                          double(quarter)));
    report.number = std::fmin(report.number, correlation);
    report.findings.push_back(std::move(finding));
  }
  report.sentence = "smallest rank correlation of p_i and M_i over the rows of an input";
  return report;
}

}  // namespace croquis::claims
