// Plots of grouped rows, drawn by gnuplot.
#pragma once

#include <croquis/measure/groups.hpp>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "pictures/curve.hpp"
#include "pictures/plot_request.hpp"

/// A metric against the axis (or flops or seconds, by `x`), a line a label with a band. The axes are logarithmic, that
/// of the metric where its positive values differ by more than a factor of 3 and 1 is not the best of them. Of one
/// input, the median of the draws in the band of their 10 % and 90 % quantiles; of several, the median over the inputs
/// of their means in the band of the smallest and the largest. The mean is drawn with its standard error, between
/// inputs where there are several. So a line lies in its band, and the title says what both are. Heavy-tailed points
/// get a star. Curves of one target stand together in the legend, under its name where there are several; methods of
/// another function than softmax attention have open markers. The brackets of attention (v-mean, best-rank-d) are black
/// and dashed. With more than kMostBands curves there are no bands. Where rows were sampled (--rows), bars show the
/// intervals. Groups without the metric, or with a value that such axes cannot show (0 or less on a logarithmic one, or
/// beyond 1e300), are left out, and such levels too. An increase of the loss that is 0 or less within its error has a
/// linear axis, which shows that. Against flops, an upright line shows `exact_flops`, those of exact attention, where
/// they are known. Throws std::invalid_argument when nothing is left, std::runtime_error when gnuplot is
/// missing or fails.
void draw_groups(const croquis::Grouping& grouping, const std::string& metric, const Picture& picture,
                 Statistic statistic = Statistic::median, const std::string& x = "", std::vector<PlotLevel> levels = {},
                 double exact_flops = std::numeric_limits<double>::quiet_NaN());

/// With more curves than this, bands would hide each other and are left out.
inline constexpr std::size_t kMostBands = 8;

/// Results::draw of a command whose rows are grouped by their columns; where no metric is asked for, `usual` if some
/// row has it. Several inputs are drawn together. What is returned throws NothingToDraw, and std::invalid_argument for
/// a metric, a curve or an axis that there is not.
std::function<void(const croquis::Table& all, const PlotRequest& request)> drawing(const std::string& usual = "");
