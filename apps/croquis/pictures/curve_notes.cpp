#include "pictures/curve_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "files/group_words.hpp"
#include "files/targets.hpp"

using croquis::Group;
using croquis::Grouping;
using croquis::Summary;

namespace {

using Places = std::vector<std::pair<std::string, std::vector<std::uint64_t>>>;  // of each label

void add_place(Places& places, const Group& group) {
  auto found = std::find_if(places.begin(), places.end(), [&](const auto& one) { return one.first == group.label; });
  if (found == places.end()) found = places.insert(places.end(), {group.label, {}});
  found->second.push_back(group.x);
}

// "nprf (d = 16, 32), linear (d = 8)", or as many of them as a line of the title has room for behind so many letters.
std::string listed(const Places& places, const Grouping& grouping, std::size_t letters) {
  constexpr std::size_t longest = 90;
  std::string text;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::string one =
        fmt::format("{} ({} = {})", places[i].first, grouping.axis.shown(), fmt::join(places[i].second, ", "));
    if (i > 0 && letters + text.size() + one.size() > longest) {
      return text + fmt::format(" and {} more", places.size() - i);
    }
    text += (i > 0 ? ", " : "") + one;
  }
  return text;
}

// Where a curve stops, or is missing: "not drawn, failed: nprf (d = 16, 32); zero: kriged-coreset (d = 256)". A linear
// axis has zeros.
std::string missing_line(const Grouping& grouping, const std::string& metric, Statistic statistic,
                         const std::vector<Curve>& curves, bool linear) {
  const auto is_drawn = [&](const Group& g) {
    return std::any_of(curves.begin(), curves.end(), [&](const Curve& curve) { return curve.label == g.label; });
  };
  Places failed, undefined, zero;
  for (const Group& g : grouping.groups) {
    const Summary* s = g.metric(metric);
    // Of operators and landmark policies, what lacks the metric need not be one of those that have it.
    const bool lacks = s == nullptr && (is_drawn(g) || !g.key.contains("kind"));
    const bool is_zero = !linear && s != nullptr && (statistic == Statistic::mean ? s->mean : s->q50) == 0;
    if (!lacks && !is_zero) continue;
    add_place(is_zero ? zero : g.failed > 0 ? failed : undefined, g);
  }
  std::string line;
  for (const auto& [what, all] : {std::pair("failed", failed), {"undefined", undefined}, {"zero", zero}}) {
    if (all.empty()) continue;
    line += fmt::format("{}{}: ", line.empty() ? "" : "; ", what);
    line += listed(all, grouping, line.size());
  }
  return line.empty() ? "" : "not drawn, " + line;
}

// Output 0 has the relative error 1.
std::string bound_line(const std::vector<Curve>& curves, const std::string& metric) {
  bool any = false, trivial = false;
  for (const Curve& curve : curves) {
    any = any || has_bounds(curve);
    for (const CurvePoint& p : curve.points) trivial = trivial || p.bound >= 1;
  }
  if (!any) return "";
  return std::string("dotted: guaranteed by a theorem, with probability 0.9 or more") +
         (trivial && metric == "spectral_rel" ? "; one of 1 or more holds for output 0 too" : "");
}

// Differences of rounding rank nothing.
std::string exact_line(const Grouping& grouping, const std::string& metric) {
  double largest = 0;
  for (const Group& group : grouping.groups) {
    if (is_exact(group, metric)) largest = std::max(largest, group.metric(metric)->largest);
  }
  return largest > 0 ? fmt::format("up to {:.1g}: exact but for rounding", largest) : "";
}

// What a table marks by misses_its_tail().
std::string tail_line(const Grouping& grouping, const std::string& metric) {
  Places below;
  for (const Group& group : grouping.groups) {
    if (misses_its_tail(group, metric)) add_place(below, group);
  }
  const std::string what = "mean below a tenth of the expectation: ";
  return below.empty() ? "" : what + listed(below, grouping, what.size());
}

}  // namespace

std::string target_line(const Grouping& grouping, const std::vector<Curve>& curves, bool several) {
  const std::string target = curves.empty() ? "" : curves.front().target;
  const bool errors = std::any_of(grouping.groups.begin(), grouping.groups.end(),
                                  [](const Group& group) { return group.key.contains("target"); });
  const std::string order = curves.size() > kManyCurves ? "legend: by the value at the right, largest first" : "";
  std::string line = several          ? (errors ? "blocks of the legend are not to be compared" : "")
                     : target.empty() ? ""
                                      : "approximating " + legend_of_target(target);
  return line + (line.empty() || order.empty() ? "" : "; ") + order;
}

std::vector<std::string> notes_on(const Grouping& grouping, const std::string& metric, Statistic statistic,
                                  const std::vector<Curve>& curves, bool linear) {
  return {bound_line(curves, metric), exact_line(grouping, metric), tail_line(grouping, metric),
          members_without(grouping, metric), missing_line(grouping, metric, statistic, curves, linear)};
}
