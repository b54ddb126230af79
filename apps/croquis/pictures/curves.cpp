#include "pictures/curves.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <croquis/core/nearest.hpp>
#include <limits>
#include <set>
#include <stdexcept>
#include <vector>

#include "files/exact_attention_flops.hpp"
#include "files/group_words.hpp"
#include "files/targets.hpp"
#include "pictures/axes.hpp"
#include "pictures/curve_notes.hpp"
#include "pictures/curve_script.hpp"
#include "pictures/gnuplot.hpp"
#include "pictures/head_errors.hpp"
#include "pictures/selection.hpp"
#include "pictures/what_is_shown.hpp"

using croquis::Group;
using croquis::Grouping;

namespace {

PlotLegend legend_of(const std::vector<Curve>& curves, bool several, const std::vector<PlotLevel>& levels,
                     bool upright) {
  PlotLegend legend{curves.size() + 3, 0};
  std::string target;
  for (const Curve& curve : curves) {
    legend.letters = std::max(legend.letters, curve.label.size());
    if (!several || curve.target == target) continue;
    target = curve.target;
    legend.letters = std::max(legend.letters, legend_of_target(target).size());
    legend.lines += 2;  // the heading, and a line above it or, of the first, above what belongs to no block
  }
  for (const Guarantee& one : guarantees_of(curves)) {
    ++legend.lines;
    legend.letters = std::max(legend.letters, one.title.size());
  }
  std::vector<std::string> more;
  for (const PlotLevel& level : levels) more.push_back(level.label);
  if (upright) more.emplace_back(kFlopsOfExact);
  for (const std::string& title : more) {
    ++legend.lines;
    legend.letters = std::max(legend.letters, title.size());
  }
  return legend;
}

AxisSpan value_span(const std::vector<Curve>& curves, const std::vector<PlotLevel>& levels) {
  AxisSpan span;
  for (const PlotLevel& level : levels) span.add(level.at);
  for (const Curve& curve : curves) {
    for (const CurvePoint& p : curve.points) span.add(p.y);
  }
  return span;
}

// Of a logarithmic axis. Guarantees may be orders of magnitude above what is measured: lines leave the picture there.
std::string range_of_values(const std::vector<Curve>& curves, const std::vector<PlotLevel>& levels) {
  AxisSpan span = value_span(curves, levels);
  for (const PlotLevel& level : levels) {
    for (const double end : {level.at - level.error, level.at + level.error}) span.add(end);
  }
  for (const Curve& curve : curves) {
    const bool spread = has_spread(curve, curves.size());
    for (const CurvePoint& p : curve.points) {
      for (const double end : {p.rows_lo, p.rows_hi}) span.add(end);
      if (!spread) continue;
      for (const double end : {p.lo, p.hi}) span.add(end);
    }
  }
  constexpr double room = 30;
  if (std::any_of(curves.begin(), curves.end(), has_bounds))
    return fmt::format("set yrange [*:{:.9g}]\n", room * span.most);
  return logarithmic_axis('y', span);
}

// What the numbers are, and what is drawn beside them.
std::string number_line(const Grouping& grouping, Statistic statistic, const std::vector<Curve>& curves,
                        const std::vector<PlotLevel>& levels) {
  const bool bars = !curves.empty() && std::all_of(curves.begin(), curves.end(),
                                                   [](const Curve& curve) { return curve.is_at_one_place(); });
  const bool no_bands = !bars && curves.size() > kMostBands;
  const bool lines_alone = curves.empty() && std::all_of(levels.begin(), levels.end(),
                                                         [](const PlotLevel& level) { return level.error == 0; });
  const char* const spread = bars ? "bar" : no_bands || lines_alone ? nullptr : "band";
  return statistic_line(grouping, statistic, spread) +
         (no_bands ? fmt::format("; no bands with more than {} curves", kMostBands) : "");
}

void draw_usual(const croquis::Table& all, const PlotRequest& request, const std::string& usual) {
  const croquis::Table table = rows_of_curves(all, request.methods, request.features);
  std::vector<std::string> names;
  for (const croquis::Column& column : table.columns) {
    if (column.role == croquis::Role::metric) names.push_back(column.name);
  }
  const std::string metric =
      request.metric.empty() ? default_metric(croquis::group_rows(table), usual) : request.metric;
  if (metric.empty()) throw NothingToDraw(request.picture, "no row has a metric to draw");
  if (std::find(names.begin(), names.end(), metric) == names.end()) {
    throw std::invalid_argument(fmt::format("--metric: '{}' is none of {}{}", metric, fmt::join(names, ", "),
                                            croquis::did_you_mean(metric, names)));
  }
  if (request.heat_map) {
    if (!request.x.empty()) throw std::invalid_argument("--x: a heat map runs over layers and heads");
    return draw_head_errors(table, metric, request);
  }
  if (request.x == "flops" || request.x == "seconds") {
    if (!table.has(request.x)) throw std::invalid_argument(fmt::format("--x: these rows have no {}", request.x));
    const Grouping grouping = shown_groups(table, metric, {request.x});
    // Of costs, exact attention is a curve.
    const bool upright = request.x == "flops" && table.has("target");
    return draw_groups(grouping, metric, request.picture, request.statistic, request.x, {},
                       upright ? exact_flops_of(grouping) : std::numeric_limits<double>::quiet_NaN());
  }
  const Grouping grouping = shown_groups(table, metric);
  if (!request.x.empty() && request.x != grouping.axis.name) {
    throw std::invalid_argument(
        fmt::format("--x: these curves run over {}, not over {}", grouping.axis.name, request.x));
  }
  draw_groups(grouping, metric, request.picture, request.statistic, "", levels_of(grouping, metric, request.statistic));
}

}  // namespace

void draw_groups(const Grouping& grouping, const std::string& metric, const Picture& picture, Statistic statistic,
                 const std::string& x, std::vector<PlotLevel> levels, double exact_flops) {
  bool linear = is_best_at_one(metric) || is_signed(grouping, metric, levels);
  std::vector<Curve> curves = curves_of(grouping, metric, statistic, x, linear);
  if (!linear && !value_span(curves, levels).is_wide()) {  // or nothing is positive
    linear = true;
    curves = curves_of(grouping, metric, statistic, x, linear);  // with its zeros
  }
  std::erase_if(levels, [&](const PlotLevel& level) { return !shows(level.at, linear); });
  if (curves.empty() && levels.empty()) {
    throw NothingToDraw(picture, fmt::format("no row has a {} that an axis can show", metric));
  }
  if (curves.size() > kManyCurves) sort_by_last_value(curves);
  const bool several = std::any_of(curves.begin(), curves.end(),
                                   [&](const Curve& curve) { return curve.target != curves.front().target; });
  std::set<double> places;
  for (const Curve& curve : curves) {
    for (const CurvePoint& p : curve.points) places.insert(p.x);
  }
  const bool upright = !places.empty() && exact_flops > 0;
  if (upright) places.insert(exact_flops);
  const XAxis axis = x_axis(places, x.empty());
  PlotLegend legend = legend_of(curves, several, levels, upright);
  const std::vector<std::string> notes = notes_on(grouping, metric, statistic, curves, linear);
  for (const std::string& one : notes) {
    if (!one.empty()) ++legend.lines;  // of the title, which takes its room
  }
  Grouping drawn = grouping;  // what a failed operator was measured on is not what landmarks are drawn of
  std::erase_if(drawn.groups, [&](const Group& group) { return group.metric(metric) == nullptr; });
  std::vector<std::string> lines = {number_line(grouping, statistic, curves, levels),
                                    target_line(grouping, curves, several)};
  lines.insert(lines.end(), notes.begin(), notes.end());
  const std::string horizontal = places.empty() ? "" : axis_title(grouping, x),
                    vertical = metric_title(grouping, metric);
  const PlotWords words(picture, subject_of(levels.empty() ? drawn : grouping), lines,
                        vertical + (places.empty() ? "" : " against " + horizontal));
  const std::string script =
      plot_header(picture, 1, legend) + picture_title(words) +
      fmt::format("set xlabel {}\nset ylabel {} noenhanced\nset logscale {}\n", gnuplot_string(horizontal),
                  gnuplot_string(vertical), linear ? "x" : "xy") +
      "set format y '%g'\nset grid lc rgb '#dddddd'\nset key outside right top vertical Left reverse maxcols 1 samplen "
      "3 noenhanced\n" +
      (linear ? "" : range_of_values(curves, levels)) + axis.script +
      "set style fill transparent solid 0.15 noborder\n" + (upright ? upright_line(exact_flops) : "");
  // Flops and seconds are places of their own.
  const std::vector<std::string> columns =
      x.empty() ? columns_of_x(curves, places) : std::vector<std::string>(curves.size(), "1");
  run_gnuplot(script + curve_data(curves) + level_data(levels, axis, linear) +
                  curve_plots(curves, several, levels, upright, columns,
                              grouping.random ? "'heavy-tailed draws'" : "'heavy-tailed repeats'"),
              picture.path, words);
}

std::function<void(const croquis::Table& all, const PlotRequest& request)> drawing(const std::string& usual) {
  return [=](const croquis::Table& all, const PlotRequest& request) { draw_usual(all, request, usual); };
}
