// Rows of `croquis error`, by method and number of features.
#pragma once

#include <croquis/io/csv.hpp>
#include <croquis/stats/summary.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The trials of one method at one number of features.
struct ErrorGroup {
  std::string input, method, preset, target, n, p, p_v;
  long long features = 0;
  std::size_t failed = 0;                           ///< rows with another status than ok
  std::map<std::string, croquis::Summary> metrics;  ///< by column; empty when all trials failed

  /// The method, and its preset where that is not `paper`.
  std::string label() const;
};

/// The columns that are summarised.
const std::vector<std::string>& error_metrics();

/// Groups in the order of the table. Throws std::invalid_argument when the table is not one of `croquis error`.
std::vector<ErrorGroup> group_errors(const croquis::CsvTable& table);

/// X.summary.csv: a line a group and metric with count, failed, mean, standard_error, q10, q50, q90.
void write_summary(const std::string& path, const std::vector<ErrorGroup>& groups);

/// Relative spectral errors as a table of methods by features on standard output, and where the files are.
void print_summary(const std::vector<ErrorGroup>& groups, const croquis::CsvTable& table, const std::string& out);
