// What a sample of measurements says.
#pragma once

#include <cstddef>
#include <vector>

namespace croquis {

struct Summary {
  std::size_t count = 0;
  double mean = 0;
  double standard_error = 0;         ///< s / sqrt(count); NaN for one value, which says nothing of the spread
  double q10 = 0, q50 = 0, q90 = 0;  ///< quantiles, linear between order statistics (Hyndman and Fan's type 7)
};

/// Of at least one value, none of them NaN.
Summary summarise(std::vector<double> values);

}  // namespace croquis
