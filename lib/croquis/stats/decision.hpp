// Verdicts, and the sequential decision about a probability of failure.
#pragma once

#include <croquis/stats/intervals.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace croquis {

/// The result of checking a claim.
enum class Verdict {
  verified,        ///< there is a proof, and every numerical check agrees
  holds,           ///< no proof is known, and no input that was tried refutes it
  refuted,         ///< a counterexample, or a failure rate above the allowed one
  refuted_proof,   ///< the object or the step that is offered as a proof fails; the statement itself may be true
  vacuous,         ///< the hypotheses cannot be met, or a trivial object satisfies the claim
  inconclusive,    ///< not decided at the stated confidence, for instance for too few trials
  not_applicable,  ///< the given input does not satisfy the hypotheses
};

/// VERIFIED, HOLDS, REFUTED, REFUTED_PROOF, VACUOUS, INCONCLUSIVE, NOT_APPLICABLE.
std::string_view verdict_name(Verdict verdict);
/// Throws std::invalid_argument for any other text.
Verdict verdict_from_name(std::string_view name);

enum class Outcome {
  holds,      ///< upper limit <= delta
  fails,      ///< lower limit > delta
  undecided,  ///< lower limit <= delta < upper limit
};

/// `holds` becomes verified, `fails` refuted and `undecided` inconclusive.
Verdict verdict_of(Outcome outcome);

struct FailureDecisionOptions {
  double delta = 0.05;                   ///< the claim: a trial fails with probability at most delta, in (0, 1)
  double alpha = 1e-6;                   ///< probability of a wrong decision, in [1e-49, 1)
  std::uint64_t max_trials = 1'000'000;  ///< 1 ... kMostTrials
  /// Trials before the first look. 0 means the smallest number for which zero failures would verify the claim, and
  /// max_trials if that is smaller.
  std::uint64_t first_look = 0;
};

/// The result of one look at the failures so far.
struct FailureLook {
  Outcome outcome = Outcome::undecided;
  std::uint64_t look = 0, trials = 0, failures = 0;
  Interval interval = {0, 1};  ///< for the probability of failure, at level alpha / 2^look
  /// For an undecided look, the total number of trials at the look that would decide if failures continued at the
  /// observed rate. Empty for a decided look, and if that rate is so close to delta that more than kMostTrials would be
  /// needed.
  std::optional<std::uint64_t> trials_needed;
};

/// Decides whether p <= delta from independent trials that fail with probability p. It looks at the failures after n_1,
/// 2 n_1, 4 n_1, ... trials, and finally after max_trials.
///
/// Guarantees: look k uses the two-sided Clopper-Pearson interval at level alpha / 2^k. All intervals together cover p
///   with probability >= 1 - sum_k alpha / 2^k > 1 - alpha. So the decision is wrong with probability at most alpha,
///   whichever look makes it.
/// Use: run trials until there are next_look() in all, pass the number of failures so far to look(), and repeat until
///   finished(). Or call decide().
class FailureDecision {
 public:
  /// Throws std::invalid_argument for options outside their ranges, and if first_look > max_trials.
  explicit FailureDecision(const FailureDecisionOptions& options);

  /// The total number of trials at the next look.
  std::uint64_t next_look() const { return next_; }
  /// Whether a look has decided, or the look at max_trials has been made.
  bool finished() const { return finished_; }
  /// The last look; before the first, an undecided look at zero trials.
  const FailureLook& last() const { return last_; }

  /// `failures` is the number of failures among the first next_look() trials.
  /// Throws: std::invalid_argument if finished, and if the number of failures has shrunk or grown by more than the
  ///   number of new trials.
  const FailureLook& look(std::uint64_t failures);

 private:
  std::optional<std::uint64_t> trials_needed() const;

  FailureDecisionOptions options_;
  std::uint64_t next_ = 0;
  bool finished_ = false;
  FailureLook last_;
};

/// The level of the interval at max_trials, where no look before has decided: alpha / 2^k for the k-th and last look.
/// Throws std::invalid_argument as FailureDecision does.
double level_of_last_look(const FailureDecisionOptions& options);

/// FailureDecision with a function: failures_among(first, count) runs the trials first ... first + count - 1, in any
/// order or in parallel, and returns how many of them failed.
FailureLook decide(const FailureDecisionOptions& options,
                   const std::function<std::uint64_t(std::uint64_t first, std::uint64_t count)>& failures_among);

}  // namespace croquis
