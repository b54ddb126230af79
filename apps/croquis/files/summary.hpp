// X.summary.csv and X.heads.csv, and which files a run has written.
#pragma once

#include <croquis/measure/columns.hpp>
#include <string>
#include <vector>

#include "files/companions.hpp"

/// What write_grouped_summary writes beside the rows of so many inputs.
std::vector<Companion> summary_files(std::size_t inputs = 1);

/// Results::write_summary of a command whose rows are grouped by their columns: X.summary.csv, in which every input
/// has its lines, one a group and metric: keys, metric, count, failed, mean, standard_error, q10, q50, q90, and the
/// keys that stand behind the metrics in the rows. Where there are several inputs, X.heads.csv about all of them
/// together too. There, a line a group and metric: keys, metric, heads, failed, then of the means of the heads median,
/// smallest, largest, mean and standard_error, which has a part between heads and one of the draws, and heavy_tailed:
/// whether the draws of some head are. Of one input, an X.heads.csv of an earlier run is removed.
void write_grouped_summary(const croquis::Table& table, const std::string& out);

/// How many rows failed and the first reason, if any did; and where the files are.
void print_files(const croquis::Table& table, const std::string& out);
