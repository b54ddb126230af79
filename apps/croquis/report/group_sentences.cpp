#include "report/group_sentences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "files/exact_attention_flops.hpp"
#include "files/group_words.hpp"
#include "files/targets.hpp"
#include "pictures/what_is_shown.hpp"
#include "report/axis_scale.hpp"
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

}  // namespace

std::string with_interval(const Group& group, const std::string& metric, bool nested) {
  const Summary& s = *group.metric(metric);
  const auto [lo, hi] = nested ? std::pair(s.smallest, s.largest) : spread_of(s);
  const std::string rows = rows_note(group, metric, Statistic::median);
  return interval_cell({.at = s.q50, .lo = lo, .hi = hi, .note = rows}).text;
}

std::string failing_ones(const std::vector<const Group*>& groups, const InputGroups& inputs, const std::string& metric,
                         const std::string& symbol) {
  Sizes sizes;
  for (const Candidate& one : mostly_failing(groups, inputs, metric)) sizes[one.group->label].insert(one.group->x);
  return sizes.empty() ? ""
                       : fmt::format("Not compared, as half of the draws or more failed: {}.", listed(sizes, symbol));
}

std::string exact_ones(const std::vector<const Group*>& groups, const std::string& metric, const std::string& symbol) {
  Sizes sizes;
  for (const Group* group : groups) {
    if (may_lead(*group) && is_exact(*group, metric)) sizes[group->label].insert(group->x);
  }
  return sizes.empty() ? "" : fmt::format("Exact up to rounding: {}.", listed(sizes, symbol));
}

std::string not_counted(const std::vector<const Group*>& groups) {
  const auto any = [&](const auto& is) { return std::any_of(groups.begin(), groups.end(), is); };
  return left_out(any([](const Group* group) { return group->label == "v-mean"; }),
                  any([](const Group* group) { return is_quadratic(*group); }));
}

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
