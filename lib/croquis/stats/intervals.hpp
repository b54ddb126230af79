// Confidence intervals: for a probability, a mean, a variance and a ratio.
//
// Every function takes `alpha`, 0 < alpha < 1, the largest probability that the interval misses: at 1e-9 a confidence
// 1 - alpha would have lost half its digits.
#pragma once

#include <croquis/stats/accumulator.hpp>
#include <cstdint>
#include <limits>

namespace croquis {

/// Which limits an interval has. With one, the other is the end of the range and alpha is not halved.
enum class Side { both, lower, upper };

struct Interval {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();

  bool contains(double x) const { return lo <= x && x <= hi; }
  double width() const { return hi - lo; }
};

/// The most trials that probabilities are computed for, 8.6e9: the inverse of the incomplete beta function of
/// Boost 1.74 fails from 2^36 on.
inline constexpr std::uint64_t kMostTrials = std::uint64_t{1} << 33;

/// Limits of the probability of failure: lo solves P(Bin(n, lo) >= failures) = a, hi solves P(Bin(n, hi) <= failures) =
/// a, with a = alpha / 2 for both and alpha for one.
/// Guarantees: covers for every n and every probability, with more than 1 - alpha mostly (Clopper and Pearson 1934).
/// Throws std::invalid_argument unless failures <= trials and 1 <= trials <= kMostTrials.
Interval clopper_pearson(std::uint64_t failures, std::uint64_t trials, double alpha, Side side = Side::both);

/// mean +- t_{n-1} s / sqrt(n), of at least two values.
/// Guarantees: exact for normal values; for others asymptotic, and the worse the smaller alpha is: a skewed
///   distribution or a heavy tail misses more often than alpha. Values that are all the same give an interval of width
///   zero.
Interval student_interval(const Accumulator& sample, double alpha, Side side = Side::both);

/// mean +- (s sqrt(2 L / n) + 7 r L / (3 (n - 1))), L = log(2 / a), for values in `range` of width r; cut off at it.
/// Guarantees: covers for every n >= 2 and every distribution on the range (Maurer and Pontil 2009, theorem 4, which is
///   for one side; a as in clopper_pearson).
/// Throws std::invalid_argument when a value was outside the range.
Interval empirical_bernstein_interval(const Accumulator& sample, Interval range, double alpha, Side side = Side::both);

/// s^2 exp(+- z sqrt((k - (n - 3) / (n - 1)) / n)), k the kurtosis of the sample, of at least four values.
/// Guarantees: asymptotic, for any distribution with a fourth moment: the delta method for log s^2 with
///   Var(s^2) = (mu_4 - sigma^4 (n - 3) / (n - 1)) / n. Heavy tails make k too small, and the interval too short, at
///   moderate n (Bonett 2006). Values that are all the same say nothing of k: [0, infinity).
Interval asymptotic_variance_interval(const Accumulator& sample, double alpha, Side side = Side::both);

}  // namespace croquis
