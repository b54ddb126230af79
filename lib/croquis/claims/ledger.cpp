#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/claims/ledger.hpp>
#include <croquis/claims/papers.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/core/nearest.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <set>
#include <stdexcept>
#include <utility>

namespace croquis::claims {
namespace {

bool has_mutant(const Claim& claim, std::string_view name) {
  const auto is_it = [&](const auto& change) { return change.name == name; };
  return std::any_of(claim.mutants.begin(), claim.mutants.end(), is_it) ||
         std::any_of(claim.ladder.begin(), claim.ladder.end(), is_it);
}

// Without a proof nothing is verified: it was not refuted.
void hold_without_proof(const Claim& claim, std::vector<Finding>& findings) {
  if (!claim.proof.empty()) return;
  for (Finding& finding : findings) {
    if (finding.verdict == Verdict::verified) finding.verdict = Verdict::holds;
  }
}

// Where a bound is attained the end that is computed can be below the one that is proved.
Interval but_for_rounding(Interval tightness) {
  constexpr double rounding = 1e-9;
  const bool attained = tightness.hi < tightness.lo && tightness.hi >= tightness.lo * (1 - rounding);
  return {tightness.lo, attained ? tightness.lo : tightness.hi};
}

Finding whole_of(const Report& report, double alpha) {
  Finding whole;
  whole.input = kWholeInput;
  whole.verdict = report.verdict();
  whole.estimate = report.number;
  whole.hypotheses = report.sentence;
  const bool says = std::any_of(report.findings.begin(), report.findings.end(), [](const Finding& f) {
    return f.verdict == Verdict::inconclusive && f.hypotheses.find("would decide") != std::string::npos;
  });
  if (whole.verdict == Verdict::inconclusive && says) whole.hypotheses += "; its rows say what would decide";
  whole.tightness = but_for_rounding(report.tightness);
  const bool random = std::any_of(report.findings.begin(), report.findings.end(),
                                  [](const Finding& f) { return !std::isnan(f.confidence); });
  if (random) whole.confidence = 1 - alpha;
  return whole;
}

}  // namespace

const std::vector<Paper>& papers() {
  static const std::vector<Paper> all = {{"skyformer", skyformer_claims()},
                                         {"nystromformer", nystromformer_claims()},
                                         {"linformer", linformer_claims()},
                                         {"skeinformer", skeinformer_claims()},
                                         {"nprf", nprf_claims()},
                                         {"topk", topk_claims()},
                                         {"vattention", vattention_claims()}};
  return all;
}

const std::vector<Claim>& all_claims() {
  static const std::vector<Claim> all = [] {
    std::vector<Claim> claims;
    for (const Paper& paper : papers()) claims.insert(claims.end(), paper.claims.begin(), paper.claims.end());
    return claims;
  }();
  return all;
}

const Claim& find_claim(std::string_view id) {
  std::vector<std::string> ids;
  for (const Claim& claim : all_claims()) {
    if (claim.id == id || std::find(claim.formerly.begin(), claim.formerly.end(), id) != claim.formerly.end()) {
      return claim;
    }
    ids.push_back(claim.id);
  }
  throw std::invalid_argument(
      fmt::format("no claim is called '{}'{}; croquis list claims has them", id, did_you_mean(id, ids)));
}

Key ledger_key(std::uint64_t seed) {
  return Key(seed).child("verify");
}

Report decide(const Claim& claim, const Check& check) {
  require(!check.subjects.empty(), "claims::decide", "one subject at least", {{"claim", claim.id}});
  require(check.mutant.empty() || has_mutant(claim, check.mutant), "claims::decide", "a mutant of the claim",
          {{"claim", claim.id}, {"mutant", check.mutant}});
  const SerialBlas serial;  // for products of the checks' own
  try {
    Check own = check;
    own.claim = claim.id;
    Report report = claim.check(own);
    hold_without_proof(claim, report.findings);
    for (Finding& finding : report.findings) {
      if (std::isnan(finding.tightness.hi)) finding.tightness = report.tightness;
      finding.tightness = but_for_rounding(finding.tightness);
    }
    return report;
  } catch (const std::exception& failure) {
    Report report;
    report.sentence = fmt::format("{}{}", kBrokeDown, failure.what());
    return report;
  }
}

std::string LedgerEntry::id() const {
  return mutant.empty() ? claim : claim + "!" + mutant;
}

Ledger::Ledger(std::vector<Subject> subjects, bool own, const LedgerOptions& options, const Key& key)
    : shared_{.claim = {},
              .subjects = std::move(subjects),
              .own_input = own,
              .draw_key = key,
              .alpha = (1 - options.confidence) / static_cast<double>(all_claims().size()),
              .quick = options.quick,
              .thorough = options.thorough,
              .most_trials = options.most_trials,
              .interrupted = options.interrupted} {
  require(options.confidence > 0 && options.confidence < 1, "Ledger", "0 < confidence < 1",
          {{"confidence", options.confidence}});
  require(!shared_.subjects.empty(), "Ledger", "one subject at least");
  std::set<std::string> names;
  for (const Subject& subject : shared_.subjects) {
    require(names.insert(subject.name).second, "Ledger", "subjects of different names",
            {{"name", std::string_view(subject.name)}});
    if (subject.problem.n() < 2) {
      throw std::invalid_argument(
          fmt::format("verify: {} has one token, of which every method is exact; it decides nothing", subject.name));
    }
  }
  if (options.most_trials) {
    require(*options.most_trials >= 2, "Ledger", "two trials at least", {{"most_trials", *options.most_trials}});
  }
}

Ledger::Ledger(const LedgerOptions& options, const Key& key)
    : Ledger(default_subjects(key.child("input")), false, options, key) {}

Ledger::Ledger(Subject own, const LedgerOptions& options, const Key& key)
    : Ledger(std::vector<Subject>{std::move(own)}, true, options, key) {}

Ledger::Ledger(std::vector<Subject> own, const LedgerOptions& options, const Key& key)
    : Ledger(std::move(own), true, options, key) {}

Check Ledger::check_of(const Claim& claim, std::string_view mutant) const {
  Check check = shared_;
  check.claim = claim.id;
  check.draw_key = shared_.draw_key.child(claim.id);
  check.mutant = mutant;
  return check;
}

LedgerEntry Ledger::decide(const Claim& claim, std::string_view mutant) const {
  Report report = claims::decide(claim, check_of(claim, mutant));
  Finding whole = whole_of(report, shared_.alpha);
  return {claim.id, std::string(mutant), std::move(report.findings), std::move(whole)};
}

std::vector<LedgerEntry> verify(Subject own, const LedgerOptions& options, const Key& key,
                                const std::vector<Claim>& claims) {
  const Ledger ledger(std::move(own), options, key);
  std::vector<LedgerEntry> entries;
  entries.reserve(claims.size());
  for (const Claim& claim : claims) entries.push_back(ledger.decide(claim));
  return entries;
}

}  // namespace croquis::claims
