// How many trials a check needs for what it is to see.
//
// alpha is the probability of rejecting what is true (type I error), miss that of not rejecting what is off by the
// stated effect (type II error); both in (0, 1). Choose them before looking at any sample. Both functions throw
// std::invalid_argument for arguments outside their ranges, and when it takes more than kMostTrials trials.
#pragma once

#include <cstdint>

namespace croquis {

/// Smallest n such that `failures` failures in n trials show that the probability of failure is at most delta:
/// clopper_pearson(failures, n, alpha, Side::upper).hi <= delta.
/// Guarantees: for no failures ceil(log(alpha) / log(1 - delta)): 135 for delta = 0.05 and 688 for 0.01 at alpha =
///   0.001.
/// Throws std::invalid_argument unless 0 < delta < 1.
std::uint64_t trials_to_show(double delta, double alpha, std::uint64_t failures = 0);

/// A number n of trials after which, for a true probability of failure p, the one-sided Clopper-Pearson limit at alpha
/// decides against delta with probability >= 1 - miss: the upper one is <= delta for p < delta, the lower one > delta
/// for p > delta.
/// Guarantees: exact binomial probabilities. They go up and down with n by the steps of the limit, so that n does, but
///   need not be the smallest that does.
/// Throws std::invalid_argument unless 0 < delta < 1, 0 <= p <= 1, p != delta.
std::uint64_t trials_to_decide(double p, double delta, double alpha, double miss);

}  // namespace croquis
