// What rows say of outputs, derivatives and errors with which nothing can be compared. Not installed.
#pragma once

#include <croquis/measure/vanishing.hpp>

namespace croquis::claims {

/// What rows say that relative errors of such an output or such derivatives, or such errors, would decide.
inline constexpr const char* kOutputVanishes = "nothing to compare with: the exact output is 0 or rounding alone";
inline constexpr const char* kGradientVanishes =
    "nothing to compare with: the exact derivatives are 0 or rounding alone";
inline constexpr const char* kErrorsVanish = "nothing to compare with: the errors are rounding alone";

}  // namespace croquis::claims
