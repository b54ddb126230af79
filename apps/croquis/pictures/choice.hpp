// The picture of croquis choose.
#pragma once

#include <croquis/measure/columns.hpp>

#include "pictures/plot_request.hpp"

/// The 95 % quantile of the error of each choice against its cost in units of exact attention's, by method, with a line
/// at epsilon: filled what is chosen, open what only leads. Choices of exact attention are not drawn; the title counts
/// them. Throws std::invalid_argument when nothing is left.
void draw_choices(const croquis::Table& table, const PlotRequest& request);
