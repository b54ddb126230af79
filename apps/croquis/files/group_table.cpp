#include "files/group_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "files/targets.hpp"
#include "files/text_table.hpp"
#include "options/input.hpp"

using croquis::Group;
using croquis::Grouping;
using croquis::Summary;

namespace {

const char* kind_of_members(const Grouping& grouping) {
  const bool heads = std::all_of(grouping.members.begin(), grouping.members.end(), [](const std::string& name) {
    return name.find(";head=") != std::string::npos || name.find(";layer=") != std::string::npos;
  });
  const bool sequences = std::all_of(grouping.members.begin(), grouping.members.end(),
                                     [](const std::string& name) { return name.starts_with("sequence "); });
  return heads ? "heads" : sequences ? "sequences" : "inputs";
}

// "8 heads", "8 heads on 2 sequences": a head on several sequences is one head.
std::string members_of(const Grouping& grouping) {
  const std::string kind = kind_of_members(grouping);
  std::set<std::string> heads, sequences;
  for (const std::string& name : grouping.members) {
    heads.insert(croquis::head_in(name));
    sequences.insert(croquis::sequence_in(name));
  }
  const std::size_t all = grouping.members.size();
  if (kind != "heads" || sequences.size() < 2) return fmt::format("{} {}", all, kind);
  return fmt::format("{}{} on {} sequences", heads.size() == 1 ? "one head" : fmt::format("{} heads", heads.size()),
                     all == heads.size() * sequences.size() ? "" : fmt::format(" ({} pairs)", all), sequences.size());
}

// The value that a key has in all groups; empty when they differ or have none.
std::string common_value(const Grouping& grouping, const std::string& key) {
  std::set<std::string> values;
  for (const Group& group : grouping.groups) {
    const auto found = group.key.find(key);
    values.insert(found == group.key.end() ? "" : found->second);
  }
  return values.size() == 1 ? *values.begin() : "";
}

// Of --rows, which are the same for all draws, methods and heads; null where all rows were measured.
const Summary* sampled_rows(const Grouping& grouping) {
  for (const Group& group : grouping.groups) {
    if (const Summary* rows = group.metric("rows")) return rows;
  }
  return nullptr;
}

std::string text_of_cell(const Group& group, const std::string& metric, Statistic statistic, bool nested) {
  const Summary* s = group.metric(metric);
  if (s == nullptr) return "failed";
  std::string text;
  if (nested && s->count > 1) {
    text = fmt::format("{:.4g} ({:.3g} - {:.3g})", s->q50, s->smallest, s->largest);
  } else if (!nested && statistic == Statistic::median) {
    text = fmt::format("{:.3g} ({:.2g}-{:.2g})", s->q50, s->q10, s->q90);
  } else if (nested || std::isnan(s->standard_error)) {
    text = fmt::format("{:.4g}", s->mean);
  } else {
    text = fmt::format("{:.4g} ({:.1g})", s->mean, s->standard_error);
  }
  const auto rows = rows_interval(group, metric, nested ? Statistic::median : statistic);
  return rows ? text + fmt::format(" [{:.3g}, {:.3g}]", rows->first, rows->second) : text;
}

// Behind a cell.
std::string marks_of(const Group& group, const std::string& metric) {
  const Summary* s = group.metric(metric);
  if (s == nullptr) return "";
  std::string marks;
  if (is_exact(group, metric)) marks += '=';
  if (s->heavy_tailed) marks += '*';
  if (group.failed > 0) marks += '!';
  return marks;
}

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

// Of a head, landmarks are those of its lift, whatever the matrix of the operators is.
bool is_matrix_of_head(const std::string& name) {
  return std::set<std::string>{"q", "k", "v", "b", "c"}.contains(name);
}

using Cells = std::map<std::pair<std::string, std::uint64_t>, const Group*>;  // by label and size

void print_footnotes(const Cells& cells, const std::string& metric, const Grouping& grouping, const GroupMark& own) {
  const auto any = [&](char mark) {
    return std::any_of(cells.begin(), cells.end(), [&](const auto& cell) {
      return marks_of(*cell.second, metric).find(mark) != std::string::npos;
    });
  };
  const char* one = grouping.random ? "draw" : "repeat";
  if (any('*')) {
    fmt::print(
        "\n* heavy-tailed{0}: one {1} has more than half of the sum of all, or the mean lies outside the 10 % to "
        "90 % quantiles of the {1}s. Few {1}s decide the mean\n",
        grouping.is_nested() ? " in some of them" : "", one);
  }
  const bool any_own =
      own.is_for && std::any_of(cells.begin(), cells.end(), [&](const auto& cell) { return own.is_for(*cell.second); });
  if (any_own) fmt::print("\n{}\n", own.meaning);
  if (any('=')) fmt::print("\n= exact up to rounding: no approximation any more\n");
  if (any('!')) fmt::print("\n! leaves out rows that failed; their status says why\n");
}

// The metric that a relative error is without its norm; empty for other metrics.
std::string absolute_of(const std::string& metric) {
  constexpr std::string_view suffix = "_rel";
  return metric.ends_with(suffix) ? metric.substr(0, metric.size() - suffix.size()) + "_abs" : "";
}

// The groups that have an error and none relative to a norm, as that is zero: of all members, or of some.
void print_unscaled(const Grouping& grouping, const std::string& metric) {
  const std::string absolute = absolute_of(metric);
  std::vector<std::string> labels;
  for (const Group& g : grouping.groups) {
    if (g.metric(metric) != nullptr || g.failed > 0 || g.metric(absolute) == nullptr) continue;
    if (std::find(labels.begin(), labels.end(), g.label) == labels.end()) labels.push_back(g.label);
  }
  if (!labels.empty()) {
    fmt::print(
        "\nwhat these approximate is zero or rounding alone, so that they have no relative error (column {}): {}\n",
        absolute, fmt::join(labels, ", "));
  }
  if (const std::string some = members_without(grouping, metric); !some.empty()) fmt::print("\n{}\n", some);
}

}  // namespace

bool is_of_sequences(const Grouping& grouping) {
  return kind_of_members(grouping) == std::string("heads") &&
         std::any_of(grouping.members.begin(), grouping.members.end(), [&](const std::string& name) {
           return croquis::sequence_in(name) != croquis::sequence_in(grouping.members.front());
         });
}

bool is_of_positions(const Grouping& grouping) {
  return !grouping.members.empty() && kind_of_members(grouping) == std::string("sequences");
}

std::vector<std::string> inputs_of(const Grouping& grouping) {
  if (!grouping.members.empty()) return grouping.members;
  std::set<std::string> inputs;
  for (const Group& group : grouping.groups) {
    if (const auto input = group.key.find("input"); input != group.key.end()) inputs.insert(input->second);
  }
  return {inputs.begin(), inputs.end()};
}

bool is_causal(const std::string& input) {
  return input.ends_with(";causal");
}

bool is_causal(const Grouping& grouping) {
  const std::vector<std::string> inputs = inputs_of(grouping);
  return !inputs.empty() &&
         std::all_of(inputs.begin(), inputs.end(), [](const std::string& name) { return is_causal(name); });
}

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

std::string members_without(const Grouping& grouping, const std::string& metric) {
  if (!grouping.is_nested()) return "";
  const std::string absolute = absolute_of(metric);
  std::size_t least = grouping.members.size(), most = 0;
  for (const Group& group : grouping.groups) {
    const Summary *relative = group.metric(metric), *error = group.metric(absolute);
    if (relative == nullptr || error == nullptr) continue;
    const std::size_t without = error->count - std::min(error->count, relative->count);  // some others failed
    least = std::min(least, without);
    most = std::max(most, without);
  }
  if (most == 0) return "";
  return fmt::format("{}{} of {} {} {} no relative error, as what is approximated there is zero or rounding alone",
                     least < most ? "up to " : "", most, grouping.members.size(),
                     is_of_sequences(grouping) ? "pairs of a head and a sequence" : kind_of_members(grouping),
                     most == 1 ? "has" : "have");
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

namespace {

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

std::string subject_of(const Grouping& grouping) {
  const std::vector<std::string> inputs = inputs_of(grouping);
  std::string subject = inputs.size() == 1     ? inputs.front()
                        : grouping.is_nested() ? members_of(grouping)
                                               : fmt::format("{} inputs", inputs.size());
  const bool landmarks = common_value(grouping, "kind") == "landmarks";
  for (const char* name : {"matrix", "n", "p", "rank", "keys", "precision", "threads"}) {
    const std::string value = common_value(grouping, name);
    if (value.empty() || name == grouping.axis.name) continue;
    if (landmarks && name == std::string_view("rank")) continue;  // of operators
    const bool lift = landmarks && name == std::string_view("matrix") && is_matrix_of_head(value);
    subject += lift ? ", the lift M of Q and K" : fmt::format(", {} = {}", name, value);
  }
  const std::string queries = common_value(grouping, "n_q");
  if (!queries.empty() && queries != common_value(grouping, "n")) subject += fmt::format(", {} queries", queries);
  if (const Summary* rows = sampled_rows(grouping)) subject += fmt::format(", {:.0f} of n rows", rows->q50);
  if (is_causal(grouping)) subject += ", causal attention";
  return subject;
}

std::string where_errors_hold(const Grouping& grouping) {
  return sampled_rows(grouping) == nullptr ? "" : " on these rows";
}

std::string repetitions_of(const Grouping& grouping) {
  const char* one = grouping.random ? "draw" : "repeat";
  return grouping.draws == 1 ? fmt::format("one {}", one) : fmt::format("{} {}s", grouping.draws, one);
}

std::string nested_statistic(const Grouping& grouping, Statistic statistic) {
  std::string text = fmt::format("{} over {}", statistic == Statistic::mean ? "mean" : "median", members_of(grouping));
  if (grouping.draws > 1) text += fmt::format(" of the mean over {}", repetitions_of(grouping));
  return text;
}

std::string table_title(const std::string& what, const Grouping& grouping, const std::string& metric) {
  std::string title = what + ", ";
  if (grouping.is_nested()) {
    std::string one = kind_of_members(grouping);
    one.pop_back();
    if (is_of_sequences(grouping)) one += " on a sequence";
    title += fmt::format("{} (smallest - largest {})", nested_statistic(grouping, Statistic::median), one);
  } else {
    title += grouping.draws == 1
                 ? repetitions_of(grouping)
                 : fmt::format("mean of {} (standard error{})", repetitions_of(grouping), where_errors_hold(grouping));
  }
  if (has_rows_interval(grouping, metric)) title += " [95 % interval for the sample of rows]";
  return title + "; " + subject_of(grouping);
}

void print_groups(const std::string& title, const Grouping& grouping, const std::string& metric, Statistic statistic,
                  const GroupMark& own) {
  const auto all_marks = [&](const Group& group) {
    return marks_of(group, metric) + (own.is_for && own.is_for(group) ? own.mark : "");
  };
  std::set<std::uint64_t> sizes;
  std::map<std::string, std::vector<std::string>> labels;  // of a target
  Cells cells;
  bool marked = false;
  for (const Group& g : grouping.groups) {
    if (g.metric(metric) == nullptr && g.failed == 0) continue;  // nothing this group could say
    sizes.insert(g.x);
    std::vector<std::string>& block = labels[target_of(g)];
    if (std::find(block.begin(), block.end(), g.label) == block.end()) block.push_back(g.label);
    cells[{g.label, g.x}] = &g;
    marked = marked || !all_marks(g).empty();
  }
  if (cells.empty()) {
    print_unscaled(grouping, metric);
    return;
  }

  const std::size_t least = statistic == Statistic::median ? 28 : 18;
  std::vector<TextColumn> columns(sizes.size() + 1, TextColumn{TextColumn::Side::right, least});
  columns.front() = {TextColumn::Side::left, 8};
  TextTable table(columns);
  std::vector<std::string> header = {""};
  for (const std::uint64_t size : sizes) {  // exact attention has no d
    const std::string symbol = grouping.axis.shown();
    header.push_back(size == 0 ? "no " + symbol : fmt::format("{} = {}", symbol, size));
  }
  for (const std::string& target : targets_of(grouping, metric)) {
    if (target != targets_of(grouping, metric).front()) table.add_line("");
    if (!target.empty()) table.add_line("approximations of " + meaning_of_target(target));
    table.add(header);
    for (const std::string& label : labels[target]) {
      std::vector<std::string> row = {label};
      for (const std::uint64_t size : sizes) {
        const auto found = cells.find({label, size});
        std::string text = "-", marks;
        if (found != cells.end()) {
          text = text_of_cell(*found->second, metric, statistic, grouping.is_nested());
          marks = all_marks(*found->second);
        }
        row.push_back(marked ? fmt::format("{}{:<2}", text, marks) : text);
      }
      table.add(row);
    }
  }
  fmt::print("\n{}\n\n{}", title, table.text());
  print_footnotes(cells, metric, grouping, own);
  print_unscaled(grouping, metric);
}
