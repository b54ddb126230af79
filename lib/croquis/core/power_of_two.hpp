// The unit in which squares of numbers neither overflow nor vanish.
#pragma once

#include <cmath>

namespace croquis {

/// The power 2^e with 2^e <= |x| < 2^{e + 1}; 1 if x is 0 or not finite. A division by it is exact unless the result is
/// subnormal.
template <typename T>
T power_of_two_below(T x) {
  return x != 0 && std::isfinite(x) ? std::ldexp(T(1), std::ilogb(x)) : T(1);
}

}  // namespace croquis
