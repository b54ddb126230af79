#include "files/group_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

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

// Of a head, landmarks are those of its lift, whatever the matrix of the operators is.
bool is_matrix_of_head(const std::string& name) {
  return std::set<std::string>{"q", "k", "v", "b", "c"}.contains(name);
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

std::string on_fewer_members(const Grouping& grouping) {
  if (!grouping.is_nested()) return "";
  std::map<std::string, std::set<std::uint64_t>> sizes;
  for (const Group& group : grouping.groups) {
    if (group.members < grouping.members.size()) sizes[group.label].insert(group.x);
  }
  std::vector<std::string> labels;
  for (const auto& [label, at] : sizes) {
    labels.push_back(fmt::format("{} at {} = {}", label, grouping.axis.shown(), fmt::join(at, ", ")));
  }
  if (labels.empty()) return "";
  return fmt::format("not compared with the others, as they are not of all {}: {}", members_of(grouping),
                     fmt::join(labels, "; "));
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
  if (grouping.draws == 1) return fmt::format("one {}", one);
  const bool differ = grouping.fewest_draws < grouping.draws;
  return fmt::format("{}{} {}s", differ ? fmt::format("{} to ", grouping.fewest_draws) : "", grouping.draws, one);
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
