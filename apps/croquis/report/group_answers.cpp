#include "report/group_answers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "files/exact_attention_flops.hpp"
#include "files/group_words.hpp"
#include "files/targets.hpp"
#include "options/lists.hpp"
#include "pictures/what_is_shown.hpp"
#include "report/axis_scale.hpp"
#include "report/leads.hpp"
#include "report/section.hpp"

using croquis::Group;
using croquis::Grouping;
using croquis::Summary;

namespace {

using Sizes = std::map<std::string, std::set<std::uint64_t>>;  // of each label

// "kriged-coreset at d = 128, 256; skeinformer at d = 256"
std::string listed(const Sizes& sizes, const std::string& symbol) {
  std::string text;
  for (const auto& [label, at] : sizes) {
    text += fmt::format("{}{} at {} = {}", text.empty() ? "" : "; ", label, symbol, fmt::join(at, ", "));
  }
  return text;
}

// What no sentence compares: the numbers that are left are of the luckier draws.
std::string failing_ones(const std::vector<const Group*>& groups, const InputGroups& inputs, const std::string& metric,
                         const std::string& symbol) {
  Sizes sizes;
  for (const Candidate& one : mostly_failing(groups, inputs, metric)) sizes[one.group->label].insert(one.group->x);
  return sizes.empty() ? ""
                       : fmt::format("Not compared, as half of the draws or more failed: {}.", listed(sizes, symbol));
}

// What candidates_of() leaves out.
std::string exact_ones(const std::vector<const Group*>& groups, const std::string& metric, const std::string& symbol) {
  Sizes sizes;
  for (const Group* group : groups) {
    if (may_lead(*group) && is_exact(*group, metric)) sizes[group->label].insert(group->x);
  }
  return sizes.empty() ? "" : fmt::format("Exact up to rounding: {}.", listed(sizes, symbol));
}

// Of random features: where the mean squared error says nothing.
std::string below_expectation(const Grouping& shown) {
  const std::string metric = "squared_error";
  Sizes sizes;
  for (const Group& group : shown.groups) {
    if (misses_its_tail(group, metric)) sizes[group.label].insert(group.x);
  }
  if (sizes.empty()) return "";
  return fmt::format(
      "The mean of {} over the draws is less than a tenth of its expectation, which is made by estimates too large and "
      "too rare to be among them, and says nothing about it: {}.",
      metric, listed(sizes, shown.axis.shown()));
}

// "0.0294 (0.021 – 0.041)", "0.0294 (0.021 – 0.041) [rows: 0.02, 0.05]".
std::string with_interval(const Group& group, const std::string& metric, bool nested) {
  const Summary& s = *group.metric(metric);
  const auto [lo, hi] = nested ? std::pair(s.smallest, s.largest) : spread_of(s);
  const std::string rows = rows_note(group, metric, Statistic::median);
  return interval_cell({.at = s.q50, .lo = lo, .hi = hi, .note = rows}).text;
}

std::string best_at_each_size(const std::vector<const Group*>& groups, const InputGroups& inputs,
                              const std::string& metric, const std::string& symbol) {
  std::map<std::uint64_t, std::vector<Candidate>> of_size;
  for (const Candidate& one : candidates_of(groups, inputs, metric)) of_size[one.group->x].push_back(one);
  std::string text;
  bool led = false;  // by others, for all that is known, or with failures
  std::set<std::string> labels;
  for (const auto& [size, candidates] : of_size) {
    const std::string exact = exact_at(groups, metric, size);
    if (!exact.empty()) {
      labels.insert(exact);
      text += fmt::format("{}{} = {}: {} (exact up to rounding)", text.empty() ? "" : "; ", symbol, size, exact);
      continue;
    }
    const Candidate& best = *smallest_of(candidates);
    labels.insert(best.group->label);
    const std::string doubts = failures_of(best) + no_clear_lead(best, candidates, metric);
    led = led || !doubts.empty();
    text += fmt::format("{}{} = {}: {} ({}{})", text.empty() ? "" : "; ", symbol, size, best.group->label,
                        shown_number(best.value), doubts);
  }
  if (of_size.size() < 2) return "";
  if (labels.size() == 1 && !led) return fmt::format("{} has the smallest one at every {}.", *labels.begin(), symbol);
  return fmt::format("The smallest at each {}: {}.", symbol, text);
}

// The least flops with which a median, of a sample of rows the upper end of its interval, is within round errors, as
// long as they are fewer than exact attention's. Where an interval is wide, a cheaper method may be within them too.
// The median of draws of which some failed is larger than that of the others, and not known.
std::string within_errors(const std::vector<const Group*>& groups, const InputGroups& inputs, const std::string& metric,
                          const Grouping& shown) {
  const bool sampled = has_rows_interval(shown, metric);
  std::vector<Candidate> candidates = candidates_and_exact(groups, inputs, metric);
  const bool failed = std::erase_if(candidates, [](const Candidate& one) { return one.failed > 0; }) > 0;
  std::string text;
  for (const double epsilon : {0.3, 0.1, 0.03, 0.01}) {
    const Candidate* least = nullptr;
    const auto flops = [](const Candidate& one) { return one.group->metric("flops")->q50; };
    for (const Candidate& one : candidates) {
      if (range_by_rows(*one.group, metric).second > epsilon || one.group->metric("flops") == nullptr) continue;
      if (least == nullptr || flops(one) < flops(*least)) least = &one;
    }
    if (least == nullptr) break;
    text += fmt::format("{}at most {:g}: ", text.empty() ? "" : "; ", epsilon);
    const double share = flops(*least) / exact_flops_of(*least->group, is_causal(shown));
    if (share >= 1) {
      text +=
          sampled ? "none that is cheaper than exact attention is shown to be" : "none is cheaper than exact attention";
      break;
    }
    text += fmt::format("{}, {} = {}, {} flops", least->group->label, shown.axis.shown(), least->group->x,
                        tic_label(rounded(flops(*least), 2)));
    if (share < 1) text += fmt::format(" ({:.2g} of exact attention)", share);
  }
  if (text.empty()) return "";
  return fmt::format("The fewest flops with {} median error {}.{}", sampled ? "which the sample of rows shows a" : "a",
                     text, failed ? " What has failed draws is left out." : "");
}

// What may_lead() leaves out, of all sentences on these groups.
std::string not_counted(const std::vector<const Group*>& groups) {
  const auto any = [&](const auto& is) { return std::any_of(groups.begin(), groups.end(), is); };
  return left_out(any([](const Group* group) { return group->label == "v-mean"; }),
                  any([](const Group* group) { return is_quadratic(*group); }));
}

// What is exact or fails mostly at another size may be better there.
std::string no_better_than_mean(const std::vector<const Group*>& groups, const std::string& metric) {
  const auto mean = std::find_if(groups.begin(), groups.end(), [&](const Group* group) {
    return group->label == "v-mean" && group->metric(metric) != nullptr;
  });
  if (mean == groups.end()) return "";
  std::map<std::string, bool> better;
  std::vector<std::string> order;
  for (const Group* one : groups) {
    if (one->metric(metric) == nullptr || !may_lead(*one)) continue;
    if (better.emplace(one->label, false).second) order.push_back(one->label);
    const bool may_be = range_by_rows(*one, metric).first < range_by_rows(**mean, metric).second;
    if (may_be) better[one->label] = true;
  }
  std::erase_if(order, [&](const std::string& label) { return better.at(label); });
  if (order.empty()) return "";
  return fmt::format("No better than v-mean, the plain mean of the values, at any size here: {}.",
                     fmt::join(order, ", "));
}

// Of several inputs, at the largest size. A lead that is not clear is none.
std::string how_often(const Grouping& single, const std::string& target, const std::string& metric,
                      const std::string& symbol) {
  std::uint64_t size = 0;
  for (const Group& group : single.groups) size = std::max(size, group.x);
  std::map<std::string, std::vector<const Group*>> of_input;
  for (const Group& group : single.groups) {
    if (group.x == size && target_of(group) == target) of_input[group.key.at("input")].push_back(&group);
  }
  const InputGroups each(single, single);
  std::map<std::string, std::size_t> wins;
  std::size_t inputs = 0, unclear = 0;
  for (const auto& [input, groups] : of_input) {
    const std::vector<Candidate> candidates = candidates_of(groups, each, metric);
    const std::string exact = exact_at(groups, metric, size);
    if (candidates.empty() && exact.empty()) continue;
    ++inputs;
    if (exact.empty() && !rivals_of(*smallest_of(candidates), candidates, metric).empty()) {
      ++unclear;
      continue;
    }
    ++wins[exact.empty() ? smallest_of(candidates)->group->label : exact + " (exact)"];
  }
  if (inputs < 2) return "";
  std::vector<std::pair<std::size_t, std::string>> order;
  order.reserve(wins.size());
  for (const auto& [label, times] : wins) order.emplace_back(times, label);
  std::sort(order.rbegin(), order.rend());
  std::string text;
  if (unclear > 0) order.emplace_back(unclear, "no clear lead");
  for (const auto& [times, label] : order) text += fmt::format("{}{} on {}", text.empty() ? "" : ", ", label, times);
  return fmt::format("The smallest at {} = {}, on each of {} inputs: {}.", symbol, size, inputs, text);
}

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
