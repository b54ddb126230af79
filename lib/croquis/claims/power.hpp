// The power of rows that are decided by a number of draws, but by no counting of failures (decisions.hpp has that). Not
// installed.
#pragma once

#include <croquis/stats/accumulator.hpp>
#include <cstdint>

namespace croquis::claims {

/// The smallest share of all draws of which more than half of N draws are seen with probability 0.95: what turns the
/// median of N.
double power_of_majority(std::uint64_t trials);

/// Standard error of a mean over the mean; 0 of fewer than two values.
double relative_error_of_mean(const Accumulator& sample);

/// The relative gap between two means that draws show with probability 0.95, when their quotient has this relative
/// standard error. By the normal distribution: shown, and used for no verdict.
double power_of_means(double relative_error);

/// The distance to a distribution that N draws show with probability 0.95 where `allowed` is what decides: at the point
/// where it is largest they are below it by more than sqrt(log(20) / 2N) with probability 0.05 at most (Hoeffding).
double power_of_distance(std::uint64_t trials, double allowed);

}  // namespace croquis::claims
