// Leading terms of the work: Table 5.
#include <fmt/format.h>

#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skeinformer/checks.hpp>
#include <croquis/claims/skeinformer/counted_methods.hpp>
#include <croquis/claims/unit.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/linalg/norms.hpp>

namespace croquis::claims {
namespace {

using Count = std::function<CountedOutput(const Problem<double>&)>;

struct Row {
  std::string title, method;
  std::map<std::string, std::string> options;
  arma::uword features;  ///< d of the method
  double table;          ///< the coefficient of n d p in Table 5
  Count count;
};

// 2.5 d keys a query, as the table has it.
Row bigbird_row(arma::uword d, const Key& key) {
  const arma::uword keys = 5 * d / 2;
  return {"BigBird", "bigbird", {{"block", "4"}},
          keys,      5,         [=](const auto& p) { return counted_bigbird(p, keys, 4, key); }};
}

Row nystromformer_row(arma::uword d) {
  return {"Nystromformer, F (Z (G V))",
          "nystromformer",
          {},
          d,
          4,
          [=](const auto& p) {
            return counted_nystromformer(p, d); }};
}

Row performer_row(FeatureMap map, arma::uword d, const Key& key) {
  const bool pairs = map == FeatureMap::trf;
  std::map<std::string, std::string> options;
  if (pairs) options = {{"map", "trf"}};
  return {pairs ? "Performer, sin and cos" : "Performer, positive features", "performer", options, d, 3,
          [=](const auto& p) { return counted_performer(p, d, map, key); }};
}

std::vector<Row> other_rows(const Check& check, const Key& key) {
  const arma::uword d = check.count("d");
  return {bigbird_row(d, key),
          {"Linformer", "linformer", {}, d, 4, [=](const auto& p) { return counted_linformer(p, d, key); }},
          {"Informer", "informer", {}, d, 3, [=](const auto& p) { return counted_informer(p, d, key); }},
          {"Skeinformer", "skeinformer", {}, d, 4, [=, exact = check.makes("exact-norms")](const auto& p) {
             return counted_skeinformer(p, d, exact, key);
           }}};
}

// f(2n, 2p) - f(2n, p) - f(n, 2p) + f(n, p): what is left of c n d p is c n d p, and nothing of terms without n or p.
double mixed_difference(const Check& check, const std::function<double(arma::uword n, arma::uword p)>& f) {
  const arma::uword n = check.count("tokens"), p = check.count("width");
  return f(2 * n, 2 * p) - f(2 * n, p) - f(n, 2 * p) + f(n, p);
}

Finding finding_of(const Check& check, const Row& row) {
  const auto problem = [&](arma::uword n, arma::uword p) {
    return gaussian_input(check.draw_key.child("problem"), {n, p, 1});
  };
  const auto method_of = [&](const Problem<double>& on) {
    return prepare(find_method<double>(row.method), on, OptionValues(row.options));
  };
  const arma::uword tokens = check.count("tokens"), width = check.count("width");
  const double unit = check.value("tokens") * check.value("width") * check.value("d");
  const double twice = check.makes("additions-too") ? 2 : 1;
  const double counted =
      twice *
      mixed_difference(check, [&](arma::uword n, arma::uword p) { return row.count(problem(n, p)).multiply_adds; }) /
      unit;
  // Two flops a multiply-add.
  const double declared =
      mixed_difference(check,
                       [&](arma::uword n, arma::uword p) {
                         return method_of(problem(n, p)).flops(static_cast<double>(row.features)) / 2;
                       }) /
      unit;
  const Problem<double> large = problem(2 * tokens, 2 * width);
  const CountedOutput own = row.count(large);
  const arma::mat library = method_of(large).approximate(row.features, check.draw_key.child("draw")).output;
  const double error = largest_entry<double>(own.output - library);
  // Counts are whole numbers below 2^53: their differences are exact, the declared ones up to a few roundings.
  Finding finding = decide_identity(row.title, std::max(std::abs(counted - row.table), std::abs(declared - row.table)),
                                    512 * kUnit * row.table, row.table);
  if (!(error <= own.rounding)) finding.verdict = Verdict::refuted;
  finding.estimate = counted;
  finding.n = 2 * tokens;
  finding.p = 2 * width;
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
  const arma::uword tokens = check.count("tokens"), width = check.count("width");
  const double counted =
      mixed_difference(check,
                       [&](arma::uword n, arma::uword p) { return counted_exact(problem(n, p)).multiply_adds; }) /
      (3 * std::pow(check.value("tokens"), 2) * check.value("width"));
  const Problem<double> large = problem(2 * tokens, 2 * width);
  const CountedOutput own = counted_exact(large);
  const double error = largest_entry<double>(own.output - exact_attention(large, Target::softmax).output);
  Finding finding = decide_identity("Standard", std::abs(counted - 2), 64 * kUnit * 2, 2);
  if (!(error <= own.rounding)) finding.verdict = Verdict::refuted;
  finding.estimate = counted;
  finding.n = 2 * tokens;
  finding.p = 2 * width;
  finding.hypotheses = fmt::format(
      "table = 2 n^2 p; counted = {:.6g}; output against the library's = {:.2g}; its "
      "rounding at most = {:.2g}",
      counted, error, own.rounding);
  return finding;
}

// What grows with n at the table's p = 32, d = 256, over n d p. The order of Nystromformer's own text takes n d^2 more:
// 4 + d/p.
Finding nystromformer_growth(const Check& check, bool as_written) {
  const arma::uword d = check.count("table d"), width = check.count("table width");
  const auto count = [&](arma::uword n) {
    const auto problem = gaussian_input(check.draw_key.child("problem"), {n, width, 1});
    return counted_nystromformer(problem, d, as_written).multiply_adds;
  };
  const double slope = (count(2 * d) - count(d)) / static_cast<double>(d * d * width);
  Finding finding = decide_exactly(
      fmt::format("Nystromformer, {}, p = {}, d = {}", as_written ? "(F Z)(G V)" : "F (Z (G V))", width, d), slope == 4,
      slope, 4);
  finding.p = width;
  finding.d = d;
  finding.power = 1 / (4 * static_cast<double>(d * d * width));  // of one multiply-add
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
  return report_of({finding_of(check, performer_row(map, check.count("d"), check.draw_key.child("draw")))},
                   "n d p of Performer with sin and cos of d/2 directions, by count");
}

Report check_flops_positive(const Check& check) {
  const auto map = check.makes("features-in-pairs") ? FeatureMap::trf : FeatureMap::prf;
  return report_of({finding_of(check, performer_row(map, check.count("d"), check.draw_key.child("draw")))},
                   "n d p of Performer with d positive features, by count; the table has 3");
}

Report check_flops_nystromformer(const Check& check) {
  return report_of(
      {finding_of(check, nystromformer_row(check.count("d"))), nystromformer_growth(check, check.makes("as-written"))},
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
