#include "pictures/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/nearest.hpp>
#include <stdexcept>

using croquis::Record;
using croquis::Table;

namespace {

constexpr std::size_t kMostNames = 24;  // in a message

// The texts of a column, each once, in the order of the rows.
std::vector<std::string> texts_in(const Table& table, std::size_t column) {
  std::vector<std::string> texts;
  for (const Record& row : table.rows) {
    std::string text = croquis::text_of(row[column]);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
  }
  return texts;
}

// Keeps the rows with one of these texts.
void keep(Table& table, std::size_t column, const std::vector<std::string>& wanted, const std::string& option) {
  const std::vector<std::string> there = texts_in(table, column);
  for (const std::string& text : wanted) {
    if (std::find(there.begin(), there.end(), text) != there.end()) continue;
    std::vector<std::string> shown(there.begin(),
                                   there.begin() + static_cast<std::ptrdiff_t>(std::min(there.size(), kMostNames)));
    if (shown.size() < there.size()) shown.emplace_back("...");
    throw std::invalid_argument(fmt::format("{}: '{}' is none of {} in the rows{}", option, text,
                                            fmt::join(shown, ", "), croquis::did_you_mean(text, there)));
  }
  std::erase_if(table.rows, [&](const Record& row) {
    return std::find(wanted.begin(), wanted.end(), croquis::text_of(row[column])) == wanted.end();
  });
}

}  // namespace

Table rows_of_input(Table table, const std::string& input) {
  keep(table, table.column("input"), {input}, "--input");
  return table;
}

Table rows_of_curves(Table table, const std::vector<std::string>& curves, const std::vector<std::uint64_t>& features) {
  if (!curves.empty()) {
    const auto names = std::find_if(table.columns.begin(), table.columns.end(),
                                    [](const croquis::Column& column) { return column.role == croquis::Role::curve; });
    keep(table, static_cast<std::size_t>(names - table.columns.begin()), curves, "--methods");
  }
  if (!features.empty()) {
    std::vector<std::string> texts;
    for (const std::uint64_t d : features) texts.push_back(std::to_string(d));
    keep(table, table.column("features"), texts, "--features");
  }
  return table;
}
