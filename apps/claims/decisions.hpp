// The ways in which claims are decided.
#pragma once

#include <functional>
#include <string>

#include "claims/claim.hpp"

/// observed <= bound for a deterministic identity or inequality: bound is worked out from the rounding, c n u ||.||.
/// NaN is refuted.
Finding decide_identity(std::string input, double observed, double bound);

/// Pr(error > bound) <= delta, from independent trials.
struct ProbabilityClaim {
  std::string input;
  double bound = 0;  ///< a trial fails when its error is above, or NaN
  double delta = 0.05;
  double alpha = 1e-9;
  std::uint64_t most_trials = 2000;  ///< before Check::trials() cuts it
};

/// Runs error(random key of the trial) on the library's threads until FailureDecision has decided. Of the finding:
/// trials, failures, estimate and interval of the failure rate; bound, and as `observed` the (1 - delta)-quantile of
/// the errors; an undecided one says in `hypotheses` how many trials would do.
/// delta = 0 (never fails): one failure refutes; no failure in all trials verifies, with the upper limit of the rate.
/// Randomness: trial t has check.draw_key.child(input).child(t).
Finding decide_probability(const Check& check, const ProbabilityClaim& claim,
                           const std::function<double(const croquis::Key&)>& error);

/// E[value] = expected.
struct MeanClaim {
  std::string input;
  double expected = 0;
  double resolution = 0;  ///< verified when the interval has `expected` and no half-width above this
  double alpha = 1e-9;
  std::uint64_t trials = 2000;  ///< before Check::trials()
};

/// Student's interval of the mean of value(random key of the trial); for skewed or heavy-tailed values give averages of
/// many. Of the finding: trials, estimate, interval; bound = resolution, observed = |estimate - expected|.
Finding decide_mean(const Check& check, const MeanClaim& claim,
                    const std::function<double(const croquis::Key&)>& value);

/// value(0), ..., value(trials - 1) of the random keys check.draw_key.child(purpose).child(t), on the library's
/// threads.
std::vector<double> run_trials(const Check& check, const std::string& purpose, std::uint64_t trials,
                               const std::function<double(const croquis::Key&)>& value);

/// The k-th smallest of the values with k = ceil(q count).
double quantile_of(std::vector<double> values, double q);
