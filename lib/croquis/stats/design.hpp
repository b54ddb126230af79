// How many samples a check needs for what it is to see.
//
// alpha is the probability of rejecting what is true, miss that of not rejecting what is off by the stated effect;
// both in (0, 1). Take them from the budget before looking at any sample. Every function throws std::invalid_argument
// for arguments outside their ranges, and when it takes more than kMostTrials samples.
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

/// ceil(((z_{1 - alpha/2} + z_{1 - miss}) / shift)^2): samples for the two-sided z_test to see a mean that is off by
/// `shift` standard deviations.
/// Guarantees: exact for normal values.
std::uint64_t samples_for_mean_shift(double shift, double alpha, double miss);

/// The inverse: (z_{1 - alpha/2} + z_{1 - miss}) / sqrt(n), in standard deviations.
double detectable_mean_shift(std::uint64_t n, double alpha, double miss);

/// Smallest n for which the limit of the two-sided chi_squared_variance_interval on the side of 1 leaves out 1 with
/// probability >= 1 - miss when the true variance is `ratio`; ratio > 0 and not 1.
/// Guarantees: exact for normal values. The other limit leaves it out with probability below alpha / 2, which is not
///   counted.
std::uint64_t samples_for_variance_ratio(double ratio, double alpha, double miss);

/// The inverse: the ratio above 1, q(1 - alpha/2) / q(miss) with quantiles q of chi^2_{n-1}, or that below 1,
/// q(alpha/2) / q(1 - miss).
double detectable_variance_increase(std::uint64_t n, double alpha, double miss);
double detectable_variance_decrease(std::uint64_t n, double alpha, double miss);

/// ceil((sqrt(log(2 / alpha)) + sqrt(log(1 / miss)))^2 / (2 discrepancy^2)): samples for the p_bound of
/// kolmogorov_smirnov_test to see a distribution with sup |G - F| >= discrepancy, 0 < discrepancy <= 1.
/// Guarantees: for every n and every pair of distributions: Massart's inequality for the rejection, Hoeffding's at the
///   point where the two distributions are furthest apart for the miss.
std::uint64_t samples_for_distribution_gap(double discrepancy, double alpha, double miss);

/// The inverse: (sqrt(log(2 / alpha)) + sqrt(log(1 / miss))) / sqrt(2 n).
double detectable_distribution_gap(std::uint64_t n, double alpha, double miss);

}  // namespace croquis
