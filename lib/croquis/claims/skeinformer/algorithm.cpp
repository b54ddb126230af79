// Algorithm 1: what it computes, at which cost, and that its columns are no sampling matrix of Definition 3.1.
#include <fmt/format.h>

#include <cmath>
#include <croquis/attention/method.hpp>
#include <croquis/attention/skeinformer.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/claims/skeinformer/checks.hpp>
#include <croquis/claims/skeinformer/counted_methods.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/linalg/norms.hpp>

namespace croquis::claims {
namespace {

std::vector<Subject> small_subjects(const Check& check) {
  std::vector<Subject> all;
  for (const Subject& subject : check.subjects) {
    all.push_back({subject.name, first_tokens(subject.problem, check.count("tokens"))});
  }
  return all;
}

}  // namespace

// Line by line in a plain implementation (counted_skeinformer), and the weights against Eq. 6: the rows of B~ sum to 1.
Report check_algorithm(const Check& check) {
  Report report;
  for (const Subject& subject : small_subjects(check)) {
    const arma::uword n = subject.problem.n();
    for (const arma::uword part : {16, 4}) {
      const arma::uword d = n / part;
      if (d == 0) {
        report.findings.push_back(too_few_tokens(fmt::format("{} d=n/{}", subject.name, part), part));
        continue;
      }
      const Key draw_key = check.draw_key.child(subject.name).child(d);
      const CountedOutput own = counted_skeinformer(subject.problem, d, false, draw_key);
      SkeinformerOptions options;
      if (check.makes("simple-normalisation")) options.rows = SkeinformerOptions::Rows::simple;
      if (check.makes("no-reuse")) options.reuse = false;
      const arma::mat library = skeinformer(subject.problem, d, draw_key, options).output;
      const double error = std::sqrt(largest_entry<double>(arma::sum(arma::square(library - own.output), 1)));
      Finding finding = decide_identity(fmt::format("{} d={}", subject.name, d), error, own.rounding,
                                        std::sqrt(arma::max(arma::sum(arma::square(own.output), 1))));
      finding.n = n;
      finding.p = subject.problem.p();
      finding.d = d;
      report.number = std::fmax(report.number, error / own.rounding);
      report.findings.push_back(std::move(finding));
    }
  }
  report.sentence = "largest row error between Algorithm 1, line by line, and the library over its rounding";
  return report;
}

// d = 0: no column is exact, and every entry of a row is the same g > 0, whatever it is: R = diag(n g)^-1 g v^T.
Report check_v_mean_is_empty(const Check& check) {
  const RationalMatrix v = {{1, 2}, {3, -1}, {Rational(1, 2), 5}};
  const Rational n = 3;
  Report report;
  for (const Rational& g : {Rational(1), Rational(7, 3), Rational(1, 1000)}) {
    bool same = true;
    Rational gap = 0;
    for (std::size_t c = 0; c < v.cols(); ++c) {
      Rational sum = 0;
      for (std::size_t i = 0; i < v.rows(); ++i) sum += v(i, c);
      const Rational denominator = g * (check.makes("d-counted") ? 2 : 3);
      const Rational output = g * sum / denominator, mean = sum / n;
      same = same && output == mean;
      gap = std::max<Rational>(gap, boost::multiprecision::abs(Rational(output - mean)));
    }
    report.findings.push_back(
        decide_equation(fmt::format("n = 3, g = {}", g.str()), same, static_cast<double>(gap), 0));
  }
  report.number = 0;
  report.sentence = "difference of Algorithm 1 without columns and the mean of the values, for any fill-in g > 0";
  return report;
}

// Line 4 draws without replacement, Definition 3.1 with: n = d = 2, p = (3/4, 1/4), terms (3/4, -1/4).
Report check_without_replacement(const Check& check) {
  const std::vector<Rational> p = {Rational(3, 4), Rational(1, 4)}, x = {Rational(3, 4), Rational(-1, 4)};
  constexpr int d = 2;
  Rational mean = 0;
  for (std::size_t first = 0; first < 2; ++first) {
    for (std::size_t second = 0; second < 2; ++second) {
      const bool replacement = check.makes("with-replacement");
      if (!replacement && first == second) continue;
      const Rational chance = p[first] * (replacement ? p[second] : Rational(1));
      mean += chance * (x[first] / (d * p[first]) + x[second] / (d * p[second]));
    }
  }
  const Rational truth = x[0] + x[1];
  Report report;
  report.findings = {decide_exactly("n = d = 2, p = (3/4, 1/4), terms 3/4, -1/4", mean == truth,
                                    static_cast<double>(mean), static_cast<double>(truth))};
  report.findings.front().hypotheses = fmt::format("mean = {}; sum of the terms = {}", mean.str(), truth.str());
  report.number = static_cast<double>(mean);
  report.sentence = "mean of sum x_i / (d p_i) over draws without replacement where the sum of all x_i is 1/2";
  return report;
}

// O(n log n) rests on d = O(log n), and that on Lemma 1, whose C would be a constant: C <= 1/n.
Report check_complexity_strict(const Check& check) {
  Report report;
  for (const double n : check.values("tokens")) {
    const double delta = check.value("delta");
    const double c = check.makes("constant-c") ? 1 : 1 / n;  // the largest that there can be
    const double rows = std::ceil(2 / (c * c) * std::log(2 * n / delta));
    Finding finding = decide_identity(fmt::format("n={:.0f}", n), rows, check.value("factor") * std::log2(n));
    finding.n = static_cast<arma::uword>(n);
    finding.hypotheses = fmt::format("C at most = {:.4g}; pilot rows of Lemma 1 at least = {:.4g}; n log2 n = {:.4g}",
                                     c, rows, n * std::log2(n));
    if (c < 1) {
      finding.verdict = Verdict::vacuous;
      finding.trivial = "all rows: exact attention";
    }
    report.findings.push_back(std::move(finding));
  }
  report.number = report.findings.back().observed;
  report.sentence = "pilot rows that Lemma 1 asks for at n = 65536, at least: it cannot give d = O(log n)";
  return report;
}

Report check_complexity(const Check& check) {
  Report report;
  const bool exact_norms = check.makes("exact-norms");
  for (const arma::uword n : check.counts("tokens")) {
    for (const arma::uword d : check.counts("d")) {
      for (const arma::uword p : check.counts("width")) {
        const auto problem = gaussian_input(check.draw_key.child("problem"), {n, p, 1});
        const double counted = counted_skeinformer(problem, d, exact_norms, check.draw_key.child("draw")).multiply_adds;
        const double stated = 4.0 * double(n) * double(d) * double(p);
        Finding finding = decide_exactly(fmt::format("n={} d={} p={}", n, d, p), counted == stated, counted, stated);
        finding.n = n;
        finding.p = p;
        finding.d = d;
        finding.power = 1 / stated;
        report.findings.push_back(std::move(finding));
      }
    }
  }
  report.number = 4;
  report.sentence = "multiply-adds of Algorithm 1 over n d p at given d, exactly, for every n, d and p tried";
  return report;
}

}  // namespace croquis::claims
