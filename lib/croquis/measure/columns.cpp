#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <croquis/io/csv.hpp>
#include <croquis/measure/columns.hpp>
#include <limits>
#include <stdexcept>

namespace croquis {

std::size_t Table::column(std::string_view name) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
  if (found == columns.end()) {
    std::string names;
    for (const Column& c : columns) names += fmt::format("{}{}", names.empty() ? "" : ", ", c.name);
    throw NoColumn(fmt::format("no column '{}'; there are {}", name, names));
  }
  return static_cast<std::size_t>(found - columns.begin());
}

bool Table::has(std::string_view name) const {
  return std::any_of(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
}

std::string text_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (text->empty()) return "NA";
    return split_csv_line(csv_field(*text)).front();
  }
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return fmt::format("{}", *count);
  if (const auto* number = std::get_if<double>(&value)) return csv_number(*number);
  return "NA";
}

Value parse_value(const Column& column, const std::string& text) {
  // A key is never missing: an input may be called NA.
  if (column.type == ValueType::text) return text == "NA" && column.role >= Role::subject ? "" : text;
  if (text == "NA") return column.type == ValueType::number ? Value(std::numeric_limits<double>::quiet_NaN()) : Value();
  const auto parse = [&](auto number) -> Value {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) {
      const bool missing = text.empty() || text == "nan" || text == "NaN";  // as other programs write it
      throw std::invalid_argument(fmt::format("{} '{}' is not a {}number{}", column.name, text,
                                              column.type == ValueType::count ? "whole " : "",
                                              missing ? "; a missing number is NA" : ""));
    }
    return number;
  };
  return column.type == ValueType::count ? parse(std::uint64_t{}) : parse(double{});
}

Record parse_record(const std::vector<Column>& columns, const std::vector<std::string>& fields) {
  Record record;
  for (std::size_t c = 0; c < columns.size(); ++c) record.push_back(parse_value(columns[c], fields.at(c)));
  return record;
}

double number_in(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*count);
  if (std::holds_alternative<std::string>(value)) throw std::invalid_argument("a text where a number is wanted");
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace croquis
