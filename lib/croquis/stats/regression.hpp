// Straight lines and power laws fitted to points.
#pragma once

#include <croquis/stats/intervals.hpp>
#include <span>

namespace croquis {

/// y ~ intercept + slope x by weighted least squares.
struct LineFit {
  std::size_t points = 0;
  double slope = 0, intercept = 0;
  double residual = 0;     ///< sqrt(sum w (y - fit)^2 / (points - 2)), the deviation at weight 1
  double slope_error = 0;  ///< its standard error

  /// slope +- t_{points - 2} slope_error.
  /// Guarantees: exact if the deviations from a true line are independent and normal, with variances proportional to 1
  ///   / w. If the points follow a curve that is not a line, there is no such slope. Points exactly on a line give an
  ///   interval whose width is rounding.
  Interval slope_interval(double alpha, Side side = Side::both) const;
};

/// Fits y ~ intercept + slope x. `weights` are > 0, and 1 / weight is the variance of a point up to a common factor.
/// Without weights all points count the same.
/// Cost: O(points).
/// Throws: std::invalid_argument unless the sizes match, there are at least three points with at least two different x
///   whose squared distances from their mean neither vanish nor overflow, and all numbers are finite.
LineFit fit_line(std::span<const double> x, std::span<const double> y, std::span<const double> weights = {});

/// Fits y ~ c x^slope by fit_line of (log x, log y). So intercept = log c, and the weights are those of log y. State
/// the range of x before looking at y. Throws std::invalid_argument also if an x or y is not > 0.
LineFit fit_power_law(std::span<const double> x, std::span<const double> y, std::span<const double> weights = {});

}  // namespace croquis
