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
  std::vector<Column> keys;     ///< in the order of the table
  std::vector<Column> metrics;  ///< likewise
  Column axis;                  ///< what curves run over
  std::vector<Group> groups;    ///< in the order of their first rows
};

/// Groups the rows of a table by the roles of its columns. The axis is the first column of that role with several
/// values, else the last of them; the others name curves. Columns in `over` are no keys: over the inputs, the rows of
/// several heads are one group. Only finite numbers are summarised.
/// Throws std::invalid_argument for a table without an axis.
Grouping group_rows(const Table& table, const std::set<std::string>& over = {});

}  // namespace croquis
