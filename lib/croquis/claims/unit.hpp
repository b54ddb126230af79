// The unit roundoff, in which the rounding of checks is counted.
#pragma once

namespace croquis::claims {

/// The unit roundoff of double, u = 2^-53: the relative error of one operation is at most u.
inline constexpr double kUnit = 0x1p-53;

}  // namespace croquis::claims
