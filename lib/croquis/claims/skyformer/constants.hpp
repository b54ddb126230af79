// Constants that are proved in docs/claims/skyformer.md.
#pragma once

namespace croquis::claims {

/// 2 / (1 - log 2), rounded up: d >= 6.52 (2n max l_i + 1) log(2n / delta) landmarks (T9).
inline constexpr double kLandmarkConstant = 6.52;

/// Twice 6.52 (1 + 3/2), rounded up: d >= 33 (2n max l_i) log(n / delta), since 2n max l_i >= 2/3 and n / delta >= 2.
inline constexpr double kPrintedConstant = 33;

}  // namespace croquis::claims
