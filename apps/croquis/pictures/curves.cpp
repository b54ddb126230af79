#include "pictures/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "files/summary.hpp"
#include "options/input.hpp"
#include "pictures/gnuplot.hpp"

using croquis::Group;
using croquis::Grouping;

namespace {

std::string axis_title(const croquis::Column& axis) {
  return axis.symbol.empty() ? (axis.name == "n" ? "tokens n" : axis.name) : axis.name + ' ' + axis.symbol;
}

std::string metric_title(const Grouping& grouping, const std::string& metric) {
  for (const croquis::Column& column : grouping.metrics) {
    if (column.name == metric) return column.shown() + (column.unit.empty() ? "" : " [" + column.unit + "]");
  }
  return metric;
}

}  // namespace

void draw_groups(const Grouping& grouping, const std::string& metric, const std::string& path) {
  std::vector<std::string> labels;
  std::map<std::string, std::string> points;  // by label
  std::set<std::uint64_t> sizes;
  std::set<std::string> dashed;
  for (const Group& g : grouping.groups) {
    const croquis::Summary* s = g.metric(metric);
    if (s == nullptr || !is_drawable(s->mean) || g.x < 1) continue;
    const auto [slot, added] = points.emplace(g.label, "");
    if (added) labels.push_back(g.label);
    if (g.label == "v-mean" || g.label == "best-rank-d") dashed.insert(g.label);
    slot->second +=
        fmt::format("{} {:.17g} {:.17g} {:.17g}\n", g.x, s->mean, s->q10, is_drawable(s->q90) ? s->q90 : s->mean);
    sizes.insert(g.x);
  }
  if (labels.empty()) throw std::invalid_argument(fmt::format("{}: no row has a positive {} to draw", path, metric));

  std::string script = plot_header(path);
  const auto& key = grouping.groups.front().key;
  const auto input = key.find("input");
  std::string title = input == key.end() ? "all inputs" : input->second;
  for (const char* name : {"matrix", "n", "p", "rank", "keys", "precision", "threads"}) {
    if (const auto found = key.find(name); found != key.end() && name != grouping.axis.name)
      title += fmt::format(", {} = {}", name, found->second);
  }
  script += fmt::format("set title {} noenhanced\n", gnuplot_string(title + ": mean, and 10 to 90 % of the trials"));
  script += fmt::format("set xlabel {}\nset ylabel {} noenhanced\nset logscale xy\n",
                        gnuplot_string(axis_title(grouping.axis)), gnuplot_string(metric_title(grouping, metric)));
  script += "set format y '%g'\nset grid lc rgb '#dddddd'\nset key outside right top noenhanced\nset xtics (";
  std::string separator;
  for (const std::uint64_t d : sizes) {
    script += fmt::format("{}'{}' {}", separator, d, d);
    separator = ", ";
  }
  script += ")\nset style fill transparent solid 0.15 noborder\n";
  const double widening = 1.1;
  script += fmt::format("set xrange [{}:{}]\n", static_cast<double>(*sizes.begin()) / widening,
                        static_cast<double>(*sizes.rbegin()) * widening);
  for (std::size_t i = 0; i < labels.size(); ++i) script += fmt::format("$d{} << EOD\n{}EOD\n", i, points[labels[i]]);
  script += "plot ";
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::string colour = plot_colour(i);
    script += fmt::format(
        "$d{0} using 1:3:4 with filledcurves lc rgb '{1}' notitle, "
        "$d{0} using 1:2 with linespoints lc rgb '{1}' lw 2 dt {2} pt {3} ps 0.8 title {4}{5}",
        i, colour, dashed.contains(labels[i]) ? 2 : 1, 5 + i % 8, gnuplot_string(labels[i]),
        i + 1 < labels.size() ? ", " : "\n");
  }
  run_gnuplot(script, path);
}

std::string default_metric(const Grouping& grouping) {
  const auto is_there = [&](const croquis::Column& column) {
    return std::any_of(grouping.groups.begin(), grouping.groups.end(),
                       [&](const Group& group) { return group.metric(column.name) != nullptr; });
  };
  const croquis::Column* first = nullptr;
  for (const croquis::Column& column : grouping.metrics) {
    if (!is_there(column)) continue;
    if (column.name.ends_with("spectral_rel")) return column.name;
    if (first == nullptr) first = &column;
  }
  if (first == nullptr) throw std::invalid_argument("no row has a metric to draw");
  return first->name;
}

void draw_grouped(const croquis::Table& table, const std::string& metric, const std::string& path) {
  const Grouping by_input = croquis::group_rows(table);
  std::set<std::string> inputs;
  for (const Group& group : by_input.groups) inputs.insert(group.key.at("input"));
  const Grouping grouping = inputs.size() > 1 ? croquis::group_rows(table, head_columns()) : by_input;
  const std::string drawn = metric.empty() ? default_metric(grouping) : metric;
  std::vector<std::string> names;
  for (const croquis::Column& column : grouping.metrics) names.push_back(column.name);
  if (std::find(names.begin(), names.end(), drawn) == names.end()) {
    throw std::invalid_argument(fmt::format("--metric: '{}' is none of {}", drawn, fmt::join(names, ", ")));
  }
  draw_groups(grouping, drawn, path);
}

void write_grouped_summary(const croquis::Table& table, const std::string& path) {
  write_summary(path, croquis::group_rows(table));
}
