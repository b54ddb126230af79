// What croquis choose prints.
#pragma once

#include <croquis/measure/choose.hpp>
#include <string>
#include <vector>

/// A line a choice, or where there are many a line a layer; then what all choices together cost.
void print_choices(const std::vector<croquis::ChoiceRow>& rows);

/// That the errors are those against another function than softmax attention, where they are; else empty.
std::string other_target_of(const std::vector<croquis::ChoiceRow>& rows);
