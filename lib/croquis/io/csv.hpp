// Comma-separated values, one observation on each line.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// A field for a line of CSV, quoted if it has a comma, a quote or a line break (RFC 4180). Line breaks become spaces,
/// so that every row is one line. A text that begins with =, +, -, @, a tab or a carriage return and is not a number
/// gets an apostrophe in front, because a spreadsheet would run it as a formula.
std::string csv_field(std::string_view text);

/// A double with 17 digits, from which it can be read back exactly. NaN is written as NA.
std::string csv_number(double value);

/// The fields of one line, without its line break.
std::vector<std::string> split_csv_line(std::string_view line);

/// Thrown for a table that lacks a column; the message does not name the table.
struct NoColumn : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  /// The index of a column. Throws NoColumn if there is none; the message lists the columns.
  std::size_t column(std::string_view name) const;
};

/// Reads a table in which every line ends in a line break. A last line without one, which an interrupted program
/// leaves, is dropped.
/// Throws: std::invalid_argument if the file cannot be opened, is empty, or has a line whose number of fields differs
///   from that of the header. The message gives the number of the line.
CsvTable read_csv(const std::string& path);

/// The same from the text of a file. `name` is used in messages.
CsvTable parse_csv(std::string_view text, const std::string& name);

}  // namespace croquis
