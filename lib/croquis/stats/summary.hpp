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
  /// The mean says little of these values: of at least three, one has more than half of the sum of their magnitudes, or
  /// the mean lies outside the 10 % to 90 % quantiles.
  bool heavy_tailed = false;
};

/// The quantile of ascending values, linear between order statistics (type 7); they may be infinite, not NaN.
/// Throws std::invalid_argument for no value, and unless 0 <= share <= 1.
double quantile(const std::vector<double>& ascending, double share);

/// The values must not be empty and must not contain NaN. Cost: O(count log count).
Summary summarise(std::vector<double> values);

/// Of draws nested in heads, say: draws that heads share and heads that differ are no sample of draws x heads. The
/// summary is that of the means of the members, so its standard error is between members; it is heavy-tailed where the
/// draws of some member are, whose mean is then not to be relied on. Members without a value are left out, and one
/// must have some. Cost: that of summarise() for each member.
Summary summarise_nested(const std::vector<std::vector<double>>& members);

}  // namespace croquis
