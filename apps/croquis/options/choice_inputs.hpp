// The heads of an input as croquis choose takes them: each on every sequence.
#pragma once

#include <croquis/measure/choose.hpp>
#include <vector>

#include "options/input.hpp"

/// The result refers to `heads`. Throws std::invalid_argument for --per layer of an input without layers.
croquis::ChoiceInputs choice_inputs(const std::vector<Input>& heads, croquis::ChoicePer per);

/// Each once.
std::vector<croquis::HeadShape> shapes_of(const std::vector<Input>& heads);
