// The picture of croquis choose.
#pragma once

#include <croquis/measure/choose.hpp>
#include <croquis/measure/columns.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pictures/plot_request.hpp"

/// The cost of candidates on all heads and sequences in units of exact attention's, by label and number of features.
using CandidateCosts = std::map<std::pair<std::string, std::uint64_t>, double>;

/// The 95 % quantile of the error against the cost in units of exact attention's, with a line at epsilon. A point a
/// choice: filled what is chosen, open what only leads; choices of exact attention, and those without a place on the
/// axes, are counted in the title. With `draws` (those of X.draws.csv), a line a method over those of its candidates
/// that `costs` has, of the quantile over all that was seen of them, and the least error at each cost. Throws
/// NothingToDraw when there is neither a point nor a line.
void draw_choices(const croquis::Table& table, const PlotRequest& request,
                  const std::vector<croquis::ChoiceDraw>& draws = {}, const CandidateCosts& costs = {});
