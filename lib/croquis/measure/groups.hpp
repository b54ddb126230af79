// Rows of a result by what they are repetitions of: summaries, tables and curves are made from these.
#pragma once

#include <croquis/measure/columns.hpp>
#include <croquis/stats/summary.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace croquis {

/// The repetitions of one measurement: rows with the same values in all group keys.
struct Group {
  std::map<std::string, std::string> key;  ///< by column, as text
  std::string label;                       ///< what names its curve: "skyformer", "skyformer (ridge=0.1)"
  std::uint64_t x = 0;                     ///< where it is on the axis
  std::size_t failed = 0;                  ///< rows with another status than ok
  std::map<std::string, Summary> metrics;  ///< by column; one with no finite number is missing

  /// The summary of a metric, if there is one.
  const Summary* metric(const std::string& name) const;
};

/// The groups of a table.
struct Grouping {
  std::vector<Column> keys;          ///< in the order of the table
  std::size_t leading_keys = 0;      ///< so many of them stand before the first metric in the table
  std::vector<Column> metrics;       ///< in the order of the table
  Column axis;                       ///< what curves run over
  std::vector<Group> groups;         ///< in the order of their first rows
  std::vector<std::string> members;  ///< what is in each group, as the names of heads; none without `over`
  std::size_t draws = 0;             ///< the most repetitions of one measurement, of one member
  bool random = false;               ///< they are draws; else the same thing again

  /// Whether the summaries are of the means of several members, summarise_nested().
  bool is_nested() const { return members.size() > 1; }
};

/// What names a curve, from the method (or operator) and what tells curves of it apart: {"skyformer",
/// "paper;ridge=0.1", "d = 16"} -> "skyformer (ridge=0.1, d = 16)". Empty parts and `paper` are left out.
std::string curve_label(const std::vector<std::string>& parts);

/// Groups the rows of a table by the roles of its columns. The axis is the first column of that role with several
/// values, else the last of them; the others name curves. Only finite numbers are summarised, of the metrics and of the
/// columns in `also`.
/// Columns in `over` are no keys, nor are subjects that follow from them (the n of an input): over the inputs, rows
/// that differ in the input alone are one group. Its summaries are then nested: draws in the members that the first
/// column in `over` names, the others tell no more apart. Throws std::invalid_argument for a table without an axis.
Grouping group_rows(const Table& table, const std::set<std::string>& over = {}, const std::set<std::string>& also = {});

}  // namespace croquis
