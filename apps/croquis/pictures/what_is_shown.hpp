// What a plot of grouped rows shows, in words and numbers.
#pragma once

#include <croquis/measure/groups.hpp>
#include <string>
#include <utility>

#include "pictures/plot_request.hpp"

/// The draws of which 10 % and 90 % quantiles are told apart from the smallest and the largest.
inline constexpr std::size_t kFewestForQuantiles = 5;

/// The ends of what is shown beside the median of draws: 10 to 90 %, or all of fewer than kFewestForQuantiles draws.
std::pair<double, double> spread_of(const croquis::Summary& summary);

/// What stands along an axis: of what curves run over (or flops or seconds, by `x`), and of a metric with its unit.
std::string axis_title(const croquis::Grouping& grouping, const std::string& x);
std::string metric_title(const croquis::Grouping& grouping, const std::string& metric);

/// What the numbers of a plot are.
struct StatisticWords {
  std::string numbers;      ///< "median of 20 draws"
  std::string spread = {};  ///< what is drawn beside them: "10 to 90 %"; empty: nothing is, or `numbers` say it
  std::string alone;        ///< the numbers where nothing is drawn beside them
};
StatisticWords statistic_words(const croquis::Grouping& grouping, Statistic statistic);

/// The same in a line: "median of 20 draws; band: 10 to 90 %". `spread`: what shows the second of them; nullptr:
/// nothing does.
std::string statistic_line(const croquis::Grouping& grouping, Statistic statistic, const char* spread = "band");

/// What --bounds guarantees of a metric of the spectral norm, of a group of one input (||O|| is the same in all its
/// rows); NaN where there is none.
double bound_of(const croquis::Group& group, const std::string& metric);

/// "[rows: 0.147, 0.521]": rows_interval(), where there is one.
std::string rows_note(const croquis::Group& group, const std::string& metric, Statistic statistic);

/// `usual` where some group has it; else the first metric that some group has, relative errors before absolute ones.
/// Where there is none, `usual`.
std::string default_metric(const croquis::Grouping& grouping, const std::string& usual = "");

/// Whether a metric is best at 1 and may be 0 or less, as a cosine or a share: its axis is linear.
bool is_best_at_one(const std::string& metric);
