// Tables of text, whose columns are as wide as their longest entry.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

struct TextColumn {
  enum class Side { left, right };
  Side side = Side::left;
  std::size_t least = 0;  ///< width, where all entries are shorter
};

/// Rows, two spaces between columns, none at the end of a line. A row may have fewer entries than there are columns.
class TextTable {
 public:
  explicit TextTable(std::vector<TextColumn> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> row) { rows_.push_back({std::move(row), {}}); }
  /// A line between the rows that is in no column.
  void add_line(std::string line) { rows_.push_back({{}, std::move(line)}); }

  /// All lines, each with its line break.
  std::string text() const;

 private:
  struct Row {
    std::vector<std::string> entries;
    std::string line;
  };
  std::vector<TextColumn> columns_;
  std::vector<Row> rows_;
};
