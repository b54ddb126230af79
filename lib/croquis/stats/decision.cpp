#include <algorithm>
#include <array>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/stats/decision.hpp>
#include <croquis/stats/design.hpp>
#include <utility>

namespace croquis {
namespace {

constexpr std::array<std::pair<Verdict, std::string_view>, 7> kVerdicts = {
    {{Verdict::verified, "VERIFIED"},
     {Verdict::holds, "HOLDS"},
     {Verdict::refuted, "REFUTED"},
     {Verdict::refuted_proof, "REFUTED_PROOF"},
     {Verdict::vacuous, "VACUOUS"},
     {Verdict::inconclusive, "INCONCLUSIVE"},
     {Verdict::not_applicable, "NOT_APPLICABLE"}}};

// The trials double from look to look, up to 2^33: no limit is asked for at a level below alpha / 2^36.
constexpr double kSmallestAlpha = 1e-49;
static_assert(kSmallestAlpha / static_cast<double>(std::uint64_t{1} << 36) >= kLeastAlpha);

double spent_at(double alpha, std::uint64_t look) {
  return std::ldexp(alpha, -static_cast<int>(look));
}

std::uint64_t look_after(std::uint64_t trials, std::uint64_t max_trials) {
  return trials > max_trials / 2 ? max_trials : 2 * trials;
}

// The smallest number of trials at which no failure shows the claim, max_trials if that is larger. The first look has
// alpha / 2, each of its limits half of that.
std::uint64_t earliest_look(const FailureDecisionOptions& options) {
  const double level = options.alpha / 4;
  if (clopper_pearson(0, options.max_trials, level, Side::upper).hi > options.delta) return options.max_trials;
  return trials_to_show(options.delta, level);
}

Outcome outcome_of(const Interval& interval, double delta) {
  if (interval.hi <= delta) return Outcome::holds;
  return interval.lo > delta ? Outcome::fails : Outcome::undecided;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  const auto* const found =
      std::find_if(kVerdicts.begin(), kVerdicts.end(), [&](const auto& v) { return v.first == verdict; });
  require(found != kVerdicts.end(), "verdict_name", "one of the verdicts");
  return found->second;
}

Verdict verdict_from_name(std::string_view name) {
  const auto* const found =
      std::find_if(kVerdicts.begin(), kVerdicts.end(), [&](const auto& v) { return v.second == name; });
  require(found != kVerdicts.end(), "verdict_from_name",
          "VERIFIED, HOLDS, REFUTED, REFUTED_PROOF, VACUOUS, INCONCLUSIVE or NOT_APPLICABLE", {{"name", name}});
  return found->first;
}

Verdict verdict_of(Outcome outcome) {
  if (outcome == Outcome::holds) return Verdict::verified;
  return outcome == Outcome::fails ? Verdict::refuted : Verdict::inconclusive;
}

FailureDecision::FailureDecision(const FailureDecisionOptions& options) : options_(options) {
  constexpr std::string_view where = "FailureDecision";
  require(options.delta > 0 && options.delta < 1, where, "0 < delta < 1", {{"delta", options.delta}});
  require(options.alpha > 0 && options.alpha < 1, where, "0 < alpha < 1", {{"alpha", options.alpha}});
  require(options.alpha >= kSmallestAlpha, where, "alpha of at least 1e-49", {{"alpha", options.alpha}});
  require(options.max_trials >= 1 && options.max_trials <= kMostTrials, where, "1 <= max_trials <= 2^33",
          {{"max_trials", options.max_trials}});
  require(options.first_look <= options.max_trials, where, "first_look <= max_trials",
          {{"first_look", options.first_look}, {"max_trials", options.max_trials}});
  next_ = options.first_look > 0 ? options.first_look : earliest_look(options);
}

const FailureLook& FailureDecision::look(std::uint64_t failures) {
  constexpr std::string_view where = "FailureDecision::look";
  require(!finished_, where, "no look after the last", {{"trials", last_.trials}});
  require(failures >= last_.failures && failures - last_.failures <= next_ - last_.trials, where,
          "failures of all trials so far", {{"failures", failures}, {"before", last_.failures}, {"trials", next_}});
  ++last_.look;
  last_.trials = next_;
  last_.failures = failures;
  last_.interval = clopper_pearson(failures, next_, spent_at(options_.alpha, last_.look));
  last_.outcome = outcome_of(last_.interval, options_.delta);
  last_.trials_needed = last_.outcome == Outcome::undecided ? trials_needed() : std::nullopt;
  finished_ = last_.outcome != Outcome::undecided || next_ == options_.max_trials;
  if (!finished_) next_ = look_after(next_, options_.max_trials);
  return last_;
}

std::optional<std::uint64_t> FailureDecision::trials_needed() const {
  const double rate = static_cast<double>(last_.failures) / static_cast<double>(last_.trials);
  std::uint64_t look = last_.look;
  for (std::uint64_t trials = 2 * last_.trials; trials <= kMostTrials; trials *= 2) {
    const double failures = std::round(rate * static_cast<double>(trials));
    const Interval interval =
        clopper_pearson(static_cast<std::uint64_t>(failures), trials, spent_at(options_.alpha, ++look));
    if (outcome_of(interval, options_.delta) != Outcome::undecided) return trials;
  }
  return std::nullopt;
}

double level_of_last_look(const FailureDecisionOptions& options) {
  std::uint64_t look = 1;
  for (std::uint64_t trials = FailureDecision(options).next_look(); trials < options.max_trials;
       trials = look_after(trials, options.max_trials)) {
    ++look;
  }
  return spent_at(options.alpha, look);
}

FailureLook decide(const FailureDecisionOptions& options,
                   const std::function<std::uint64_t(std::uint64_t first, std::uint64_t count)>& failures_among) {
  FailureDecision decision(options);
  while (!decision.finished()) {
    const FailureLook& last = decision.last();
    decision.look(last.failures + failures_among(last.trials, decision.next_look() - last.trials));
  }
  return decision.last();
}

}  // namespace croquis
