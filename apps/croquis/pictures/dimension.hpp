// What croquis dimension prints and draws.
#pragma once

#include <croquis/measure/dimension.hpp>
#include <string>
#include <vector>

#include "pictures/picture.hpp"

/// Whose number of landmarks `d_theorem` is.
inline constexpr const char* kDimensionTheorem = "Skyformer's Theorem 2";

/// What `d_suffices` means in these rows; empty where no draws were made.
std::string meaning_of_sufficient(const std::vector<croquis::DimensionRow>& rows);

void print_dimensions(const std::vector<croquis::DimensionRow>& rows);

/// d_stat above, the d of the theorem (dashed) and the d that suffices below, against n. Throws std::invalid_argument
/// when there is nothing to draw.
void draw_dimension(const std::vector<croquis::DimensionCurve>& curves, const Picture& picture);
