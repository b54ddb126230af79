// The power of rows that are decided by a number of draws other than by counting failures (for that see decisions.hpp).
// Not installed.
#pragma once

#include <croquis/stats/accumulator.hpp>
#include <cstdint>
#include <vector>

namespace croquis::claims {

/// The relative gap between the medians of two samples of one size, in units of that of the second, at which intervals
/// of the two would not meet: order statistics between which a median is with probability 0.95 at least, whatever the
/// distribution. Of fewer than six values, which do not tell so much, the interval is their range.
double power_of_medians(std::vector<double> first, std::vector<double> second);

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
