// Plots of grouped rows, drawn by gnuplot.
#pragma once

#include <croquis/measure/groups.hpp>
#include <string>

/// Mean of a metric against the axis, logarithmic axes, a line a label with a band from the 10 % to the 90 % quantile;
/// the brackets of attention (v-mean, best-rank-d) dashed. Groups without the metric, or whose mean such axes cannot
/// show (0 or less, or beyond 1e300), are left out. Throws std::invalid_argument when nothing is left,
/// std::runtime_error when gnuplot is missing or fails.
void draw_groups(const croquis::Grouping& grouping, const std::string& metric, const std::string& path);

/// The first metric that some group has, relative errors before absolute ones.
std::string default_metric(const croquis::Grouping& grouping);

/// Results::draw and Results::write_summary of a command whose rows are grouped by their columns. Several inputs are
/// drawn together. Throws std::invalid_argument for a metric that there is not.
void draw_grouped(const croquis::Table& table, const std::string& metric, const std::string& path);
void write_grouped_summary(const croquis::Table& table, const std::string& path);
