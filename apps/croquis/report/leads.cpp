#include "report/leads.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/method_choice.hpp>
#include <limits>
#include <set>
#include <stdexcept>

#include "files/shown_groups.hpp"
#include "pictures/what_is_shown.hpp"

using croquis::Group;
using croquis::Grouping;
using croquis::Summary;

namespace {

// Whether the intervals for the sample of rows overlap, where there are some.
bool is_rival_by_rows(const Group& best, const Group& other, const std::string& metric) {
  return rows_interval(best, metric, Statistic::median) &&
         range_by_rows(other, metric).first <= range_by_rows(best, metric).second;
}

// Whether a sample is not clearly larger than the one with the smallest median: the means differ by no more than two
// standard errors or, where one of them is heavy-tailed and its mean and standard error are those of a few draws, what
// is shown beside the medians overlaps.
bool is_rival_by_draws(const Summary& best, const Summary& other) {
  if (best.heavy_tailed || other.heavy_tailed) return spread_of(other).first <= spread_of(best).second;
  constexpr double errors = 2;
  const auto variance = [](const Summary& s) {
    return std::isnan(s.standard_error) ? 0 : s.standard_error * s.standard_error;
  };
  return other.mean - best.mean <= errors * std::sqrt(variance(best) + variance(other));
}

// Inputs share their draws, so that an error of these in the mean of the middle one is about that of the median.
Summary draws_in_the_middle(std::vector<const Summary*> inputs) {
  const auto middle = inputs.begin() + static_cast<std::ptrdiff_t>(inputs.size() / 2);
  std::nth_element(inputs.begin(), middle, inputs.end(),
                   [](const Summary* a, const Summary* b) { return a->mean < b->mean; });
  return **middle;
}

Candidate candidate_of(const Group& group, const InputGroups& inputs, const std::string& metric) {
  Candidate candidate{.group = &group, .value = std::numeric_limits<double>::infinity(), .failed = group.failed};
  std::vector<const Summary*> of_inputs;
  for (const Group* one : inputs.of(group)) {
    const Summary* s = one->metric(metric);
    if (s == nullptr) continue;
    of_inputs.push_back(s);
    candidate.measured += s->count;
  }
  const Summary* shown = group.metric(metric);
  if (shown == nullptr) return candidate;
  candidate.value = shown->q50;
  candidate.draws = draws_in_the_middle(of_inputs);
  if (of_inputs.size() > 1) candidate.draws.mean = shown->q50;
  return candidate;
}

}  // namespace

bool is_quadratic(const std::string& method, const std::string& preset) {
  if (method.starts_with("exact")) return true;
  for (const auto& known : croquis::methods<double>()) {
    if (known.name != method) continue;
    try {
      return known.quadratic(croquis::OptionValues(croquis::options_of_preset(preset)));
    } catch (const std::invalid_argument&) {  // rows of another version, whose options were others
      return known.quadratic({});
    }
  }
  return false;
}

bool is_quadratic(const Group& group) {
  const auto method = group.key.find("method"), preset = group.key.find("preset");
  if (method == group.key.end()) return false;
  return is_quadratic(method->second, preset == group.key.end() ? "paper" : preset->second);
}

std::string left_out(bool mean, bool quadratic) {
  std::vector<const char*> others;
  if (mean) others.push_back("v-mean");
  if (quadratic) others.push_back("methods that compute all scores");
  return others.empty() ? "" : fmt::format(" Not counted, here and below: {}.", fmt::join(others, " and "));
}

bool may_lead(const Group& group) {
  return group.label != "v-mean" && !is_quadratic(group);
}

InputGroups::InputGroups(const Grouping& shown, const Grouping& single) : keys_(shown.keys) {
  for (const Group& group : single.groups) groups_[key_values_of(group, keys_)].push_back(&group);
}

const std::vector<const Group*>& InputGroups::of(const Group& shown) const {
  return groups_.at(key_values_of(shown, keys_));
}

std::vector<Candidate> candidates_and_exact(const std::vector<const Group*>& groups, const InputGroups& inputs,
                                            const std::string& metric) {
  std::vector<Candidate> candidates;
  std::size_t members = 0;
  for (const Group* group : groups) members = std::max(members, group->members);
  for (const Group* group : groups) {
    if (group->metric(metric) == nullptr || !may_lead(*group) || group->members < members) continue;
    const Candidate candidate = candidate_of(*group, inputs, metric);
    if (!candidate.fails_mostly()) candidates.push_back(candidate);
  }
  return candidates;
}

std::vector<Candidate> mostly_failing(const std::vector<const Group*>& groups, const InputGroups& inputs,
                                      const std::string& metric) {
  std::vector<Candidate> failing;
  for (const Group* group : groups) {
    if (group->failed == 0 || !may_lead(*group)) continue;
    const Candidate candidate = candidate_of(*group, inputs, metric);
    if (candidate.fails_mostly()) failing.push_back(candidate);
  }
  return failing;
}

std::vector<Candidate> candidates_of(const std::vector<const Group*>& groups, const InputGroups& inputs,
                                     const std::string& metric) {
  std::vector<Candidate> candidates = candidates_and_exact(groups, inputs, metric);
  std::erase_if(candidates, [&](const Candidate& one) { return is_exact(*one.group, metric); });
  return candidates;
}

std::string exact_at(const std::vector<const Group*>& groups, const std::string& metric, std::uint64_t size) {
  std::set<std::string> labels;
  for (const Group* group : groups) {
    if (group->x == size && may_lead(*group) && is_exact(*group, metric)) labels.insert(group->label);
  }
  return fmt::format("{}", fmt::join(labels, ", "));
}

const Candidate* smallest_of(const std::vector<Candidate>& candidates) {
  const auto least = std::min_element(candidates.begin(), candidates.end(),
                                      [](const Candidate& a, const Candidate& b) { return a.value < b.value; });
  return least == candidates.end() ? nullptr : &*least;
}

std::pair<double, double> range_by_rows(const Group& group, const std::string& metric) {
  const double at = group.metric(metric)->q50;
  return rows_interval(group, metric, Statistic::median).value_or(std::pair(at, at));
}

std::vector<std::string> rivals_of(const Candidate& best, const std::vector<Candidate>& candidates,
                                   const std::string& metric) {
  std::vector<std::string> rivals;
  for (const Candidate& one : candidates) {
    if (one.group == best.group) continue;
    if (is_rival_by_rows(*best.group, *one.group, metric) || is_rival_by_draws(best.draws, one.draws))
      rivals.push_back(one.group->label);
  }
  return rivals;
}

std::string no_clear_lead(const Candidate& best, const std::vector<Candidate>& candidates, const std::string& metric) {
  constexpr std::size_t most = 4;
  std::vector<std::string> rivals = rivals_of(best, candidates, metric);
  if (rivals.empty()) return "";
  const std::string more = rivals.size() > most ? fmt::format(" and {} more", rivals.size() - most) : "";
  rivals.resize(std::min(rivals.size(), most));
  return fmt::format(", no clear lead over {}{}", fmt::join(rivals, ", "), more);
}

std::string failures_of(const Candidate& one) {
  if (one.failed == 0) return "";
  return fmt::format(", though {} of {} draws failed", one.failed, one.failed + one.measured);
}
