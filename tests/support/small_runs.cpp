#include "support/small_runs.hpp"

#include <algorithm>

croquis::CsvTable fixed_table(const std::filesystem::path& file) {
  croquis::CsvTable table = croquis::read_csv(file.string());
  for (const char* measured : {"seconds", "seconds_adjoint", "peak_bytes", "threads"}) {
    const auto at = std::find(table.header.begin(), table.header.end(), measured) - table.header.begin();
    if (at == static_cast<std::ptrdiff_t>(table.header.size())) continue;
    table.header.erase(table.header.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
  }
  return table;
}

std::vector<std::vector<std::string>> sorted_rows(const std::filesystem::path& file) {
  croquis::CsvTable table = fixed_table(file);
  std::sort(table.rows.begin(), table.rows.end());
  return std::move(table.rows);
}
