// Confidence intervals for a probability and a mean.
//
// Every function takes `alpha`, 0 < alpha < 1, which is the largest probability that the interval does not contain the
// true value. (At alpha = 1e-9 a confidence 1 - alpha would have lost half its digits.)
#pragma once

#include <croquis/stats/accumulator.hpp>
#include <cstdint>
#include <limits>

namespace croquis {

/// Which limits an interval has. If it has only one, the other end is that of the possible values, and alpha is not
/// halved.
enum class Side { both, lower, upper };

struct Interval {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();

  bool contains(double x) const { return lo <= x && x <= hi; }
  double width() const { return hi - lo; }
};

/// The largest number of trials for which probabilities are computed, 8.6e9. From 2^36 on the inverse of the incomplete
/// beta function in Boost 1.74 fails.
inline constexpr std::uint64_t kMostTrials = std::uint64_t{1} << 33;

/// The smallest alpha for which limits of a probability are computed: below 1e-76 that function of Boost 1.74 fails.
inline constexpr double kLeastAlpha = 1e-60;

/// Limits for the probability of failure, from the number of failures in n trials. lo solves P(Bin(n, lo) >= failures)
/// = a and hi solves P(Bin(n, hi) <= failures) = a, with a = alpha / 2 for two limits and a = alpha for one.
/// Guarantees: covers the true probability with probability at least 1 - alpha, for every n; usually with more (Clopper
///   and Pearson 1934).
/// Throws: std::invalid_argument unless failures <= trials, 1 <= trials <= kMostTrials and alpha >= kLeastAlpha.
Interval clopper_pearson(std::uint64_t failures, std::uint64_t trials, double alpha, Side side = Side::both);

/// t with P(|T| <= t) = 1 - alpha, or P(T <= t) = 1 - alpha for one side, for Student's T with `degrees` > 0 of
/// freedom, which need not be whole. Infinite where t is larger than any double, as for few degrees and a small alpha.
/// Throws: std::invalid_argument unless degrees > 0.
double student_quantile(double degrees, double alpha, Side side = Side::both);

/// mean +- t_{n-1} s / sqrt(n), for at least two values.
/// Guarantees: exact for normal values. For others it is asymptotic, and the approximation becomes worse as alpha
///   becomes smaller: with a skewed distribution or a heavy tail the interval fails more often than alpha. Equal values
///   give an interval of width zero.
/// Throws: std::invalid_argument for fewer than two values.
Interval student_interval(const Accumulator& sample, double alpha, Side side = Side::both);

}  // namespace croquis
