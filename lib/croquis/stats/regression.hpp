// Straight lines through points, and rates.
#pragma once

#include <croquis/stats/intervals.hpp>
#include <span>

namespace croquis {

/// y ~ intercept + slope x by weighted least squares.
struct LineFit {
  std::size_t points = 0;
  double slope = 0, intercept = 0;
  double residual = 0;                          ///< sqrt(sum w (y - fit)^2 / (points - 2)): deviation at weight 1
  double slope_error = 0, intercept_error = 0;  ///< standard errors

  /// slope +- t_{points - 2} slope_error.
  /// Guarantees: exact for independent normal deviations from a true line with variances in the proportion of 1 / w; a
  ///   curve that is no line has no such slope. Points exactly on a line give an interval of rounding size.
  Interval slope_interval(double alpha, Side side = Side::both) const;
};

/// Cost: O(points). `weights` are > 0, and 1 / weight the variance of a point up to a common factor; none: all the
/// same. Throws std::invalid_argument unless sizes match, there are three points with two different x, and all are
/// finite.
LineFit fit_line(std::span<const double> x, std::span<const double> y, std::span<const double> weights = {});

/// y ~ c x^slope: fit_line of (log x, log y), so intercept = log c, and weights are those of log y. State the range of
/// x before looking at y. Throws std::invalid_argument also for x or y that are not > 0.
LineFit fit_power_law(std::span<const double> x, std::span<const double> y, std::span<const double> weights = {});

}  // namespace croquis
