#include "files/table_file.hpp"

#include <croquis/io/csv.hpp>

#include "files/companions.hpp"
#include "files/row_file.hpp"
#include "files/whole_file.hpp"

void write_table(const croquis::Table& table, const std::string& path) {
  croquis::CsvTable file;
  for (const croquis::Column& column : table.columns) file.header.push_back(column.name);
  for (const croquis::Record& row : table.rows) {
    file.rows.emplace_back();
    for (const croquis::Value& value : row) file.rows.back().push_back(croquis::text_of(value));
  }
  require_still_companion(path);
  write_whole(path, csv_text(file));
}
