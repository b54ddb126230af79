#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/measure/groups.hpp>
#include <stdexcept>
#include <utility>

namespace croquis {
namespace {

// {"skyformer", "paper;ridge=0.1", "d = 16"} -> "skyformer (ridge=0.1, d = 16)"; empty parts and `paper` are left out.
std::string label_of(const std::vector<std::string>& parts) {
  std::string rest;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string part = parts[i].starts_with("paper;") ? parts[i].substr(6) : parts[i];
    if (part.empty() || part == "paper") continue;
    rest += (rest.empty() ? "" : ", ") + part;
  }
  return rest.empty() ? parts.front() : fmt::format("{} ({})", parts.front(), rest);
}

std::size_t axis_of(const Table& table) {
  std::size_t axis = table.columns.size();
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].role != Role::axis) continue;
    axis = c;
    const bool several = std::any_of(table.rows.begin(), table.rows.end(),
                                     [&](const Record& row) { return row[c] != table.rows.front()[c]; });
    if (several) break;
  }
  if (axis == table.columns.size()) throw std::invalid_argument("rows without a size that curves run over");
  return axis;
}

// A part of a curve's name: a text as it is, a number with its symbol, and no size where it is 0 (exact attention has
// no features).
std::string part_of_label(const Column& column, const Value& value) {
  if (column.type == ValueType::text) return text_of(value);
  if (column.role == Role::axis && number_in(value) == 0) return "";
  return fmt::format("{} = {}", column.shown(), text_of(value));
}

}  // namespace

const Summary* Group::metric(const std::string& name) const {
  const auto found = metrics.find(name);
  return found == metrics.end() ? nullptr : &found->second;
}

Grouping group_rows(const Table& table, const std::set<std::string>& over) {
  Grouping grouping;
  const std::size_t axis = axis_of(table), status = table.column("status");
  grouping.axis = table.columns[axis];
  std::vector<std::size_t> keys, labels, metrics, sizes;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    if (column.role == Role::metric) metrics.push_back(c);
    if (!column.is_group_key() || over.contains(column.name)) continue;
    keys.push_back(c);
    if (column.role == Role::curve) labels.push_back(c);
    if (column.role == Role::axis && c != axis) sizes.push_back(c);
  }
  labels.insert(labels.end(), sizes.begin(), sizes.end());
  for (const std::size_t c : keys) grouping.keys.push_back(table.columns[c]);
  for (const std::size_t c : metrics) grouping.metrics.push_back(table.columns[c]);

  std::map<std::vector<std::string>, std::size_t> index;
  std::vector<std::map<std::string, std::vector<double>>> values;
  for (const Record& row : table.rows) {
    std::vector<std::string> key;
    for (const std::size_t c : keys) key.push_back(text_of(row[c]));
    const auto [found, added] = index.emplace(key, grouping.groups.size());
    if (added) {
      Group group;
      for (std::size_t k = 0; k < keys.size(); ++k) group.key[table.columns[keys[k]].name] = key[k];
      std::vector<std::string> parts;
      for (const std::size_t c : labels) parts.push_back(part_of_label(table.columns[c], row[c]));
      if (!parts.empty()) group.label = label_of(parts);
      group.x = std::get<std::uint64_t>(row[axis]);
      grouping.groups.push_back(std::move(group));
      values.emplace_back();
    }
    if (text_of(row[status]) != "ok") ++grouping.groups[found->second].failed;
    for (const std::size_t c : metrics) {
      if (const double value = number_in(row[c]); std::isfinite(value))
        values[found->second][table.columns[c].name].push_back(value);
    }
  }
  for (std::size_t g = 0; g < values.size(); ++g) {
    for (auto& [metric, list] : values[g]) grouping.groups[g].metrics.emplace(metric, summarise(std::move(list)));
  }
  return grouping;
}

}  // namespace croquis
