// Mean, standard error and quantiles of a sample, and of one that is nested in another.
#pragma once

#include <cstddef>
#include <vector>

namespace croquis {

struct Summary {
  std::size_t count = 0;
  double mean = 0;
  double standard_error = 0;         ///< s / sqrt(count); NaN for a single value
  double q10 = 0, q50 = 0, q90 = 0;  ///< quantiles, linear between order statistics (Hyndman and Fan's type 7)
  double smallest = 0, largest = 0;
  /// The mean is not representative: there are at least three values, and one has more than half of the sum of their
  /// magnitudes, or the mean lies outside the 10 % to 90 % quantiles.
  bool heavy_tailed = false;
};

/// The quantile of ascending values, linear between order statistics (type 7). Values may be infinite, but not NaN;
/// between -infinity and another value it is -infinity.
/// Throws: std::invalid_argument for no value, and unless 0 <= share <= 1.
double quantile(const std::vector<double>& ascending, double share);

/// The summary of a sample, which must not contain NaN. Cost: O(count log count).
/// Throws: std::invalid_argument for an empty sample.
Summary summarise(std::vector<double> values);

/// The summary of a nested sample: members[i] holds the draws of member i, for instance of one head. Draws of one head
/// are not independent samples of all heads, so this summarises the means of the members, and its standard error is
/// that between members. It is heavy-tailed if the draws of some member are, because the mean of that member is then
/// not reliable. Members without a value are left out.
/// Throws: std::invalid_argument if no member has a value. Cost: that of summarise() for each member.
Summary summarise_nested(const std::vector<std::vector<double>>& members);

/// The value of a member in one draw.
struct DrawnValue {
  std::size_t draw = 0;  ///< the number of the draw; members with the same number share the draw
  double value = 0;
};

/// The standard error that draws bring to a mean over members that share them, such as heads that are all measured with
/// the same landmarks. The effect of a draw is the mean over the members of value - (mean of the member's values), and
/// the error is s / sqrt(T) of the effects of T draws. The standard error of summarise_nested(), which is that between
/// members, does not show it. 0 for fewer than two draws.
double error_of_shared_draws(const std::vector<std::vector<DrawnValue>>& members);

}  // namespace croquis
