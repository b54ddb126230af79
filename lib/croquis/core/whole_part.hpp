// A share of a whole number, rounded down.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>

namespace croquis {

/// floor(share * count) for a share that is meant as it is written in decimals: 0.29 of 100 is 29, though the product
/// of the two doubles is below. share >= 0, and a product of at most 2^50.
template <std::unsigned_integral Count>
Count whole_part(double share, Count count) {
  constexpr double rounding = 2 * std::numeric_limits<double>::epsilon();  // of the share, the product and this one
  return static_cast<Count>(std::floor(share * static_cast<double>(count) * (1 + rounding)));
}

}  // namespace croquis
