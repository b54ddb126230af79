// Curves in gnuplot's words.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "pictures/axes.hpp"
#include "pictures/curve.hpp"

/// Whether one of so many curves has a band, or bars in its place.
bool has_spread(const Curve& curve, std::size_t curves);

/// The data blocks $d0, $d1, ... of the curves, and $band0, ... of those that turn back.
std::string curve_data(const std::vector<Curve>& curves);

/// The data blocks $level0, $level1, ...
std::string level_data(const std::vector<PlotLevel>& levels, const XAxis& axis, bool linear);

/// The column of x for each curve. Bars at one place would cover each other: they stand side by side, a few percent
/// apart, and well within the distance between two places.
std::vector<std::string> columns_of_x(const std::vector<Curve>& curves, const std::set<double>& places);

/// An upright line at the flops of exact attention, and its name in the legend.
std::string upright_line(double flops);
inline constexpr const char* kFlopsOfExact = "flops of exact attention";

/// The command that plots these blocks. `several`: there are curves of more than one target, each of which has a
/// heading in the legend. `upright`: there is an upright line.
std::string curve_plots(const std::vector<Curve>& curves, bool several, const std::vector<PlotLevel>& levels,
                        bool upright, const std::vector<std::string>& columns, const char* heavy_tailed);
