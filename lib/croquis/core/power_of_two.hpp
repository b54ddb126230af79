// The unit in which squares of numbers neither overflow nor vanish.
#pragma once

#include <cmath>

namespace croquis {

/// 2^e <= |x| < 2^{e + 1}, by which division is exact but for subnormal numbers; 1 for 0 and for what is not finite.
template <typename T>
T power_of_two_below(T x) {
  return x != 0 && std::isfinite(x) ? std::ldexp(T(1), std::ilogb(x)) : T(1);
}

}  // namespace croquis
