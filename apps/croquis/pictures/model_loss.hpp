// Plots of what approximations cost a model.
#pragma once

#include <croquis/measure/columns.hpp>

#include "pictures/plot_request.hpp"

/// Loss, or another metric of the summary, against d, flops or seconds: the mean over positions with its standard error
/// between sequences, a line a method; of a choice, whose heads have a d each, and of exact attention a line across;
/// against flops, an upright one shows what it takes. Of
/// --layers each, the increase of the loss (or the metric) against the layer at one d, the largest where none is asked
/// for. Throws std::invalid_argument for what there is not.
void draw_models(const croquis::Table& table, const PlotRequest& request);
