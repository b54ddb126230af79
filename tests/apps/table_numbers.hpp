// Lines of a printed table, and the numbers of rows that they are of.
#pragma once

#include <croquis/io/csv.hpp>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "support/text.hpp"

/// The line that begins with this label.
inline std::string line_of(const std::string& output, const std::string& label) {
  for (const std::string& line : lines_of(output)) {
    if (line.starts_with(label + " ")) return line;
  }
  return "";
}

/// The finite values of a column, by input, of the rows of a method at one d.
inline std::map<std::string, std::vector<double>> values_of(const std::filesystem::path& file,
                                                            const std::string& method, const std::string& d,
                                                            const std::string& column = "spectral_rel") {
  const croquis::CsvTable table = croquis::read_csv(file.string());
  std::map<std::string, std::vector<double>> values;
  for (const auto& row : table.rows) {
    if (row[table.column("method")] != method || row[table.column("features")] != d) continue;
    if (row[table.column(column)] != "NA")
      values[row[table.column("input")]].push_back(std::stod(row[table.column(column)]));
  }
  return values;
}

inline double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
