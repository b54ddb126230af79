// Comma-separated values, one observation a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// A field as it stands in a line: quoted when it has a comma, a quote or a line break (RFC 4180). Text that begins
/// with
/// =, +, - or @ and is no number gets an apostrophe before it: spreadsheets would run it as a formula.
std::string csv_field(std::string_view text);

/// A double with 17 digits, which give it back exactly; NA for NaN.
std::string csv_number(double value);

/// The fields of one line, without its line break.
std::vector<std::string> split_csv_line(std::string_view line);

struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  /// Index of a column. Throws std::invalid_argument, with the columns there are, when there is none.
  std::size_t column(std::string_view name) const;
};

/// Reads a table whose lines end in a line break; a last line without one was torn by an interruption and is dropped.
/// Throws std::invalid_argument when the file cannot be opened, is empty or has a line with other than the header's
/// number of fields; the message has the line's number.
CsvTable read_csv(const std::string& path);

/// The same from the text of a file; `name` stands in the messages.
CsvTable parse_csv(std::string_view text, const std::string& name);

}  // namespace croquis
