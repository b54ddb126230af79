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
  double table, corrected;
  Count count;
};

std::vector<Row> rows(const Check& check, const Key& draw_key) {
  const arma::uword d = kFeatures;
  std::vector<Row> all = {
      {"BigBird",
       "bigbird",
       {{"block", "4"}},
       40,
       5,
       5,
       [=](const auto& p) { return counted_bigbird(p, 40, 4, draw_key); }},
      {"Nystromformer", "nystromformer", {}, d, 4, 4, [=](const auto& p) { return counted_nystromformer(p, d); }},
      {"Linformer", "linformer", {}, d, 4, 4, [=](const auto& p) { return counted_linformer(p, d, draw_key); }},
      {"Informer", "informer", {}, d, 3, 3, [=](const auto& p) { return counted_informer(p, d, draw_key); }},
      {"Skeinformer",
       "skeinformer",
       {},
       d,
       4,
       4,
       [=, exact = check.makes("exact-norms")](const auto& p) { return counted_skeinformer(p, d, exact, draw_key); }},
      {"Performer, sin and cos", "performer", {{"map", "trf"}}, d, 3, 3, [=](const auto& p) {
         return counted_performer(p, d, FeatureMap::trf, draw_key);
       }}};
  if (!check.makes("features-in-pairs")) {
    all.push_back({"Performer, positive features", "performer", {}, d, 3, 4, [=](const auto& p) {
                     return counted_performer(p, d, FeatureMap::prf, draw_key);
                   }});
  }
  return all;
}

// f(2n, 2p) - f(2n, p) - f(n, 2p) + f(n, p): what is left of c n d p is c n d p, and nothing of terms without n or p.
double mixed_difference(const std::function<double(arma::uword n, arma::uword p)>& f) {
  return f(2 * kTokens, 2 * kWidth) - f(2 * kTokens, kWidth) - f(kTokens, 2 * kWidth) + f(kTokens, kWidth);
}

Finding finding_of(const Check& check, const Row& row, bool corrected) {
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
  const double leading = corrected ? row.corrected : row.table;
  // Counts are whole numbers below 2^53: their differences are exact, the declared ones up to a few roundings.
  Finding finding = decide_identity(row.title, std::max(std::abs(counted - leading), std::abs(declared - leading)),
                                    64 * 0x1p-53 * leading * 8);
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

Report check_table(const Check& check, bool corrected) {
  Report report;
  report.findings.push_back(standard_finding(check));
  for (const Row& row : rows(check, check.draw_key.child("draw"))) {
    report.findings.push_back(finding_of(check, row, corrected));
  }
  return report;
}

}  // namespace

Report check_flops(const Check& check) {
  Report report = check_table(check, false);
  report.number = report.findings.back().estimate;
  report.sentence = "n d p of Performer with positive features, 3 in the table (true for sin, cos); other rows hold";
  return report;
}

Report check_flops_corrected(const Check& check) {
  Report report = check_table(check, true);
  report.number = 0;
  for (const Finding& f : report.findings) report.number = std::max(report.number, f.observed);
  report.sentence = "largest |counted or declared - corrected| coefficient of n d p over 8 methods; outputs agree";
  return report;
}

}  // namespace croquis::claims
