// The unit roundoff, in which the rounding of checks is counted.
#pragma once

namespace croquis::claims {

/// Of double: one operation is off by at most this, relatively.
inline constexpr double kUnit = 0x1p-53;

}  // namespace croquis::claims
