// Sample sizes: how many trials a check needs to detect what it is meant to detect.
//
// alpha is the probability of rejecting a true hypothesis (type I error). type_ii_error is the probability of not
// rejecting a hypothesis that is false by the stated effect. Both are in (0, 1). Choose them before looking at any
// sample. Both functions throw std::invalid_argument for arguments outside their ranges, and if more than kMostTrials
// trials are needed.
#pragma once

#include <cstdint>

namespace croquis {

/// The smallest n such that `failures` failures in n trials show that the probability of failure is at most delta:
/// clopper_pearson(failures, n, alpha, Side::upper).hi <= delta.
/// Guarantees: for zero failures n is ceil(log(alpha) / log(1 - delta)). That is 135 for delta = 0.05 and 688 for delta
///   = 0.01, at alpha = 0.001.
/// Throws: std::invalid_argument unless 0 < delta < 1.
std::uint64_t trials_to_show(double delta, double alpha, std::uint64_t failures = 0);

/// A number n of trials after which, for a true probability of failure p, the one-sided Clopper-Pearson limit at alpha
/// decides against delta with probability >= 1 - type_ii_error. For p < delta this means that the upper limit is <=
/// delta, and for p > delta that the lower limit is > delta.
/// Guarantees: the probabilities are exact binomial ones. They go up and down with n, because the limit changes in
///   steps. So n is sufficient but need not be the smallest sufficient number.
/// Throws: std::invalid_argument unless 0 < delta < 1, 0 <= p <= 1 and p != delta.
std::uint64_t trials_to_decide(double p, double delta, double alpha, double type_ii_error);

}  // namespace croquis
