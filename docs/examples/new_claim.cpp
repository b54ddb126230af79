// A claim of one's own, decided, and the deliberate mistake that its check must notice.
#include <fmt/format.h>

#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/ledger.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/random/indices.hpp>

using namespace croquis;
using namespace croquis::claims;

constexpr arma::uword kDraws = 64;
constexpr double kDelta = 0.05;

// On every subject: signs of the first value column, their mean, and that of d of them.
Report check_sampled_mean(const Check& check) {
  Report report;
  for (const Subject& subject : check.subjects) {
    const arma::vec signs = arma::sign(subject.problem.V().col(0));
    const arma::uword d = check.makes("fewer") ? kDraws / 4 : kDraws;
    ProbabilityClaim claim;
    claim.input = subject.name;
    claim.bound = 2 * std::sqrt(std::log(2 / kDelta) / (2 * kDraws));  // the values are within [-1, 1]
    claim.delta = kDelta;
    claim.alpha = check.alpha / double(check.subjects.size());
    Finding finding = decide_probability(check, claim, [&](const Key& draw_key) {
      return std::abs(arma::mean(signs.elem(sample_with_replacement(signs.n_elem, d, draw_key))) - arma::mean(signs));
    });
    finding.n = signs.n_elem;
    finding.d = d;
    report.findings.push_back(finding);
    report.number = finding.slack();
  }
  report.sentence = fmt::format("the bound is {:.3g} times the 95 % quantile of the error", report.number);
  return report;
}

Claim sampled_mean() {
  return {.id = "own.hoeffding",
          .kind = "probability",
          .source = "Hoeffding 1963, Theorem 2",
          .statement =
              "The mean of d values in [-1, 1], drawn uniformly, is off by more than sqrt(2 log(2/delta) / d) "
              "with probability at most delta.",
          .hypotheses = "Independent draws, with replacement.",
          .method = "Failures at d = 64, delta = 0.05, of the signs of a column of V.",
          .proof = "Hoeffding 1963, Theorem 2",
          .mutants = {{"fewer", "a quarter of the draws, the same bound"}},
          .check = check_sampled_mean};
}

int main() {
  const Claim claim = sampled_mean();
  const Ledger ledger({"gaussian", gaussian_input(Key(1), {.n = 512, .p = 16, .norm = 2})}, {}, Key(1));
  bool as_expected = true;
  for (const std::string& mutant : {std::string(), claim.mutants.front().name}) {
    const LedgerEntry entry = ledger.decide(claim, mutant);
    const Finding& finding = entry.findings.front();
    fmt::print("{:<20}{:<10}{} of {} draws fail, allowed {}; {}\n", entry.id(), verdict_name(entry.whole.verdict),
               *finding.failures, *finding.trials, kDelta, entry.whole.hypotheses);
    as_expected = as_expected && (entry.whole.verdict == claim.expected) == mutant.empty();
  }
  return as_expected ? 0 : 1;
}
