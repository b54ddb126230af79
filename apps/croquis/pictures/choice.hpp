// The picture of croquis choose.
#pragma once

#include <croquis/measure/choose.hpp>
#include <croquis/measure/columns.hpp>
#include <vector>

#include "pictures/plot_request.hpp"

/// Whether there is a point or a line to draw: exact attention has none.
bool has_choices_to_draw(const croquis::Table& table, const std::vector<croquis::ChoiceDraw>& draws);

/// The 95 % quantile of the error against the cost in units of exact attention's, with a line at epsilon. A point a
/// choice: filled what is chosen, open what only leads; choices of exact attention are counted in the title. With
/// `draws` (those of X.draws.csv), a line a method over its candidates, of the quantile over all that was seen of them,
/// and the least error at each cost. Throws std::invalid_argument when nothing is left to draw.
void draw_choices(const croquis::Table& table, const PlotRequest& request,
                  const std::vector<croquis::ChoiceDraw>& draws = {});
