// The power of rows that are decided by a number of draws other than by counting failures (for that see decisions.hpp).
// Not installed.
#pragma once

#include <croquis/stats/accumulator.hpp>
#include <cstdint>

namespace croquis::claims {

/// The smallest probability of an event that occurs in more than half of N draws with probability 0.95: the violation
/// that a decision by the median of N detects.
double power_of_majority(std::uint64_t trials);

/// The standard error of a mean, divided by the absolute value of the mean; NaN for fewer than two values.
double relative_error_of_mean(const Accumulator& sample);

/// The relative gap between two means that draws show with probability 0.95, when the quotient of the means has this
/// relative standard error: 1.6449 times that error, by the normal distribution. This approximation gives no verdict,
/// but it can keep one back (withhold_within_error()).
double power_of_means(double relative_error);

/// The distance (Kolmogorov) to a distribution that N draws detect with probability 0.95 where distances above
/// `allowed` refute: at the point of the largest distance the empirical one is smaller by more than sqrt(log(20) / 2N)
/// with probability at most 0.05 (Hoeffding).
double power_of_distance(std::uint64_t trials, double allowed);

}  // namespace croquis::claims
