// Sample sizes: how many trials a check needs to show what it is meant to show.
//
// Choose alpha, the probability of rejecting a true hypothesis, before looking at any sample.
#pragma once

#include <cstdint>

namespace croquis {

/// The smallest n such that `failures` failures in n trials show that the probability of failure is at most delta:
/// clopper_pearson(failures, n, alpha, Side::upper).hi <= delta.
/// Guarantees: for zero failures n is ceil(log(alpha) / log(1 - delta)). That is 135 for delta = 0.05 and 688 for delta
///   = 0.01, at alpha = 0.001.
/// Throws: std::invalid_argument unless 0 < delta < 1 and kLeastAlpha <= alpha < 1, and if more than kMostTrials trials
/// are needed.
std::uint64_t trials_to_show(double delta, double alpha, std::uint64_t failures = 0);

}  // namespace croquis
