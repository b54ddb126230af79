// Constants that are proved in docs/claims/skyformer.md.
#pragma once

namespace croquis::claims {

/// Twice kHalfOfMean (1 + 3/2), rounded up: d >= 33 (2n max l_i) log(n / delta), since 2n max l_i >= 2/3 and n / delta
/// >= 2.
inline constexpr double kPrintedConstant = 33;

}  // namespace croquis::claims
