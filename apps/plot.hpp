// Plots of results, drawn by gnuplot.
#pragma once

#include <string>
#include <vector>

#include "results/groups.hpp"

/// Mean of a metric against the grouping's x, logarithmic axes, a line a label with a band from the 10 % to the 90 %
/// quantile; the brackets of attention (v-mean, best-rank-d) dashed. Groups without the metric, or whose mean such axes
/// cannot show (0 or less, or beyond 1e300), are left out. Throws std::invalid_argument when nothing is left,
/// std::runtime_error when gnuplot is missing or fails.
void draw_groups(const std::vector<Group>& groups, const Grouping& grouping, const std::string& metric,
                 const std::string& path);

/// The relative spectral error that the groups have, else the time.
std::string default_metric(const std::vector<Group>& groups);

/// croquis plot: draws a result again. An empty `out` means FILE with .svg for
/// .csv, an empty `metric` default_metric().
int run_plot(const std::string& file, std::string out, std::string metric);
