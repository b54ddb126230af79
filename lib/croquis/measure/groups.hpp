// Rows of a result, grouped into the repetitions of each measurement, for summaries, tables and curves.
#pragma once

#include <croquis/measure/columns.hpp>
#include <croquis/stats/summary.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace croquis {

/// The repetitions of one measurement: rows with the same values in all group keys.
struct Group {
  std::map<std::string, std::string> key;  ///< by column, as text
  std::string label;                       ///< name of its curve: "skyformer", "skyformer (ridge=0.1)"
  std::uint64_t x = 0;                     ///< value on the axis
  std::size_t failed = 0;                  ///< number of rows whose status is not ok
  std::size_t members = 0;                 ///< how many members of the grouping have rows in it
  std::map<std::string, Summary> metrics;  ///< by column, without those that have no finite number

  /// The summary of a metric, if there is one.
  const Summary* metric(const std::string& name) const;
};

/// The groups of a table.
struct Grouping {
  std::vector<Column> keys;          ///< in the order of the table
  std::size_t leading_keys = 0;      ///< the number of keys before the first metric in the table
  std::vector<Column> metrics;       ///< in the order of the table
  Column axis;                       ///< the x axis of curves
  std::vector<Group> groups;         ///< in the order of their first rows
  std::vector<std::string> members;  ///< members of the groups, such as names of heads; empty without `over`
  std::size_t draws = 0;             ///< maximum number of repetitions of one measurement of one member
  std::size_t fewest_draws = 0;      ///< minimum number of rows, of what has several
  bool random = false;               ///< whether repetitions are random draws, or the same computation again

  /// Whether the summaries are those of the means of several members, summarise_nested().
  bool is_nested() const { return members.size() > 1; }
};

/// The name of an input without the sequence that it is of, and that sequence: of "model:m;sequence=3;layer=0;head=1"
/// "model:m;layer=0;head=1" and "3", of arrays by `batch`. Empty where the name has none.
std::string head_in(const std::string& input);
std::string sequence_in(const std::string& input);

/// The number of one part of an input's name: of the name above 3 for "sequence", 0 for "layer" and 1 for "head". Of a
/// range, as of joined sequences, the first. Empty where there is no such part, or no number in it.
std::optional<std::uint64_t> number_in_name(const std::string& input, const std::string& part);

/// The label of a curve, from the method (or operator) and the parts that distinguish its curves: {"skyformer",
/// "paper;ridge=0.1", "d = 16"} -> "skyformer (ridge=0.1, d = 16)". Empty parts and `paper` are left out.
std::string curve_label(const std::vector<std::string>& parts);

/// Groups the rows of a table by the roles of its columns. The axis is the first column of that role that has several
/// values, otherwise the last one; the others are part of the labels. Only finite numbers are summarised, of the
/// metrics and of the columns in `also`.
///
/// Columns in `over` are not keys, nor are subjects that depend on them (such as n, which depends on the input): with
/// over = {input}, rows that differ only in the input are in one group. Summaries are then nested: draws within the
/// members that the first column in `over` identifies; the other columns in `over` identify nothing. Heads of one
/// sequence are not independent: of members on several sequences, the standard error is that between the sequences'
/// means. Members share the draws, so error_of_shared_draws() is a part of it.
/// Throws: std::invalid_argument for a table without an axis.
Grouping group_rows(const Table& table, const std::set<std::string>& over = {}, const std::set<std::string>& also = {});

}  // namespace croquis
