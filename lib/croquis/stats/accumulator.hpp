// Moments of a sample in one pass.
#pragma once

#include <cstdint>
#include <limits>

namespace croquis {

/// Count, mean and central moments M_k = sum_i (x_i - mean)^k, k = 2, 3, 4, of values that are added one by one.
///
/// Guarantees: the updates are those of Pebay (2008, SAND2008-6212, eqs. 2.1 to 3.1), which for k = 2 are Welford's.
///   They work on deviations from the running mean, so a common offset of the values loses no digits beyond those that
///   the values themselves lose. M_2 is a sum of non-negative terms. Values may be as large as 2^1022, so that their
///   differences are finite, and as small as they come: the powers of deviations neither overflow nor vanish.
/// Cost: O(1) memory, and about 20 flops for each value.
class Accumulator {
 public:
  /// Throws std::invalid_argument for NaN and infinity.
  void add(double x);

  std::uint64_t count() const { return count_; }
  /// The following throw std::invalid_argument if there are too few values: fewer than 1 for the mean, fewer than 2 for
  /// the others.
  double mean() const;
  /// M_2 / (n - 1), unbiased; infinity or 0 where that is outside of double, as the standard error is not.
  double variance() const;
  /// sqrt(variance / n).
  double standard_error() const;
  /// n M_4 / M_2^2, at least 1, 3 for a normal distribution; NaN for values that are all the same.
  double kurtosis() const;

 private:
  void raise_unit(double deviation);
  double scaled_variance() const;  // / unit_^2

  std::uint64_t count_ = 0;
  double mean_ = 0;
  double unit_ = std::numeric_limits<double>::min();  // a power of two
  double m2_ = 0, m3_ = 0, m4_ = 0;                   // M_k / unit_^k
};

}  // namespace croquis
