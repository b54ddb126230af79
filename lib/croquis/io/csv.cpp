#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <croquis/io/bytes.hpp>
#include <croquis/io/csv.hpp>
#include <stdexcept>

namespace croquis {

namespace {

// A spreadsheet treats such a field as a formula, which may run commands. Numbers are harmless.
bool is_formula(std::string_view text) {
  if (text.empty() || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos) return false;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc::invalid_argument || end != text.data() + text.size();
}

}  // namespace

std::string csv_field(std::string_view text) {
  std::string plain = is_formula(text) ? fmt::format("'{}", text) : std::string(text);
  if (plain.find_first_of(",\"\n\r") == std::string::npos) return plain;
  std::string quoted = "\"";
  for (const char c : plain) {
    if (c == '"') quoted += '"';
    quoted += (c == '\n' || c == '\r') ? ' ' : c;  // a row stays on one line, so that a torn row can be recognised
  }
  return quoted + '"';
}

std::string csv_number(double value) {
  return std::isnan(value) ? "NA" : fmt::format("{:.17g}", value);
}

std::vector<std::string> split_csv_line(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::size_t CsvTable::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) {
    throw NoColumn(fmt::format("no column '{}'; there are {}", name, fmt::join(header, ", ")));
  }
  return static_cast<std::size_t>(found - header.begin());
}

CsvTable read_csv(const std::string& path) {
  return parse_csv(read_bytes(path), path);
}

CsvTable parse_csv(std::string_view text, const std::string& name) {
  CsvTable table;
  std::size_t number = 0;
  for (std::size_t start = 0, end = 0; (end = text.find('\n', start)) != std::string_view::npos; start = end + 1) {
    std::string_view line(text.data() + start, end - start);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    std::vector<std::string> fields = split_csv_line(line);
    if (number == 1) {
      table.header = std::move(fields);
    } else if (fields.size() != table.header.size()) {
      throw std::invalid_argument(fmt::format("{}: line {} has {} fields where the header has {}", name, number,
                                              fields.size(), table.header.size()));
    } else {
      table.rows.push_back(std::move(fields));
    }
  }
  if (number == 0) throw std::invalid_argument(fmt::format("{}: is empty, a result begins with a header line", name));
  return table;
}

}  // namespace croquis
