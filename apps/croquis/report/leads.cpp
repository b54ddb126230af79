#include "report/leads.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/method_choice.hpp>
#include <set>
#include <stdexcept>

#include "files/group_table.hpp"
#include "pictures/what_is_shown.hpp"

using croquis::Group;
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

std::vector<Candidate> candidates_and_exact(const std::vector<const Group*>& groups, const std::string& metric) {
  std::vector<Candidate> candidates;
  for (const Group* group : groups) {
    const Summary* s = group->metric(metric);
    if (s != nullptr && may_lead(*group)) candidates.push_back({group, s->q50});
  }
  return candidates;
}

std::vector<Candidate> candidates_of(const std::vector<const Group*>& groups, const std::string& metric) {
  std::vector<Candidate> candidates = candidates_and_exact(groups, metric);
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

bool has_rivals_by_rows(const std::vector<Candidate>& candidates, const std::string& metric) {
  const Group* best = smallest_of(candidates)->group;
  return std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& one) {
    return one.group != best && is_rival_by_rows(*best, *one.group, metric);
  });
}

std::string rivals_of(const Candidate& best, const std::vector<Candidate>& candidates, const std::string& metric,
                      bool nested) {
  constexpr std::size_t most = 4;
  std::vector<std::string> rivals;
  for (const Candidate& one : candidates) {
    if (one.group == best.group) continue;
    if (is_rival_by_rows(*best.group, *one.group, metric) ||
        (!nested && is_rival_by_draws(*best.group->metric(metric), *one.group->metric(metric))))
      rivals.push_back(one.group->label);
  }
  if (rivals.empty()) return "";
  const std::string more = rivals.size() > most ? fmt::format(" and {} more", rivals.size() - most) : "";
  rivals.resize(std::min(rivals.size(), most));
  return fmt::format(", no clear lead over {}{}", fmt::join(rivals, ", "), more);
}
