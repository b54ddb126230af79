// Constants that are proved in docs/claims/skyformer.md.
#pragma once

namespace croquis::claims {

/// 2 / (1 - log 2), rounded up: d >= 6.52 (2n max l_i + 1) log(2n / delta) landmarks (T9).
inline constexpr double kLandmarkConstant = 6.52;

}  // namespace croquis::claims
