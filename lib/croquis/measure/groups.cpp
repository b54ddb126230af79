#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <croquis/measure/groups.hpp>
#include <stdexcept>
#include <utility>
#include <variant>

namespace croquis {
namespace {

// Where ";sequence=3" or ";batch=3" begins and ends in a name.
std::pair<std::size_t, std::size_t> place_of_sequence(const std::string& input) {
  for (const char* tag : {";sequence=", ";batch="}) {
    const std::size_t begin = input.find(tag);
    if (begin != std::string::npos) return {begin, std::min(input.find(';', begin + 1), input.size())};
  }
  return {input.size(), input.size()};
}

}  // namespace

std::string head_in(const std::string& input) {
  const auto [begin, end] = place_of_sequence(input);
  return input.substr(0, begin) + input.substr(end);
}

std::string sequence_in(const std::string& input) {
  const auto [begin, end] = place_of_sequence(input);
  const std::string text = input.substr(begin, end - begin);
  return text.empty() ? text : text.substr(text.find('=') + 1);
}

std::optional<std::uint64_t> number_in_name(const std::string& input, const std::string& part) {
  const std::string tag = ";" + part + "=";
  const std::size_t start = input.find(tag);
  if (start == std::string::npos) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(input.data() + start + tag.size(), input.data() + input.size(), number);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

std::string curve_label(const std::vector<std::string>& parts) {
  std::string rest;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string part = parts[i].starts_with("paper;") ? parts[i].substr(6) : parts[i];
    if (part.empty() || part == "paper") continue;
    rest += (rest.empty() ? "" : ", ") + part;
  }
  return rest.empty() ? parts.front() : fmt::format("{} ({})", parts.front(), rest);
}

namespace {

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

// A part of a curve's name: a text as it is, a number with its symbol, in the fewest digits that are that number, and
// no size where it is 0 (exact attention has no features).
std::string part_of_label(const Column& column, const Value& value) {
  if (column.type == ValueType::text) return text_of(value);
  if (column.role == Role::axis && number_in(value) == 0) return "";
  const auto* number = std::get_if<double>(&value);
  const bool known = number != nullptr && !std::isnan(*number);
  return fmt::format("{} = {}", column.shown(), known ? fmt::format("{}", *number) : text_of(value));
}

// The values of a metric, by member.
using DrawsOfMembers = std::vector<std::vector<DrawnValue>>;

std::vector<double> values_of(const std::vector<DrawnValue>& draws) {
  std::vector<double> values;
  for (const DrawnValue& drawn : draws) values.push_back(drawn.value);
  return values;
}

// The standard error between the sequences' means, where the members are on several sequences.
double error_between_sequences(const std::vector<std::vector<double>>& of_members,
                               const std::vector<std::string>& members, double otherwise) {
  std::map<std::string, std::vector<std::vector<double>>> sequences;
  for (std::size_t m = 0; m < of_members.size(); ++m) {
    if (!of_members[m].empty()) sequences[sequence_in(members[m])].push_back(of_members[m]);
  }
  if (sequences.size() < 2) return otherwise;
  std::vector<double> means;
  for (const auto& [sequence, heads] : sequences) means.push_back(summarise_nested(heads).mean);
  return summarise(std::move(means)).standard_error;
}

// The summary of the members' means. Of its standard error one part is between members or sequences, and one comes
// from the draws, which all of them share.
Summary nested_summary(const DrawsOfMembers& draws, const std::vector<std::string>& members) {
  std::vector<std::vector<double>> values;
  for (const std::vector<DrawnValue>& of_member : draws) values.push_back(values_of(of_member));
  Summary summary = summarise_nested(values);
  const double between = error_between_sequences(values, members, summary.standard_error);
  summary.standard_error = std::hypot(between, error_of_shared_draws(draws));
  return summary;
}

std::vector<std::string> texts_of(const Record& row, const std::vector<std::size_t>& columns) {
  std::vector<std::string> texts;
  for (const std::size_t c : columns) texts.push_back(text_of(row[c]));
  return texts;
}

// `over`, and the subjects that the other keys do not tell: they follow from a column in `over`.
std::set<std::string> with_what_follows(const Table& table, const std::set<std::string>& over) {
  std::vector<std::size_t> others, subjects;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    if (over.contains(column.name)) continue;
    if (column.role == Role::subject) subjects.push_back(c);
    if (column.role <= Role::key) others.push_back(c);
  }
  std::set<std::string> left_out = over;
  std::map<std::vector<std::string>, const Record*> first;
  for (const Record& row : table.rows) {
    const Record& known = *first.emplace(texts_of(row, others), &row).first->second;
    for (const std::size_t c : subjects) {
      if (text_of(row[c]) != text_of(known[c])) left_out.insert(table.columns[c].name);
    }
  }
  return left_out;
}

// Columns of a table by their part in its groups.
struct GroupColumns {
  std::size_t axis = 0;
  std::vector<std::size_t> keys, labels, metrics, members, trials;
  std::size_t leading_keys = 0;
};

GroupColumns columns_of(const Table& table, const std::set<std::string>& over, const std::set<std::string>& also) {
  GroupColumns columns;
  columns.axis = axis_of(table);
  const std::set<std::string> left_out = over.empty() ? over : with_what_follows(table, over);
  std::vector<std::size_t> sizes;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    if (column.role == Role::metric || also.contains(column.name)) columns.metrics.push_back(c);
    // A trial is a part of its cell where the draws of a cell are compared with each other.
    if (column.role == Role::draw || column.name == "trial") columns.trials.push_back(c);
    if (over.contains(column.name)) columns.members.push_back(c);
    if (!column.is_group_key() || left_out.contains(column.name)) continue;
    columns.keys.push_back(c);
    if (columns.metrics.empty()) columns.leading_keys = columns.keys.size();
    if (column.role == Role::curve) columns.labels.push_back(c);
    if (column.role == Role::axis && c != columns.axis) sizes.push_back(c);
  }
  columns.labels.insert(columns.labels.end(), sizes.begin(), sizes.end());
  return columns;
}

// The group that a row begins.
Group group_of(const Table& table, const GroupColumns& columns, const Record& row) {
  Group group;
  for (const std::size_t c : columns.keys) group.key[table.columns[c].name] = text_of(row[c]);
  std::vector<std::string> parts;
  for (const std::size_t c : columns.labels) parts.push_back(part_of_label(table.columns[c], row[c]));
  if (!parts.empty()) group.label = curve_label(parts);
  group.x = std::get<std::uint64_t>(row[columns.axis]);
  return group;
}

}  // namespace

const Summary* Group::metric(const std::string& name) const {
  const auto found = metrics.find(name);
  return found == metrics.end() ? nullptr : &found->second;
}

Grouping group_rows(const Table& table, const std::set<std::string>& over, const std::set<std::string>& also) {
  const GroupColumns columns = columns_of(table, over, also);
  const std::size_t status = table.column("status");
  Grouping grouping;
  grouping.axis = table.columns[columns.axis];
  grouping.leading_keys = columns.leading_keys;
  grouping.random = !columns.trials.empty();
  for (const std::size_t c : columns.keys) grouping.keys.push_back(table.columns[c]);
  for (const std::size_t c : columns.metrics) grouping.metrics.push_back(table.columns[c]);

  std::map<std::vector<std::string>, std::size_t> index;
  std::map<std::string, std::size_t> member_index;
  std::map<std::vector<std::string>, std::size_t> draw_index;
  std::vector<std::map<std::string, DrawsOfMembers>> values;  // of a group, by metric
  std::vector<std::map<std::size_t, std::size_t>> counts;     // of a group, rows by member
  for (const Record& row : table.rows) {
    const auto [found, added] = index.emplace(texts_of(row, columns.keys), grouping.groups.size());
    if (added) {
      grouping.groups.push_back(group_of(table, columns, row));
      values.emplace_back();
      counts.emplace_back();
    }
    const std::string member = columns.members.empty() ? "" : text_of(row[columns.members.front()]);
    const auto [place, is_new] = member_index.emplace(member, member_index.size());
    if (is_new && !columns.members.empty()) grouping.members.push_back(member);
    const std::size_t draw = draw_index.emplace(texts_of(row, columns.trials), draw_index.size()).first->second;
    ++counts[found->second][place->second];
    if (text_of(row[status]) != "ok") ++grouping.groups[found->second].failed;
    for (const std::size_t c : columns.metrics) {
      const double value = number_in(row[c]);
      if (!std::isfinite(value)) continue;
      auto& of_members = values[found->second][table.columns[c].name];
      of_members.resize(std::max(of_members.size(), place->second + 1));
      of_members[place->second].push_back({draw, value});
      grouping.draws = std::max(grouping.draws, of_members[place->second].size());
    }
  }
  grouping.fewest_draws = grouping.draws;
  for (std::size_t g = 0; g < values.size(); ++g) {
    grouping.groups[g].members = counts[g].size();
    for (const auto& [member, rows] : counts[g]) {
      if (rows > 1) grouping.fewest_draws = std::min(grouping.fewest_draws, rows);
    }
    for (const auto& [metric, of_members] : values[g]) {
      grouping.groups[g].metrics.emplace(metric, grouping.is_nested() ? nested_summary(of_members, grouping.members)
                                                                      : summarise(values_of(of_members.front())));
    }
  }
  return grouping;
}

}  // namespace croquis
