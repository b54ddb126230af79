// Verdicts, and the sequential decision on a probability of failure.
#pragma once

#include <croquis/stats/intervals.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace croquis {

/// What a check says of a claim.
enum class Verdict {
  verified,      ///< the hypotheses hold on the tested inputs, and the claim holds with the stated confidence
  refuted,       ///< the hypotheses hold and the claim fails: a counterexample, or a failure rate above the allowed one
  vacuous,       ///< the hypotheses cannot be met at this size, or the bound is above the trivial bound
  inconclusive,  ///< not enough trials to decide at the stated confidence
  not_applicable,  ///< the given input does not satisfy the hypotheses
};

/// VERIFIED, REFUTED, VACUOUS, INCONCLUSIVE, NOT_APPLICABLE.
std::string_view verdict_name(Verdict verdict);
/// Throws std::invalid_argument for any other text.
Verdict verdict_from_name(std::string_view name);

enum class Outcome {
  holds,      ///< upper limit <= delta
  fails,      ///< lower limit > delta
  undecided,  ///< lower limit <= delta < upper limit
};

/// holds is verified, fails is refuted, undecided is inconclusive.
Verdict verdict_of(Outcome outcome);

struct FailureDecisionOptions {
  double delta = 0.05;                   ///< the claim: a trial fails with probability at most delta, in (0, 1)
  double alpha = 1e-6;                   ///< of a wrong decision, in (0, 1): a share of the budget
  std::uint64_t max_trials = 1'000'000;  ///< 1 ... kMostTrials
  std::uint64_t first_look = 0;  ///< trials before the first look; 0: the fewest after which no failure shows the claim
};

/// What one look found.
struct FailureLook {
  Outcome outcome = Outcome::undecided;
  std::uint64_t look = 0, trials = 0, failures = 0;
  Interval interval = {0, 1};  ///< of the probability of failure, at alpha / 2^look
  /// For an undecided look: the number of trials, in all, at the look that would decide if failures went on at the
  /// observed rate. Empty when that rate is too close to delta for kMostTrials, and for a decided look.
  std::optional<std::uint64_t> trials_needed;
};

/// Decides p <= delta from independent trials that fail with probability p, looking after n_1, 2 n_1, 4 n_1, ... and at
/// last max_trials of them.
///
/// Guarantees: look k has the two-sided Clopper-Pearson interval at alpha / 2^k. All of them cover p with probability
///   >= 1 - sum_k alpha / 2^k > 1 - alpha, so the decision is wrong with probability at most alpha, wherever it stops.
/// Use: run trials up to next_look() in all, give the number of failures so far to look(), until finished(); or call
///   decide().
class FailureDecision {
 public:
  /// Throws std::invalid_argument for options outside their ranges; first_look may be at most max_trials.
  explicit FailureDecision(const FailureDecisionOptions& options);

  /// Trials in all at which to look next.
  std::uint64_t next_look() const { return next_; }
  /// A look has decided, or was made at max_trials.
  bool finished() const { return finished_; }
  /// The last look; undecided over no trials before the first.
  const FailureLook& last() const { return last_; }

  /// `failures` of the first next_look() trials.
  /// Throws std::invalid_argument when finished, and for failures that shrink or grow by more than the new trials.
  const FailureLook& look(std::uint64_t failures);

 private:
  std::optional<std::uint64_t> trials_needed() const;

  FailureDecisionOptions options_;
  std::uint64_t next_ = 0;
  bool finished_ = false;
  FailureLook last_;
};

/// The same with a function: failures_among(first, count) runs trials first ... first + count - 1, in any order or all
/// at once, and returns how many failed.
FailureLook decide(const FailureDecisionOptions& options,
                   const std::function<std::uint64_t(std::uint64_t first, std::uint64_t count)>& failures_among);

}  // namespace croquis
