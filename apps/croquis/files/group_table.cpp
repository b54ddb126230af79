#include "files/group_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "files/group_words.hpp"
#include "files/targets.hpp"
#include "files/text_table.hpp"

using croquis::Group;
using croquis::Grouping;
using croquis::Summary;

namespace {

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

// The groups that have an error and none relative to a norm, as that is zero: of all members, or of some.
void print_unscaled(const Grouping& grouping, const std::string& metric) {
  const std::string absolute = absolute_of(metric);
  std::vector<std::string> labels;
  for (const Group& g : grouping.groups) {
    if (g.metric(metric) != nullptr || g.metric(absolute) == nullptr) continue;
    if (std::find(labels.begin(), labels.end(), g.label) == labels.end()) labels.push_back(g.label);
  }
  if (!labels.empty()) {
    fmt::print(
        "\nwhat these approximate is zero or rounding alone, so that they have no relative error (column {}): {}\n",
        absolute, fmt::join(labels, ", "));
  }
  for (const std::string& some : {members_without(grouping, metric), on_fewer_members(grouping)}) {
    if (!some.empty()) fmt::print("\n{}\n", some);
  }
}

}  // namespace

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
