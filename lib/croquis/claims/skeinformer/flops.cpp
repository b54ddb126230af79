// Leading terms of the work: Table 5.
#include <fmt/format.h>

#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skeinformer/checks.hpp>
#include <croquis/claims/skeinformer/counted_methods.hpp>
#include <croquis/inputs/synthetic.hpp>

namespace croquis::claims {
namespace {

constexpr arma::uword kTokens = 160, kWidth = 16, kFeatures = 16;

using Count = std::function<CountedOutput(const Problem<double>&)>;

struct Row {
  std::string title, method;
  std::map<std::string, std::string> options;
  arma::uword features;  ///< d of the method
  double table;          ///< the coefficient of n d p in Table 5
  Count count;
};

Row bigbird_row(const Key& key) {
  return {"BigBird", "bigbird", {{"block", "4"}}, 40, 5, [=](const auto& p) { return counted_bigbird(p, 40, 4, key); }};
}

Row nystromformer_row() {
  return {"Nystromformer, F (Z (G V))", "nystromformer", {}, kFeatures, 4, [=](const auto& p) {
            return counted_nystromformer(p, kFeatures);
          }};
}

Row performer_row(FeatureMap map, const Key& key) {
  const bool pairs = map == FeatureMap::trf;
  std::map<std::string, std::string> options;
  if (pairs) options = {{"map", "trf"}};
  return {pairs ? "Performer, sin and cos" : "Performer, positive features",       "performer", options, kFeatures, 3,
          [=](const auto& p) { return counted_performer(p, kFeatures, map, key); }};
}

std::vector<Row> other_rows(const Check& check, const Key& key) {
  const arma::uword d = kFeatures;
  return {bigbird_row(key),
          {"Linformer", "linformer", {}, d, 4, [=](const auto& p) { return counted_linformer(p, d, key); }},
          {"Informer", "informer", {}, d, 3, [=](const auto& p) { return counted_informer(p, d, key); }},
          {"Skeinformer", "skeinformer", {}, d, 4, [=, exact = check.makes("exact-norms")](const auto& p) {
             return counted_skeinformer(p, d, exact, key);
           }}};
}

// f(2n, 2p) - f(2n, p) - f(n, 2p) + f(n, p): what is left of c n d p is c n d p, and nothing of terms without n or p.
double mixed_difference(const std::function<double(arma::uword n, arma::uword p)>& f) {
  return f(2 * kTokens, 2 * kWidth) - f(2 * kTokens, kWidth) - f(kTokens, 2 * kWidth) + f(kTokens, kWidth);
}

Finding finding_of(const Check& check, const Row& row) {
  const auto problem = [&](arma::uword n, arma::uword p) {
    return gaussian_input(check.draw_key.child("problem"), {n, p, 1});
  };
  const auto method_of = [&](const Problem<double>& on) {
    return prepare(find_method<double>(row.method), on, OptionValues(row.options));
  };
  const double unit = static_cast<double>(kTokens) * kWidth * kFeatures;
  const double twice = check.makes("additions-too") ? 2 : 1;
  const double counted =
      twice * mixed_difference([&](arma::uword n, arma::uword p) { return row.count(problem(n, p)).multiply_adds; }) /
      unit;
  // Two flops a multiply-add.
  const double declared = mixed_difference([&](arma::uword n, arma::uword p) {
                            return method_of(problem(n, p)).flops(static_cast<double>(row.features)) / 2;
                          }) /
                          unit;
  const Problem<double> large = problem(2 * kTokens, 2 * kWidth);
  const CountedOutput own = row.count(large);
  const arma::mat library = method_of(large).approximate(row.features, check.draw_key.child("draw")).output;
  const double error = arma::abs(own.output - library).max();
  // Counts are whole numbers below 2^53: their differences are exact, the declared ones up to a few roundings.
  Finding finding = decide_identity(row.title, std::max(std::abs(counted - row.table), std::abs(declared - row.table)),
                                    512 * 0x1p-53 * row.table, row.table);
  if (!(error <= own.rounding)) finding.verdict = Verdict::refuted;
  finding.estimate = counted;
  finding.n = 2 * kTokens;
  finding.p = 2 * kWidth;
  finding.d = row.features;
  finding.hypotheses = fmt::format(
      "table = {} n d p; counted = {:.6g}; declared = {:.6g}; output against the library's = {:.2g}; its "
      "rounding at most = {:.2g}",
      row.table, counted, declared, error, own.rounding);
  return finding;
}

// Standard attention has no d: 2 n^2 p.
Finding standard_finding(const Check& check) {
  const auto problem = [&](arma::uword n, arma::uword p) {
    return gaussian_input(check.draw_key.child("problem"), {n, p, 1});
  };
  const double counted =
      mixed_difference([&](arma::uword n, arma::uword p) { return counted_exact(problem(n, p)).multiply_adds; }) /
      (3.0 * kTokens * kTokens * kWidth);
  const Problem<double> large = problem(2 * kTokens, 2 * kWidth);
  const CountedOutput own = counted_exact(large);
  const double error = arma::abs(own.output - exact_attention(large, Target::softmax).output).max();
  Finding finding = decide_identity("Standard", std::abs(counted - 2), 64 * 0x1p-53 * 2);
  if (!(error <= own.rounding)) finding.verdict = Verdict::refuted;
  finding.estimate = counted;
  finding.n = 2 * kTokens;
  finding.p = 2 * kWidth;
  finding.hypotheses = fmt::format(
      "table = 2 n^2 p; counted = {:.6g}; output against the library's = {:.2g}; its "
      "rounding at most = {:.2g}",
      counted, error, own.rounding);
  return finding;
}

// What grows with n at the table's p = 32, d = 256, over n d p. The order of Nystromformer's own text takes n d^2 more:
// 4 + d/p.
Finding nystromformer_growth(const Check& check, bool as_written) {
  const auto count = [&](arma::uword n) {
    const auto problem = gaussian_input(check.draw_key.child("problem"), {n, 32, 1});
    return counted_nystromformer(problem, 256, as_written).multiply_adds;
  };
  const double slope = (count(512) - count(256)) / (256.0 * 256 * 32);
  Finding finding =
      decide_exactly(fmt::format("Nystromformer, {}, p = 32, d = 256", as_written ? "(F Z)(G V)" : "F (Z (G V))"),
                     slope == 4, slope, 4);
  finding.p = 32;
  finding.d = 256;
  return finding;
}

Report report_of(std::vector<Finding> findings, std::string sentence) {
  Report report;
  report.number = findings.back().estimate;
  report.findings = std::move(findings);
  report.sentence = std::move(sentence);
  return report;
}

}  // namespace

Report check_flops_pairs(const Check& check) {
  const auto map = check.makes("a-direction-a-feature") ? FeatureMap::prf : FeatureMap::trf;
  return report_of({finding_of(check, performer_row(map, check.draw_key.child("draw")))},
                   "n d p of Performer with sin and cos of d/2 directions, by count");
}

Report check_flops_positive(const Check& check) {
  const auto map = check.makes("features-in-pairs") ? FeatureMap::trf : FeatureMap::prf;
  return report_of({finding_of(check, performer_row(map, check.draw_key.child("draw")))},
                   "n d p of Performer with d positive features, by count; the table has 3");
}

Report check_flops_nystromformer(const Check& check) {
  return report_of({finding_of(check, nystromformer_row()), nystromformer_growth(check, check.makes("as-written"))},
                   "n d p of Nystromformer as F (Z (G V)), by count");
}

Report check_flops_nystromformer_order(const Check& check) {
  return report_of({nystromformer_growth(check, !check.makes("right-to-left"))},
                   "n d p of Nystromformer as (F Z)(G V) at p = 32, d = 256, by count; the table has 4");
}

Report check_flops_others(const Check& check) {
  std::vector<Finding> findings = {standard_finding(check)};
  for (const Row& row : other_rows(check, check.draw_key.child("draw"))) findings.push_back(finding_of(check, row));
  return report_of(std::move(findings),
                   "n d p of Skeinformer by count; standard, BigBird, Linformer and Informer hold too");
}

}  // namespace croquis::claims
