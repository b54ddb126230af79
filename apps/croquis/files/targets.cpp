#include "files/targets.hpp"

#include <algorithm>
#include <croquis/attention/method.hpp>
#include <iterator>
#include <set>

namespace {

struct Meaning {
  croquis::Target target;
  bool softmax;
  const char *meaning, *legend;
};

using croquis::Target;
constexpr Meaning kMeanings[] = {
    {Target::softmax, true, "softmax attention", "softmax attention"},
    {Target::kernelized, false, "Gaussian-kernel attention C V, another function than softmax attention",
     "C V, another function"},
    {Target::normalized, false, "softmax attention of unit queries and keys, another function than softmax attention",
     "unit q and k, another function"},
    {Target::softmax_rpe, true, "softmax attention with the relative position bias, if one is given",
     "softmax attention, with --bias if given"},
    {Target::normalized_rpe, false,
     "softmax attention of unit queries and keys with the relative position bias, another function than softmax "
     "attention",
     "unit q and k, biased, another function"},
};

const Meaning* find(const std::string& target) {
  const auto* found = std::find_if(std::begin(kMeanings), std::end(kMeanings),
                                   [&](const Meaning& m) { return name_of(m.target) == target; });
  return found == std::end(kMeanings) ? nullptr : found;
}

}  // namespace

std::string target_of_method(const std::string& name) {
  if (name == "exact") return std::string(name_of(Target::softmax));
  if (name.starts_with("exact-")) return name.substr(6);
  for (const auto& known : croquis::methods<double>()) {
    if (known.name == name) return std::string(name_of(known.target));
  }
  return "";
}

std::string target_of(const croquis::Group& group) {
  if (const auto given = group.key.find("target"); given != group.key.end()) return given->second;
  const auto method = group.key.find("method");
  if (method == group.key.end()) return "";
  return target_of_method(method->second);
}

std::vector<std::string> targets_of(const croquis::Grouping& grouping, const std::string& metric) {
  // In the order of all groups, which is the same for every metric.
  std::vector<std::string> targets;
  std::set<std::string> shown;
  for (const croquis::Group& group : grouping.groups) {
    std::string target = target_of(group);
    if (group.metric(metric) != nullptr || group.failed > 0) shown.insert(target);
    if (std::find(targets.begin(), targets.end(), target) == targets.end()) targets.push_back(std::move(target));
  }
  std::erase_if(targets, [&](const std::string& target) { return !shown.contains(target); });
  return targets;
}

std::string meaning_of_target(const std::string& target) {
  const Meaning* known = find(target);
  return known == nullptr ? target : known->meaning;
}

std::string legend_of_target(const std::string& target) {
  const Meaning* known = find(target);
  return known == nullptr ? target : known->legend;
}

bool is_softmax(const std::string& target) {
  const Meaning* known = find(target);
  return target.empty() || (known != nullptr && known->softmax);
}
