// Groups of rows as tables, plots and pages show them, and what their numbers are.
#pragma once

#include <croquis/measure/groups.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// What is shown of a sample.
enum class Statistic { mean, median };

/// Whether relative errors say that the method computes exact attention, as some do where d is large: it is no
/// approximation there. They have to say so in every draw (of several members, in every mean): what is exact in most
/// draws and fails or errs in one is an approximation.
bool is_exact(const croquis::Group& group, const std::string& metric);

/// Whether the metric is the mean squared error of random features, and far below its expectation where that is known:
/// what makes the expectation is too rare to have been drawn, and the number says nothing about it.
bool misses_its_tail(const croquis::Group& group, const std::string& metric);

/// The metric that a relative error is without its norm; empty for other metrics.
std::string absolute_of(const std::string& metric);

/// The 95 % interval for the sample of rows (--rows) that belongs to the median or the mean of a metric: the medians or
/// means of its ends over the draws, of several members those of their means over the draws. Only some metrics have
/// one.
std::optional<std::pair<double, double>> rows_interval(const croquis::Group& group, const std::string& metric,
                                                       Statistic statistic);
bool has_rows_interval(const croquis::Grouping& grouping, const std::string& metric);
/// Whether one of the metrics has one.
bool has_rows_interval(const croquis::Grouping& grouping, const std::vector<std::string>& metrics);

/// The columns that say which head a row is of: those that a group over all heads does not have.
const std::set<std::string>& head_columns();

/// The groups of a table as they are shown: several inputs together. Has the numbers of --rows too, where there are
/// some of this metric: `rows` and the ends of its intervals; and those of the columns in `also`. Two kinds of one name
/// have different labels.
croquis::Grouping shown_groups(const croquis::Table& table, const std::string& metric, std::set<std::string> also = {});

/// The groups of a table with its inputs one by one, as shown_groups() tells whether they are exact.
croquis::Grouping groups_of_inputs(const croquis::Table& table, const std::set<std::string>& also);

/// The values of these keys of a group, in their order.
std::vector<std::string> key_values_of(const croquis::Group& group, const std::vector<croquis::Column>& keys);
