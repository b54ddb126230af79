// Plots of grouped rows, drawn by gnuplot.
#pragma once

#include <croquis/measure/groups.hpp>
#include <string>
#include <utility>
#include <vector>

#include "pictures/plot_request.hpp"

constexpr const char* kExactAttention = "exact attention";

/// A number that has no place on the axis, as the loss of a choice, whose heads have a d each: a line across.
struct PlotLevel {
  std::string label;
  double at, error = 0;  ///< half the width of its band
};

/// A metric against the axis (or flops or seconds, by `x`), a line a label with a band. The axes are logarithmic, that
/// of the metric where its values differ by more than a factor of 3. Of one input, the median of the draws in the band
/// of their 10 % and 90 % quantiles; of several, the median over the inputs of their means in the band of the smallest
/// and the largest. The mean is drawn with its standard error, between inputs where there are several. So a line lies
/// in its band, and the title says what both are. Heavy-tailed points get a star. Curves of one target stand together
/// in the legend, under its name where there are several; methods of another function than softmax attention have open
/// markers. The brackets of attention (v-mean, best-rank-d) are black and dashed. With more than kMostBands curves
/// there are no bands. Where rows were sampled (--rows), bars show the intervals. Groups without the metric, or with a
/// value that such axes cannot show (0 or less, or beyond 1e300), are left out, and such levels too. An increase of the
/// loss that is 0 or less within its error has a linear axis, which shows that. Throws
/// std::invalid_argument when nothing is left, std::runtime_error when gnuplot is missing or fails.
void draw_groups(const croquis::Grouping& grouping, const std::string& metric, const Picture& picture,
                 Statistic statistic = Statistic::median, const std::string& x = "",
                 std::vector<PlotLevel> levels = {});

/// With more curves than this, bands would hide each other and are left out.
inline constexpr std::size_t kMostBands = 8;

/// The draws of which 10 % and 90 % quantiles are told apart from the smallest and the largest.
inline constexpr std::size_t kFewestForQuantiles = 5;

/// The ends of what is shown beside the median of draws: 10 to 90 %, or all of fewer than kFewestForQuantiles draws.
std::pair<double, double> spread_of(const croquis::Summary& summary);

/// What stands along an axis: of what curves run over (or flops or seconds, by `x`), and of a metric with its unit.
std::string axis_title(const croquis::Grouping& grouping, const std::string& x);
std::string metric_title(const croquis::Grouping& grouping, const std::string& metric);

/// What the numbers of a plot are: "median of 20 draws; band: 10 to 90 %". `spread`: what shows the second of them;
/// nullptr: nothing does.
std::string statistic_line(const croquis::Grouping& grouping, Statistic statistic, const char* spread = "band");

/// What --bounds guarantees of a metric of the spectral norm, of a group of one input (||O|| is the same in all its
/// rows); NaN where there is none.
double bound_of(const croquis::Group& group, const std::string& metric);

/// `usual` where some group has it; else the first metric that some group has, relative errors before absolute ones.
std::string default_metric(const croquis::Grouping& grouping, const std::string& usual = "");

/// Results::draw of a command whose rows are grouped by their columns. Several inputs are drawn together. Throws
/// std::invalid_argument for a metric, a curve or an axis that there is not.
void draw_grouped(const croquis::Table& all, const PlotRequest& request);
/// The same; where no metric is asked for, `usual` if there is one.
void draw_usual(const croquis::Table& all, const PlotRequest& request, const std::string& usual);
