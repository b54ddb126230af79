#include "files/shown_groups.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>
#include <vector>

using croquis::Group;
using croquis::Grouping;
using croquis::Summary;

namespace {

// An operator and a landmark policy may have one name: the policy then says what it is.
void tell_kinds_apart(Grouping& grouping) {
  std::set<std::string> operators;
  for (const Group& group : grouping.groups) {
    const auto kind = group.key.find("kind");
    if (kind != group.key.end() && kind->second == "operator") operators.insert(group.label);
  }
  for (Group& group : grouping.groups) {
    const auto kind = group.key.find("kind");
    const bool shared = kind != group.key.end() && kind->second != "operator" && operators.contains(group.label);
    if (shared) group.label = croquis::curve_label({group.label, kind->second});
  }
}

// The precision of the methods is no key where draws in both are of one curve. What is exact in float is less so, as
// are draws of which some are in float.
void note_float(const croquis::Table& table, Grouping& grouping) {
  if (!table.has("precision")) return;
  const std::size_t precision = table.column("precision");
  std::vector<std::size_t> columns;
  for (const croquis::Column& key : grouping.keys) columns.push_back(table.column(key.name));
  std::set<std::vector<std::string>> in_float, in_double;
  for (const croquis::Record& row : table.rows) {
    std::vector<std::string> key;
    for (const std::size_t column : columns) key.push_back(croquis::text_of(row[column]));
    (croquis::text_of(row[precision]) == "float" ? in_float : in_double).insert(std::move(key));
  }
  for (Group& group : grouping.groups) {
    const std::vector<std::string> key = key_values_of(group, grouping.keys);
    if (in_float.contains(key)) group.key.emplace("precision", in_double.contains(key) ? "double and float" : "float");
  }
}

}  // namespace

bool is_exact(const Group& group, const std::string& metric) {
  const auto precision = group.key.find("precision");
  const double rounding = precision != group.key.end() && precision->second != "double" ? 1e-5 : 1e-12;
  const Summary* s = group.metric(metric);
  return metric.ends_with("_rel") && s != nullptr && s->largest <= rounding && group.failed == 0;
}

bool misses_its_tail(const Group& group, const std::string& metric) {
  constexpr double far = 10;
  const Summary *squared = group.metric("squared_error"), *expected = group.metric("lemma_2");
  return metric == "squared_error" && squared != nullptr && expected != nullptr && far * squared->mean < expected->mean;
}

std::string absolute_of(const std::string& metric) {
  constexpr std::string_view suffix = "_rel";
  return metric.ends_with(suffix) ? metric.substr(0, metric.size() - suffix.size()) + "_abs" : "";
}

std::optional<std::pair<double, double>> rows_interval(const Group& group, const std::string& metric,
                                                       Statistic statistic) {
  const Summary *lo = group.metric(metric + "_lo"), *hi = group.metric(metric + "_hi");
  if (lo == nullptr || hi == nullptr) return std::nullopt;
  return statistic == Statistic::mean ? std::pair(lo->mean, hi->mean) : std::pair(lo->q50, hi->q50);
}

bool has_rows_interval(const Grouping& grouping, const std::string& metric) {
  return std::any_of(grouping.groups.begin(), grouping.groups.end(),
                     [&](const Group& group) { return rows_interval(group, metric, Statistic::median).has_value(); });
}

bool has_rows_interval(const Grouping& grouping, const std::vector<std::string>& metrics) {
  return std::any_of(metrics.begin(), metrics.end(),
                     [&](const std::string& metric) { return has_rows_interval(grouping, metric); });
}

std::vector<std::string> key_values_of(const Group& group, const std::vector<croquis::Column>& keys) {
  std::vector<std::string> values;
  for (const croquis::Column& key : keys) values.push_back(group.key.at(key.name));
  return values;
}

const std::set<std::string>& head_columns() {
  static const std::set<std::string> columns = {"input", "sequence", "layer", "head"};
  return columns;
}

Grouping groups_of_inputs(const croquis::Table& table, const std::set<std::string>& also) {
  Grouping grouping = croquis::group_rows(table, {}, also);
  note_float(table, grouping);
  return grouping;
}

Grouping shown_groups(const croquis::Table& table, const std::string& metric, std::set<std::string> also) {
  std::set<std::string> inputs, over;
  if (table.has("input")) {
    const std::size_t input = table.column("input");
    for (const croquis::Record& row : table.rows) inputs.insert(croquis::text_of(row[input]));
  }
  if (inputs.size() > 1) over = head_columns();
  also.insert({"rows", metric + "_lo", metric + "_hi"});
  Grouping grouping = croquis::group_rows(table, over, also);
  tell_kinds_apart(grouping);
  note_float(table, grouping);
  return grouping;
}
