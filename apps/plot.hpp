// Plots of results, drawn by gnuplot.
#pragma once

#include <string>
#include <vector>

#include "results/error_summary.hpp"

/// Throws std::invalid_argument unless `path` ends in .svg, .png or .pdf and its folder is there.
void check_plot_name(const std::string& path);

/// Mean of a metric against features, logarithmic axes, a line a method with a band from the 10 % to the 90 % quantile;
/// the two brackets (v-mean, best-rank-d) dashed. Throws std::runtime_error when gnuplot is missing or fails.
void draw_errors(const std::vector<ErrorGroup>& groups, const std::string& metric, const std::string& path);

/// croquis plot: draws a result of `croquis error` again. An empty `out` means FILE with .svg for .csv.
int run_plot(const std::string& file, std::string out, const std::string& metric);
