// Mean, standard error and quantiles of a sample.
#pragma once

#include <cstddef>
#include <vector>

namespace croquis {

struct Summary {
  std::size_t count = 0;
  double mean = 0;
  double standard_error = 0;         ///< s / sqrt(count); NaN for a single value
  double q10 = 0, q50 = 0, q90 = 0;  ///< quantiles, linear between order statistics (Hyndman and Fan's type 7)
};

/// The values must not be empty and must not contain NaN. Cost: O(count log count).
Summary summarise(std::vector<double> values);

}  // namespace croquis
