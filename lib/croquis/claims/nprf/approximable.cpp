// Whether attention with a bias can be approximated without one: rpe.approximable.
#include <fmt/format.h>

#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nprf/biases.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/random/draws.hpp>

namespace croquis::claims {
namespace {

// Rows divided by their sums.
RationalMatrix normalised(RationalMatrix m) {
  for (std::size_t i = 0; i < m.rows(); ++i) {
    Rational sum = 0;
    for (std::size_t j = 0; j < m.cols(); ++j) sum += m(i, j);
    for (std::size_t j = 0; j < m.cols(); ++j) m(i, j) /= sum;
  }
  return m;
}

Rational power_of_two(int k) {
  const boost::multiprecision::cpp_int one = 1;
  return k >= 0 ? Rational(one << k) : Rational(one, one << -k);
}

arma::mat softmax_of_rows(const arma::mat& scores) {
  arma::mat columns = scores.t();
  softmax_columns(columns);
  return columns.t();
}

double worst_row(const arma::mat& a, const arma::mat& b) {
  return largest_entry<double>(arma::sum(arma::abs(a - b), 1)) / 2;
}

// A search for U V^T of rank p whose softmax is close to that of T: from the best M of T without its row means, steps
// of Adam on the sum of Kullback-Leibler divergences. Gives the smallest largest total variation of a row on the way.
struct Search {
  double start = 0, best = 0;

  Search(const arma::mat& t, arma::uword p, int steps) {
    const arma::mat target = softmax_of_rows(t);
    arma::mat left, right;
    arma::vec values;
    arma::svd(left, values, right, arma::mat(t.each_col() - arma::mean(t, 1)));
    arma::mat factors[2] = {left.head_cols(p) * arma::diagmat(arma::sqrt(values.head(p))),
                            right.head_cols(p) * arma::diagmat(arma::sqrt(values.head(p)))};
    arma::mat first[2], second[2];
    for (int k = 0; k < 2; ++k) {
      first[k].zeros(arma::size(factors[k]));
      second[k].zeros(arma::size(factors[k]));
    }
    best = 1;
    for (int step = 0; step <= steps; ++step) {
      const arma::mat found = softmax_of_rows(factors[0] * factors[1].t()), gap = found - target;
      const double distance = worst_row(found, target);
      if (step == 0) start = distance;
      lower(best, distance);
      const arma::mat gradients[2] = {gap * factors[1], gap.t() * factors[0]};
      for (int k = 0; k < 2; ++k) {
        first[k] = 0.9 * first[k] + 0.1 * gradients[k];
        second[k] = 0.99 * second[k] + 0.01 * arma::square(gradients[k]);
        factors[k] -= 0.05 * first[k] / (1 - std::pow(0.9, step + 1)) /
                      (arma::sqrt(second[k] / (1 - std::pow(0.99, step + 1))) + 1e-8);
      }
    }
  }
};

}  // namespace

// b_t = t log 2: 2^{j-i} is 2^j, a bias of keys, after rows are divided by their sums. A dot product of width 1 has it.
Report check_approximable_strict(const Check& check) {
  constexpr int n = 5;
  RationalMatrix with_bias(n, n), without(n, n);
  const RationalMatrix kernel = {{3, 1, 2, 1, 5}, {1, 4, 1, 2, 2}, {2, 2, 7, 1, 1}, {1, 6, 1, 3, 1}, {5, 1, 1, 1, 2}};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
      with_bias(a, b) = kernel(a, b) * power_of_two(check.makes("alibi") ? -std::abs(j - i) : j - i);
      without(a, b) = kernel(a, b) * power_of_two(j);
    }
  }
  const RationalMatrix gap = normalised(with_bias) - normalised(without);
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) largest = std::max(largest, std::abs(static_cast<double>(gap(i, j))));
  }
  Report report;
  // The sentence says that there is a gap.
  report.findings = {decide_exactly("b_t = t log 2, n = 5", largest > 0, largest, 0)};
  report.number = largest;
  report.sentence =
      "difference of attention with b_t = t log 2 and with a dot product of one column more, in rationals";
  return report;
}

Report check_approximable_charitable(const Check& check) {
  const double wanted = check.value("total variation");
  const arma::uword n = check.count("tokens"), p = check.makes("narrow") ? 2 : check.count("width");
  Report report;
  for (const NamedPosition& named : finite_biases(n, check.draw_key.child("bias"))) {
    const bool deciding = named.name.starts_with("random");
    if (!deciding && check.quick) continue;
    arma::mat t(n, n);
    for (arma::uword j = 0; j < n; ++j) {
      for (arma::uword i = 0; i < n; ++i) t(i, j) = named.position.bias(j + n - 1 - i);
    }
    const auto add = [&](const std::string& input, arma::uword rank) {
      const Search search(t, rank, static_cast<int>(check.value(deciding ? "steps" : "other steps")));
      Finding finding = decide_identity(input, -search.best, -wanted);
      if (!deciding) finding.verdict = Verdict::not_applicable;  // some bias is enough
      finding.n = n;
      finding.p = p;
      finding.estimate = search.best;
      finding.threshold = check.stated("total variation");
      finding.hypotheses = fmt::format("worst row in total variation: best M of T = {:.4g}; after the search = {:.4g}",
                                       search.start, search.best);
      report.findings.push_back(std::move(finding));
    };
    // Q and K of half of the width are columns of tokens X = (Q, K) of the whole width, Q K^T = X W X^T.
    if (deciding) add(named.name + " M = X W X^T", p / 2);
    add(named.name, p);
  }
  report.number = report.findings.back().estimate;
  report.sentence =
      "total variation of the worst row to the closest width-64 dot product that a search finds, normal b_t";
  return report;
}

// T17 far below the n of its proof, at widths that a search is sure of: b_t = L s_t with fair signs s_t, so that a row
// is even over half of the keys. A search that finds none agrees; one that does find such a dot product refutes
// nothing.
Report check_approximable_existence(const Check& check) {
  const arma::uword n = check.count("tokens");
  constexpr double stated = 1.0 / 16;
  const double level = check.value("level");
  arma::vec bias(2 * n - 1);
  fill_normal(check.draw_key.child("signs"), 0, bias.n_elem, bias.memptr());
  bias = level * arma::sign(bias);
  if (check.makes("linear")) bias = 0.05 * arma::regspace(0, static_cast<double>(bias.n_elem) - 1);
  arma::mat t(n, n);
  for (arma::uword j = 0; j < n; ++j) {
    for (arma::uword i = 0; i < n; ++i) t(i, j) = bias(j + n - 1 - i);
  }
  Report report;
  for (const arma::uword p : check.counts("width")) {
    const Search search(t, p, static_cast<int>(check.value("steps")));
    Finding finding = decide_identity(fmt::format("b_t = {:g} s_t, n={} p={}", level, n, p), -search.best, -stated);
    finding.n = n;
    finding.p = p;
    finding.estimate = search.best;
    finding.hypotheses = fmt::format("n from which T17 applies = {:.3g}",
                                     std::exp(1.0) * (double(p) + 2) * std::pow(10 * std::exp(1.0), double(p) + 1));
    // The mistake is a dot product at every n.
    if (finding.verdict == Verdict::refuted && !check.makes("linear")) {
      finding.verdict = Verdict::inconclusive;
      finding.hypotheses += "; would decide = that n";
    }
    report.number = search.best;
    report.findings.push_back(std::move(finding));
  }
  report.sentence =
      "total variation of the worst row to the closest width-4 dot product that a search finds, fair signs";
  return report;
}

}  // namespace croquis::claims
