#include "files/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace {

// As many places as letters, of UTF-8.
std::size_t width_of(const std::string& text) {
  constexpr unsigned char kind = 0xC0, further = 0x80;
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [&](char c) { return (static_cast<unsigned char>(c) & kind) != further; }));
}

}  // namespace

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  for (const TextColumn& column : columns_) widths.push_back(column.least);
  for (const Row& row : rows_) {
    for (std::size_t c = 0; c < row.entries.size(); ++c) widths[c] = std::max(widths[c], width_of(row.entries[c]));
  }
  std::string text;
  for (const Row& row : rows_) {
    std::string line = row.line;
    for (std::size_t c = 0; c < row.entries.size(); ++c) {
      const std::string space(widths[c] - width_of(row.entries[c]), ' ');
      const bool left = columns_[c].side == TextColumn::Side::left;
      line += fmt::format("{}{}{}", c == 0 ? "" : "  ", left ? row.entries[c] : space, left ? space : row.entries[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line;
    text += '\n';
  }
  return text;
}
