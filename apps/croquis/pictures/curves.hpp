// Plots of grouped rows, drawn by gnuplot.
#pragma once

#include <croquis/measure/groups.hpp>
#include <limits>
#include <string>

#include "pictures/plot_request.hpp"

/// A metric against the axis (or flops or seconds, by `x`), a line a label with a band. The axes are logarithmic, that
/// of the metric where its values differ by more than a factor of 3. Of one input, the median of the draws in the band
/// of their 10 % and 90 % quantiles; of several, the median over the inputs of their means in the band of the smallest
/// and the largest. The mean is drawn with its standard error, between inputs where there are several. So a line lies
/// in its band, and the title says what both are. Heavy-tailed points get a star. Curves of one target stand together
/// in the legend, under its name where there are several; methods of another function than softmax attention have open
/// markers. The brackets of attention (v-mean, best-rank-d) are black and dashed. Groups without the metric, or with a
/// value that such axes cannot show (0 or less, or beyond 1e300), are left out. `exact`, where it is known, is the
/// metric with exact attention: a line across. Throws std::invalid_argument when nothing is left, std::runtime_error
/// when gnuplot is missing or fails.
void draw_groups(const croquis::Grouping& grouping, const std::string& metric, const Picture& picture,
                 Statistic statistic = Statistic::median, const std::string& x = "",
                 double exact = std::numeric_limits<double>::quiet_NaN());

/// What stands along an axis: of what curves run over (or flops or seconds, by `x`), and of a metric with its unit.
std::string axis_title(const croquis::Grouping& grouping, const std::string& x);
std::string metric_title(const croquis::Grouping& grouping, const std::string& metric);

/// What the numbers of a plot are: "median of 20 draws; band: 10 to 90 %". `spread`: what shows the second of them.
std::string statistic_line(const croquis::Grouping& grouping, Statistic statistic, const char* spread = "band");

/// What --bounds guarantees of a metric of the spectral norm, of a group of one input (||O|| is the same in all its
/// rows); NaN where there is none.
double bound_of(const croquis::Group& group, const std::string& metric);

/// The first metric that some group has, relative errors before absolute ones.
std::string default_metric(const croquis::Grouping& grouping);

/// Results::draw of a command whose rows are grouped by their columns. Several inputs are drawn together. Throws
/// std::invalid_argument for a metric, a curve or an axis that there is not.
void draw_grouped(const croquis::Table& all, const PlotRequest& request);
