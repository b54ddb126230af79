// How far a number is from what it ought to be, in units of its last place.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

/// |y - exact| in units of the last place of T at the exact value.
template <typename T>
long double ulps(T y, long double exact) {
  const int exponent = std::max(std::ilogb(exact), std::numeric_limits<T>::min_exponent - 1);
  return std::fabs(static_cast<long double>(y) - exact) /
         std::ldexp(1.0L, exponent - (std::numeric_limits<T>::digits - 1));
}
