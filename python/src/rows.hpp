// Typed rows of the library as columns of NumPy arrays.
#pragma once

#include <pybind11/pybind11.h>

#include <croquis/measure/columns.hpp>
#include <set>
#include <string>
#include <vector>

/// A dict from the name of each column to its values: int64, seeds uint64; float64 with NaN for what is missing, also
/// for counts that a row may lack, which are those that `blank`, an empty row, lacks; a list of str.
pybind11::dict columns_of(const std::vector<croquis::Column>& columns, const croquis::Record& blank,
                          const std::vector<croquis::Record>& records);

/// Tuples (name, meaning, unit, option): what each column is.
pybind11::list described(const std::vector<croquis::Column>& columns);

/// The columns of rows with those that options add.
template <typename Row>
pybind11::dict columns_of(const croquis::Columns<Row>& columns, const std::vector<Row>& rows,
                          const std::set<std::string>& options = {}) {
  std::vector<croquis::Record> records;
  records.reserve(rows.size());
  for (const Row& row : rows) records.push_back(columns.record(row, options));
  return columns_of(columns.list(options), columns.record(Row(), options), records);
}
