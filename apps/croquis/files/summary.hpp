// X.summary.csv, and what is printed at the end of a run.
#pragma once

#include <croquis/measure/groups.hpp>
#include <string>
#include <vector>

/// X.summary.csv: a line a group and metric: keys, metric, count, failed, mean, standard_error, q10, q50, q90.
void write_summary(const std::string& path, const croquis::Grouping& grouping);

/// What is printed of a sample.
enum class Statistic { mean, median };

/// A table of labels by sizes on standard output: mean (standard error) or median (10 % to 90 % quantile) of a metric.
void print_groups(const std::string& title, const croquis::Grouping& grouping, const std::string& metric,
                  Statistic statistic = Statistic::mean);

/// How many rows failed and the first reason, if any did; and where the files are.
void print_files(const croquis::Table& table, const std::string& out, const std::string& plot);
