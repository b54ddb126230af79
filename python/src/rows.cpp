#include "rows.hpp"

#include <pybind11/numpy.h>

namespace py = pybind11;

namespace {

py::object column_of(const croquis::Column& column, std::size_t index, bool may_be_missing,
                     const std::vector<croquis::Record>& records) {
  if (column.type == croquis::ValueType::text) {
    py::list texts;
    for (const croquis::Record& record : records) texts.append(std::get<std::string>(record[index]));
    return texts;
  }
  const auto count = static_cast<py::ssize_t>(records.size());
  const auto counts_as = [&]<typename Whole>(Whole) {
    py::array_t<Whole> numbers(count);
    for (py::ssize_t i = 0; i < count; ++i) {
      numbers.mutable_at(i) = static_cast<Whole>(std::get<std::uint64_t>(records[static_cast<std::size_t>(i)][index]));
    }
    return numbers;
  };
  if (column.type == croquis::ValueType::count && !may_be_missing) {
    // Seeds alone may have all of their 64 bits. Others are signed, so that differences of them may be below zero.
    return column.name == "seed" ? py::object(counts_as(std::uint64_t{})) : py::object(counts_as(std::int64_t{}));
  }
  py::array_t<double> numbers(count);
  for (py::ssize_t i = 0; i < count; ++i) {
    numbers.mutable_at(i) = croquis::number_in(records[static_cast<std::size_t>(i)][index]);
  }
  return numbers;
}

}  // namespace

py::dict columns_of(const std::vector<croquis::Column>& columns, const croquis::Record& blank,
                    const std::vector<croquis::Record>& records) {
  py::dict table;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool may_be_missing = std::holds_alternative<std::monostate>(blank[i]);
    table[py::str(columns[i].name)] = column_of(columns[i], i, may_be_missing, records);
  }
  return table;
}

py::list described(const std::vector<croquis::Column>& columns) {
  py::list list;
  for (const croquis::Column& column : columns) {
    list.append(py::make_tuple(column.name, column.meaning, column.unit, column.option));
  }
  return list;
}
