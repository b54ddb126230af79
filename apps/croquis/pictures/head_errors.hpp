// A metric of the rows of heads over the layers and heads of a model.
#pragma once

#include <croquis/measure/groups.hpp>
#include <optional>
#include <string>

#include "pictures/heat_map.hpp"
#include "pictures/plot_request.hpp"

/// Where the head of a group is in its model: by the columns `layer` and `head`, or by the name of the input.
std::optional<HeadPlace> place_of(const croquis::Group& group);

/// A map for each curve at one d, the largest where none is asked for: the median (or the mean) of the draws of every
/// head, on one scale of colours. Heads are placed by the columns `layer` and `head`, or by the name of the input in
/// rows without. Throws std::invalid_argument for several d, and where no head has a place and a number.
void draw_head_errors(const croquis::Table& table, const std::string& metric, const PlotRequest& request);
