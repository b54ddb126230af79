#include "report/group_answers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "files/group_words.hpp"
#include "files/targets.hpp"
#include "pictures/what_is_shown.hpp"
#include "report/group_sentences.hpp"
#include "report/leads.hpp"
#include "report/section.hpp"

using croquis::Group;
using croquis::Grouping;
using croquis::Summary;

namespace {

std::vector<std::string> answers_about(const Grouping& shown, const Grouping& single, const std::string& metric) {
  std::vector<std::string> answers;
  const std::string symbol = shown.axis.shown();
  const std::vector<std::string> targets = targets_of(shown, metric);
  const InputGroups inputs(shown, single);
  for (const std::string& target : targets) {
    std::vector<const Group*> groups;
    std::uint64_t size = 0;
    for (const Group& group : shown.groups) {
      if (target_of(group) != target) continue;
      groups.push_back(&group);
    }
    for (const Candidate& one : candidates_of(groups, inputs, metric)) size = std::max(size, one.group->x);
    std::vector<const Group*> at_size;
    std::copy_if(groups.begin(), groups.end(), std::back_inserter(at_size),
                 [&](const Group* group) { return group->x == size; });
    const std::vector<Candidate> candidates = candidates_of(at_size, inputs, metric);
    const Candidate* best = smallest_of(candidates);
    std::string all_exact = exact_ones(groups, metric, symbol);
    std::string failing = failing_ones(groups, inputs, metric, symbol);
    if (best == nullptr) {
      for (std::string* more : {&all_exact, &failing}) {
        if (!more->empty()) answers.push_back(std::move(*more));
      }
      continue;
    }
    std::string text = target.empty() ? "" : fmt::format("Approximating {}: ", legend_of_target(target));
    const std::string exact = exact_at(at_size, metric, size);
    text += fmt::format("{} {} = {}, {}{} has the smallest {}: {}", target.empty() ? "At" : "at", symbol, size,
                        exact.empty() ? "" : fmt::format("apart from what is exact up to rounding ({}), ", exact),
                        best->group->label, metric_title(shown, metric),
                        with_interval(*best->group, metric, shown.is_nested()));
    text += failures_of(*best) + no_clear_lead(*best, candidates, metric);
    for (const char* bracket : {"v-mean", "best-rank-d"}) {
      const auto found = std::find_if(at_size.begin(), at_size.end(), [&](const Group* group) {
        return group->label == bracket && group->metric(metric) != nullptr;
      });
      if (found != at_size.end()) {
        const std::string rows = rows_note(**found, metric, Statistic::median);
        text += fmt::format("; {} has {}", bracket,
                            interval_cell({.at = (*found)->metric(metric)->q50, .note = rows}).text);
      }
    }
    const bool alone = std::all_of(candidates.begin(), candidates.end(),
                                   [&](const Candidate& one) { return one.group->label == best->group->label; });
    const std::string least = metric.ends_with("_rel") ? within_errors(groups, inputs, metric, shown) : "";
    if (!least.empty() && !alone) text += fmt::format(". Equal {} is not equal work", symbol);
    answers.push_back(text + "." + not_counted(groups));
    for (std::string more :
         {least, alone ? "" : best_at_each_size(groups, inputs, metric, symbol), no_better_than_mean(groups, metric),
          all_exact, failing, shown.is_nested() && !alone ? how_often(single, target, metric, symbol) : ""}) {
      if (!more.empty()) answers.push_back(std::move(more));
    }
  }
  return answers;
}

std::string what_numbers_are(const Grouping& shown, bool sampled) {
  if (!shown.is_nested()) {
    if (shown.draws == 1)
      return fmt::format("Numbers are of {}{}.", repetitions_of(shown), shown.random ? ": a lead may be chance" : "");
    return fmt::format(
        "Numbers are the median of {}, in parentheses {}. Where there is no clear lead, the means differ by at most "
        "two standard errors or, of what is heavy-tailed, the numbers in parentheses overlap{}.",
        repetitions_of(shown),
        shown.draws < kFewestForQuantiles ? "the smallest and the largest" : "10 to 90 % of them",
        sampled ? ", or the intervals in brackets do" : "");
  }
  const std::string numbers = fmt::format("Numbers are the {}, in parentheses the smallest and the largest.",
                                          nested_statistic(shown, Statistic::median));
  if (shown.draws == 1) return numbers + (shown.random ? " Of one draw, a lead may be chance." : "");
  return numbers +
         fmt::format(
             " Where there is no clear lead, the medians differ by at most two standard errors of the draws, on the "
             "input in the middle, or, of what is heavy-tailed, these draws overlap{}.",
             sampled ? ", or the intervals in brackets do" : "");
}

}  // namespace

std::vector<std::string> answers_of_groups(const Grouping& shown, const Grouping& single,
                                           std::vector<std::string> metrics, const std::string& otherwise) {
  const auto is_missing = [&](const std::string& metric) {
    return std::none_of(shown.groups.begin(), shown.groups.end(),
                        [&](const Group& group) { return group.metric(metric) != nullptr; });
  };
  std::erase_if(metrics, is_missing);
  if (metrics.empty()) metrics = {otherwise};
  std::vector<std::string> answers;
  for (const std::string& metric : metrics) {
    for (std::string& answer : answers_about(shown, single, metric)) answers.push_back(std::move(answer));
    if (const std::string some = members_without(shown, metric); !some.empty()) {
      answers.push_back(fmt::format("{}: {}.", metric, some));
    }
  }
  if (std::string fewer = on_fewer_members(shown); !fewer.empty()) {
    fewer.front() = 'N';
    answers.push_back(fewer + ".");
  }
  const bool sampled = has_rows_interval(shown, metrics);
  answers.push_back(what_numbers_are(shown, sampled));
  if (sampled) {
    answers.emplace_back(
        "In brackets is the 95 % interval for the sample of rows. Where two of them overlap, they do not show which "
        "method is better (a comparison on the shared rows, draw by draw, might): there is no clear lead, nor is a "
        "method called no better than v-mean. An error counts as at most 0.3, 0.1 and so on where the upper end of its "
        "interval is.");
  }
  return answers;
}

std::vector<std::string> answers_of_each(const Grouping& shown, const std::string& metric) {
  std::uint64_t size = 0;
  for (const Group& group : shown.groups) {
    if (group.metric(metric) != nullptr) size = std::max(size, group.x);
  }
  std::string text;
  for (const Group& group : shown.groups) {
    if (group.x != size || group.metric(metric) == nullptr) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", group.label, with_interval(group, metric, shown.is_nested()));
  }
  std::vector<std::string> answers = {
      fmt::format("{} at {} = {}: {}.", metric_title(shown, metric), shown.axis.shown(), size, text)};
  if (std::string below = below_expectation(shown); !below.empty()) answers.push_back(std::move(below));
  answers.push_back(what_numbers_are(shown, false));
  return answers;
}

std::vector<std::string> answers_of_costs(const Grouping& shown) {
  std::uint64_t size = 0;
  for (const Group& group : shown.groups) size = std::max(size, group.x);
  std::vector<Candidate> at_size;
  const Group* exact = nullptr;
  for (const Group& group : shown.groups) {
    const Summary* s = group.metric("seconds");
    const auto method = group.key.find("method");
    if (s == nullptr || method == group.key.end()) continue;
    if (method->second == "exact" && (exact == nullptr || group.x > exact->x)) exact = &group;
    if (group.x == size && !method->second.starts_with("exact")) at_size.push_back({&group, s->q50});
  }
  std::vector<std::string> answers;
  const std::string symbol = shown.axis.shown();
  if (exact != nullptr) {  // which has no d
    answers.push_back(fmt::format("Exact softmax attention takes {} s{}.", shown_number(exact->metric("seconds")->q50),
                                  exact->x > 0 ? fmt::format(" at {} = {}", symbol, exact->x) : ""));
  }
  std::sort(at_size.begin(), at_size.end(), [](const Candidate& a, const Candidate& b) { return a.value < b.value; });
  std::string text;
  for (const Candidate& one : at_size) {
    text += fmt::format("{}{} {} s", text.empty() ? "" : ", ", one.group->label, shown_number(one.value));
    if (exact != nullptr && (exact->x == size || exact->x == 0)) {
      text += fmt::format(" ({:.2g} of exact attention)", one.value / exact->metric("seconds")->q50);
    }
  }
  if (!text.empty()) answers.push_back(fmt::format("At {} = {}: {}.", symbol, size, text));
  answers.push_back(fmt::format("Times are the median of {}.", repetitions_of(shown)));
  return answers;
}

void add_precisions(const croquis::Table& table, std::vector<std::string>& answers) {
  if (!table.has("precision")) return;
  const std::size_t column = table.column("precision");
  std::set<std::string> precisions;
  for (const croquis::Record& row : table.rows) precisions.insert(croquis::text_of(row[column]));
  if (table.columns[column].is_group_key() || precisions.size() < 2) return;
  answers.push_back(
      fmt::format("Rows in {} are compared, and of one method taken together; a file for each tells them apart.",
                  fmt::join(precisions, " and in ")));
}

void add_seeds(const croquis::Table& table, std::vector<std::string>& answers) {
  if (!table.has("seed") || !table.has("input")) return;
  // All kinds of inputs but arrays, models and a matrix of one's own.
  static const std::set<std::string> drawn = {"text",        "gaussian", "sphere",    "clustered",
                                              "heavy-norms", "low-rank", "duplicates"};
  const auto shorter = [](const std::string& a, const std::string& b) {  // of whole numbers the smaller one
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  };
  using Seeds = std::set<std::string, decltype(shorter)>;
  const std::size_t input = table.column("input"), seed = table.column("seed");
  std::map<std::string, Seeds> seeds;
  for (const croquis::Record& row : table.rows) {
    const std::string name = croquis::text_of(row[input]);
    if (drawn.contains(name.substr(0, name.find(':')))) seeds[name].insert(croquis::text_of(row[seed]));
  }
  for (const auto& [name, several] : seeds) {
    if (several.size() < 2) continue;
    answers.push_back(
        fmt::format("{} is another head with each seed ({}): its rows are taken together as if they were draws on one.",
                    name, fmt::join(several, ", ")));
  }
}

void add_failures(const croquis::Table& table, std::vector<std::string>& answers) {
  if (!table.has("status")) return;
  const std::size_t status = table.column("status");
  std::size_t failed = 0;
  std::string reason;
  for (const croquis::Record& row : table.rows) {
    const std::string text = croquis::text_of(row[status]);
    if (text != "ok" && failed++ == 0) reason = text;
  }
  if (failed == 0) return;
  answers.push_back(
      fmt::format("{} of {} rows failed and are left out; the first reason: {}.", failed, table.rows.size(), reason));
}
