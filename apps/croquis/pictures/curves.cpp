#include "pictures/curves.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <croquis/core/nearest.hpp>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "files/targets.hpp"
#include "pictures/axes.hpp"
#include "pictures/gnuplot.hpp"
#include "pictures/head_errors.hpp"
#include "pictures/selection.hpp"
#include "pictures/what_is_shown.hpp"

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
std::string missing_line(const Grouping& grouping, const std::string& metric, const std::vector<Curve>& curves,
                         bool linear) {
  const auto is_drawn = [&](const Group& g) {
    return std::any_of(curves.begin(), curves.end(), [&](const Curve& curve) { return curve.label == g.label; });
  };
  Places failed, undefined, zero;
  for (const Group& g : grouping.groups) {
    const Summary* s = g.metric(metric);
    // Of operators and landmark policies, what lacks the metric need not be one of those that have it.
    const bool lacks = s == nullptr && (is_drawn(g) || !g.key.contains("kind"));
    const bool is_zero = !linear && s != nullptr && s->q50 == 0 && s->mean == 0;
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

// Whose function is approximated, where there is a target, and what the order of a long legend is. Rows with a column
// `target` have errors against it; times and losses of several functions can be compared.
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

PlotLegend legend_of(const std::vector<Curve>& curves, bool several) {
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
  return legend;
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
    for (const CurvePoint& p : curve.points) {
      for (const double end : {p.lo, p.hi, p.rows_lo, p.rows_hi}) span.add(end);
    }
  }
  constexpr double room = 30;
  if (std::any_of(curves.begin(), curves.end(), has_bounds))
    return fmt::format("set yrange [*:{:.9g}]\n", room * span.most);
  return logarithmic_axis('y', span);
}

// Levels have the data blocks $level0, $level1, ..., as curves have $d0, ...
std::string data_of(const std::vector<PlotLevel>& levels, const XAxis& axis, bool linear) {
  std::string data;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const PlotLevel& level = levels[i];
    data += fmt::format("$level{} << EOD\n", i);
    for (const std::string& x : {axis.low, axis.high}) {
      const double low = level.at - level.error;
      data += fmt::format("{} {:.17g} {:.17g} {:.17g}\n", x, level.at, shows(low, linear) ? low : level.at,
                          level.at + level.error);
    }
    data += "EOD\n";
  }
  return data;
}

bool has_rows(const Curve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(), [](const CurvePoint& p) { return p.rows_lo > 0; });
}

// The column of x for each curve. Bars at one place would cover each other: they stand side by side, a few percent
// apart, and well within the distance between two places.
std::vector<std::string> columns_of_x(const std::vector<Curve>& curves, const std::set<double>& places) {
  const bool bars = places.size() == 1 || std::any_of(curves.begin(), curves.end(), has_rows);
  std::vector<std::string> columns(curves.size(), "1");
  if (!bars || curves.size() < 2) return columns;
  double widest = std::log(1.05);
  for (auto at = places.begin(); std::next(at) != places.end(); ++at) {
    constexpr double share = 0.15;
    widest = std::min(widest, share * std::log(*std::next(at) / *at));
  }
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const double side = 2 * static_cast<double>(i) / static_cast<double>(curves.size() - 1) - 1;
    columns[i] = fmt::format("($1*{:.4f})", std::exp(side * widest));
  }
  return columns;
}

std::string plots_of(const std::vector<Curve>& curves, bool several, const std::vector<PlotLevel>& levels,
                     const std::vector<std::string>& columns, const char* heavy_tailed) {
  const std::string blank = "NaN with lines lc rgb '#ffffff' title ' ', ";  // a line of the legend
  std::string plots = "plot ", lines, across, stars, bounds, intervals;
  std::vector<std::string> colours;
  std::size_t style_index = 0;
  std::string target;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const Curve& curve = curves[i];
    PlotStyle style = plot_style(style_index);
    if (curve.is_bracket()) {
      style = {"#000000", curve.label == "v-mean" ? 5 : 7, 2};
      if (curve.label == "exact") style = {"#000000", 9, 1};
    } else {
      ++style_index;
    }
    colours.push_back(style.colour);
    const bool open = !is_softmax(curve.target);
    const std::string& x = columns[i];
    if (several && (i == 0 || curve.target != target)) {
      if (i > 0) lines += blank;
      lines +=
          fmt::format("NaN with lines lc rgb '#ffffff' title {}, ", gnuplot_string(legend_of_target(curve.target)));
      target = curve.target;
    }
    if (curve.is_at_one_place()) {
      plots += fmt::format("$d{} using {}:2:3:4 with yerrorbars lc rgb '{}' lw 1.5 pt 0 notitle, ", i, x, style.colour);
    } else if (curves.size() <= kMostBands) {
      plots += fmt::format("${}{} using {}:3:4 with filledcurves lc rgb '{}' notitle, ",
                           curve.goes_right() ? "d" : "band", i, x, style.colour);
    }
    if (has_rows(curve)) {
      plots += fmt::format("$d{} using {}:2:7:8 with yerrorbars lc rgb '{}' lw 1 pt 0 notitle, ", i, x, style.colour);
      intervals = "NaN with lines lc rgb '#000000' lw 1 title \"bars: 95 %, for the sample of rows\", ";
    }
    // A negative interval leaves the ground of a marker white, so that an open one is seen to be open.
    lines += fmt::format("$d{} using {}:2 with linespoints lc rgb '{}' lw 2 dt {} pt {} ps {} title {}, ", i, x,
                         style.colour, style.dash, style.marker - (open ? 1 : 0), open ? "1.2 pi -1" : "0.8",
                         gnuplot_string(curve.label));
    if (std::any_of(curve.points.begin(), curve.points.end(), [](const CurvePoint& p) { return p.heavy_tailed; })) {
      stars += fmt::format("$d{} using {}:($5 > 0 ? $2 : NaN) with points lc rgb '{}' lw 1.5 pt 3 ps 1.6 title {}, ", i,
                           x, style.colour, stars.empty() ? heavy_tailed : "''");
    }
  }
  for (const Guarantee& one : guarantees_of(curves)) {
    bounds += fmt::format("$d{} using 1:6 with lines lc rgb '{}' lw 1.5 dt 3 title {}, ", one.curve,
                          one.shared ? "#000000" : colours[one.curve], gnuplot_string(one.title));
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const bool exact = is_of_exact_attention(levels[i]);
    const std::string colour = exact ? "#000000" : plot_style(style_index++).colour;
    if (levels[i].error > 0)
      plots += fmt::format("$level{} using 1:3:4 with filledcurves lc rgb '{}' notitle, ", i, colour);
    across += fmt::format("$level{} using 1:2 with lines lc rgb '{}' lw {} dt 2 title {}, ", i, colour, exact ? 1 : 2,
                          gnuplot_string(levels[i].label));
  }
  const std::string of_all = across + intervals + stars + bounds;
  plots += lines + (several && !of_all.empty() ? blank : "") + of_all;
  plots.resize(plots.size() - 2);
  return plots + '\n';
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
    return draw_groups(shown_groups(table, metric, {request.x}), metric, request.picture, request.statistic, request.x);
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
                 const std::string& x, std::vector<PlotLevel> levels) {
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
  std::string data;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    data += fmt::format("$d{} << EOD\n", i);
    for (const CurvePoint& p : curves[i].points) {
      data += fmt::format("{:.17g} {:.17g} {:.17g} {:.17g} {} {:.17g} {:.17g} {:.17g}\n", p.x, p.y, p.lo, p.hi,
                          p.heavy_tailed ? 1 : 0, p.bound, p.rows_lo, p.rows_hi);
      places.insert(p.x);
    }
    data += "EOD\n";
    if (curves[i].goes_right()) continue;
    std::vector<CurvePoint> band = curves[i].points;
    std::sort(band.begin(), band.end(), [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; });
    data += fmt::format("$band{} << EOD\n", i);
    for (const CurvePoint& p : band) data += fmt::format("{:.17g} {:.17g} {:.17g} {:.17g}\n", p.x, p.y, p.lo, p.hi);
    data += "EOD\n";
  }
  const XAxis axis = x_axis(places, x.empty());
  data += data_of(levels, axis, linear);
  PlotLegend legend = legend_of(curves, several);
  for (const PlotLevel& level : levels) {
    ++legend.lines;
    legend.letters = std::max(legend.letters, level.label.size());
  }
  const std::vector<std::string> more = {bound_line(curves, metric), exact_line(grouping, metric),
                                         tail_line(grouping, metric), members_without(grouping, metric),
                                         missing_line(grouping, metric, curves, linear)};
  for (const std::string& one : more) {
    if (!one.empty()) ++legend.lines;  // of the title, which takes its room
  }
  std::string script = plot_header(picture, 1, legend);
  const bool bars = !curves.empty() && std::all_of(curves.begin(), curves.end(),
                                                   [](const Curve& curve) { return curve.is_at_one_place(); });
  const bool no_bands = !bars && curves.size() > kMostBands;
  const bool lines_alone = curves.empty() && std::all_of(levels.begin(), levels.end(),
                                                         [](const PlotLevel& level) { return level.error == 0; });
  const std::string line = statistic_line(grouping, statistic,
                                          bars                      ? "bar"
                                          : no_bands || lines_alone ? nullptr
                                                                    : "band") +
                           (no_bands ? fmt::format("; no bands with more than {} curves", kMostBands) : "");
  Grouping drawn = grouping;  // what a failed operator was measured on is not what landmarks are drawn of
  std::erase_if(drawn.groups, [&](const Group& group) { return group.metric(metric) == nullptr; });
  std::vector<std::string> lines = {line, target_line(grouping, curves, several)};
  lines.insert(lines.end(), more.begin(), more.end());
  const std::string horizontal = places.empty() ? "" : axis_title(grouping, x),
                    vertical = metric_title(grouping, metric);
  const PlotWords words(picture, subject_of(levels.empty() ? drawn : grouping), lines,
                        vertical + (places.empty() ? "" : " against " + horizontal));
  script += picture_title(words);
  script += fmt::format("set xlabel {}\nset ylabel {} noenhanced\nset logscale {}\n", gnuplot_string(horizontal),
                        gnuplot_string(vertical), linear ? "x" : "xy");
  script +=
      "set format y '%g'\nset grid lc rgb '#dddddd'\nset key outside right top vertical Left reverse maxcols 1 samplen "
      "3 noenhanced\n";
  script += (linear ? "" : range_of_values(curves, levels)) + axis.script +
            "set style fill transparent solid 0.15 noborder\n";
  // Flops and seconds are places of their own.
  const std::vector<std::string> columns =
      x.empty() ? columns_of_x(curves, places) : std::vector<std::string>(curves.size(), "1");
  run_gnuplot(script + data +
                  plots_of(curves, several, levels, columns,
                           grouping.random ? "'heavy-tailed draws'" : "'heavy-tailed repeats'"),
              picture.path, words);
}

std::function<void(const croquis::Table& all, const PlotRequest& request)> drawing(const std::string& usual) {
  return [=](const croquis::Table& all, const PlotRequest& request) { draw_usual(all, request, usual); };
}
