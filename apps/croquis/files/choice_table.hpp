// What croquis choose prints.
#pragma once

#include <croquis/measure/choose.hpp>
#include <vector>

/// A line a choice, or where there are many a line a layer; then what all choices together cost.
void print_choices(const std::vector<croquis::ChoiceRow>& rows);
