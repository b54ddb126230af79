#include "pictures/head_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "files/group_words.hpp"
#include "files/targets.hpp"
#include "pictures/axes.hpp"
#include "pictures/curve.hpp"
#include "pictures/what_is_shown.hpp"

using croquis::Group;
using croquis::Grouping;

namespace {

std::optional<long long> number_in(const Group& group, const std::string& key) {
  const auto found = group.key.find(key);
  if (found == group.key.end()) return std::nullopt;
  long long number = 0;
  const char *at = found->second.data(), *end = at + found->second.size();
  const auto [stop, error] = std::from_chars(at, end, number);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;  // NA
}

struct Map {
  std::string target;
  std::map<HeadPlace, std::vector<double>> values;  // of several inputs, as texts, one each
};

}  // namespace

std::optional<HeadPlace> place_of(const Group& group) {
  const auto layer = number_in(group, "layer"), head = number_in(group, "head");
  if (layer || head) return HeadPlace{layer, head};
  const auto input = group.key.find("input");
  return input == group.key.end() ? std::nullopt : place_in_name(input->second);
}

void draw_head_errors(const croquis::Table& table, const std::string& metric, const PlotRequest& request) {
  const Grouping grouping = croquis::group_rows(table);
  if (request.features.size() > 1) throw std::invalid_argument("--heat-map: give one of --features");
  std::uint64_t d = 0;
  for (const Group& group : grouping.groups) d = std::max(d, group.x);
  std::vector<std::string> labels;
  std::map<std::string, Map> maps;
  for (const Group& group : grouping.groups) {
    const croquis::Summary* s = group.metric(metric);
    const auto place = place_of(group);
    if (s == nullptr || !place || group.x != d) continue;
    const double value = request.statistic == Statistic::mean ? s->mean : s->q50;
    if (!shows(value, true)) continue;  // a zero is a number of the median
    const auto [map, added] = maps.try_emplace(group.label);
    if (added) labels.push_back(group.label);
    map->second.target = target_of(group);
    map->second.values[*place].push_back(value);
  }
  if (labels.empty()) {
    throw std::invalid_argument(
        fmt::format("{}: no row has a {} and a layer or head (in those columns, or as ;layer=1;head=3 in input)",
                    request.picture.path, metric));
  }
  const std::string subject = subject_of(shown_groups(table, metric));
  std::vector<HeatMap> drawn;
  bool several = false;
  AxisSpan span;
  bool negative = false;
  for (const std::string& label : labels) {
    const Map& map = maps.at(label);
    several =
        several || std::any_of(map.values.begin(), map.values.end(), [](const auto& v) { return v.second.size() > 1; });
    HeatMap one{fmt::format("{}, {} = {}", label, grouping.axis.shown(), d),
                {map.target.empty() ? "" : "approximating " + legend_of_target(map.target)},
                {}};
    for (const auto& [place, values] : map.values) {
      one.cells.push_back({place, croquis::summarise(values).q50});
      span.add(one.cells.back().value);
      negative = negative || one.cells.back().value < 0;
    }
    drawn.push_back(std::move(one));
  }
  std::string statistic = request.statistic == Statistic::mean ? "mean" : "median";
  statistic =
      grouping.draws > 1 ? fmt::format("{} of {}", statistic, repetitions_of(grouping)) : repetitions_of(grouping);
  if (several) statistic += ", median over inputs";
  constexpr double wide = 10;
  draw_heat_maps(drawn, {subject, fmt::format("{}: {}", statistic, metric_title(grouping, metric))},
                 {.logarithmic = !negative && span.most > wide * span.least, .format = "%.2g"}, request.picture);
}
