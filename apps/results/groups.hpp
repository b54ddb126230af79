// Rows of a result by what they are trials of: summaries, tables and curves are made from these.
#pragma once

#include <croquis/io/csv.hpp>
#include <croquis/stats/summary.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// How the rows of a command are grouped.
struct Grouping {
  std::vector<std::string> keys;     ///< columns that are the same within a group
  std::vector<std::string> label;    ///< of them, those that name a curve
  std::vector<std::string> metrics;  ///< columns that are summarised
  std::string x = "features";        ///< of the keys, the one that a curve runs over
};

/// The groupings of `croquis error` (without and with `--scores`), `croquis sketch`, `croquis cost` over n and over d,
/// and `croquis variance`.
const Grouping& error_grouping(bool scores = false);
const Grouping& sketch_grouping();
const Grouping& cost_grouping(bool over_n);
const Grouping& variance_grouping();
/// The same without the column `input`: the trials of several inputs are one group.
Grouping over_inputs(Grouping grouping);
/// The grouping that fits a table's columns. Throws std::invalid_argument when none does.
const Grouping& grouping_of(const croquis::CsvTable& table);

/// The trials of one method (or operator) at one x.
struct Group {
  std::map<std::string, std::string> key;
  std::string label;                                ///< "skyformer", "skyformer (ridge=0.1)": `paper` is not said
  long long x = 0;                                  ///< the number in the grouping's x column
  std::size_t failed = 0;                           ///< rows with another status than ok
  std::map<std::string, croquis::Summary> metrics;  ///< by column; one with no finite number is missing

  /// The summary of a metric, if there is one.
  const croquis::Summary* metric(const std::string& name) const;
};

/// In the order of the table. Throws std::invalid_argument when a column is missing.
std::vector<Group> group_rows(const croquis::CsvTable& table, const Grouping& grouping);

/// X.summary.csv: a line a group and metric: keys, metric, count, failed, mean, standard_error, q10, q50, q90.
void write_summary(const std::string& path, const std::vector<Group>& groups, const Grouping& grouping);

/// What is printed of a sample.
enum class Statistic { mean, median };

/// A table of labels by x on standard output: mean (standard error) or median (10 % to 90 % quantile) of a metric.
void print_groups(const std::string& title, const std::vector<Group>& groups, const std::string& metric,
                  const std::string& x = "d", Statistic statistic = Statistic::mean);

/// How many rows failed and the first reason, if any did; and where the files are.
void print_files(const croquis::CsvTable& table, const std::string& out, const std::string& plot);

/// The whole number, 0 or more, in a field of `column`. Throws std::invalid_argument.
long long count_in(const std::string& field, const std::string& column);

/// The finite number in a field.
std::optional<double> number_in(const std::string& field);
