// Whole tables as files: summaries that have rows of a type of their own.
#pragma once

#include <croquis/measure/columns.hpp>
#include <string>
#include <vector>

/// `path` becomes the table as CSV. Throws as write_whole.
void write_table(const croquis::Table& table, const std::string& path);

/// The same of typed rows, in the columns that are always there.
template <typename Row>
void write_rows(const croquis::Columns<Row>& columns, const std::vector<Row>& rows, const std::string& path) {
  croquis::Table table{columns.list(), {}};
  for (const Row& row : rows) table.rows.push_back(columns.record(row));
  write_table(table, path);
}
