#include "pictures/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/measure/groups.hpp>
#include <croquis/stats/summary.hpp>
#include <limits>
#include <map>
#include <stdexcept>

#include "files/choice_table.hpp"
#include "pictures/axes.hpp"
#include "pictures/gnuplot.hpp"

using croquis::ChoiceDraw;
using croquis::ChoiceRow;

namespace {

constexpr double kAboveDrawn = 0.05;  // the share of errors above error_q95, which is drawn

struct ChoicePoint {
  double cost, error;
};

bool keeps_exact(const ChoiceRow& row) {
  return row.status == "exact";
}

bool is_point(const ChoiceRow& row) {
  return !keeps_exact(row) && is_drawable(row.error_q95) && is_drawable(row.cost_ratio);
}

// Of each method its candidates in the order of their costs.
std::map<std::string, std::vector<ChoicePoint>> curves_of(const std::vector<ChoiceDraw>& draws,
                                                          const CandidateCosts& costs) {
  std::map<std::pair<std::string, std::uint64_t>, std::vector<double>> candidates;
  for (const ChoiceDraw& draw : draws) {
    candidates[{croquis::curve_label({draw.method, draw.preset}), draw.features}].push_back(
        std::isnan(draw.error) ? std::numeric_limits<double>::infinity() : draw.error);
  }
  std::map<std::string, std::vector<ChoicePoint>> curves;
  for (auto& [name, errors] : candidates) {
    const auto cost = costs.find(name);
    if (cost == costs.end()) continue;
    std::sort(errors.begin(), errors.end());
    const ChoicePoint point{cost->second, croquis::quantile(errors, 0.95)};
    if (is_drawable(point.cost) && is_drawable(point.error)) curves[name.first].push_back(point);
  }
  for (auto& [label, curve] : curves) {
    std::sort(curve.begin(), curve.end(), [](const ChoicePoint& a, const ChoicePoint& b) { return a.cost < b.cost; });
  }
  return curves;
}

// The candidates that no other is better than at no more cost, in the order of their costs.
std::vector<ChoicePoint> frontier_of(const std::map<std::string, std::vector<ChoicePoint>>& curves) {
  std::vector<ChoicePoint> points, frontier;
  for (const auto& [label, curve] : curves) points.insert(points.end(), curve.begin(), curve.end());
  std::sort(points.begin(), points.end(), [](const ChoicePoint& a, const ChoicePoint& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.error < b.error;
  });
  for (const ChoicePoint& point : points) {
    if (frontier.empty() || point.error < frontier.back().error) frontier.push_back(point);
  }
  return frontier;
}

// Data and plot commands, with what the legend needs.
struct Script {
  double top;  ///< of the axis of errors: far larger ones would press together those that may be chosen
  std::string data = {}, plots = {};
  PlotLegend legend = {};
  AxisSpan costs = {}, errors = {};

  bool is_above(const ChoicePoint& point) const { return point.error > top; }
  void add(const std::vector<ChoicePoint>& points, const std::string& how, const std::string& label) {
    for (const ChoicePoint& point : points) {
      costs.add(point.cost);
      if (!is_above(point)) errors.add(point.error);
    }
    data += fmt::format("$d{} << EOD\n", legend.lines);
    for (const ChoicePoint& point : points) data += fmt::format("{:.17g} {:.17g}\n", point.cost, point.error);
    data += "EOD\n";
    plots += fmt::format("{}$d{} using 1:2 {} title {}", legend.lines == 0 ? "plot " : ", ", legend.lines, how,
                         gnuplot_string(label));
    ++legend.lines;
    legend.letters = std::max(legend.letters, label.size());
  }
  std::string axes(bool any_above) const {
    return logarithmic_axis_around('x', costs) +
           logarithmic_axis_around('y', errors, any_above ? fmt::format("{:g}", top) : "*");
  }
};

// Why there is neither a point nor a line to draw: exact attention has none, and logarithmic axes have no place for an
// error of 0 or infinity. Empty if there is one.
std::string why_no_picture(const std::vector<ChoiceRow>& rows,
                           const std::map<std::string, std::vector<ChoicePoint>>& curves) {
  if (std::any_of(rows.begin(), rows.end(), is_point) || !curves.empty()) return "";
  if (std::all_of(rows.begin(), rows.end(), keeps_exact))
    return "nothing but exact attention is chosen, which is no point";
  return "no choice has a 95 % quantile other than 0 and infinity, which have no place on its axis";
}

}  // namespace

void draw_choices(const croquis::Table& table, const PlotRequest& request, const std::vector<ChoiceDraw>& draws,
                  const CandidateCosts& costs) {
  require_one_picture(request, "choose");
  const std::vector<ChoiceRow> rows = croquis::choice_columns().rows(table);
  const ChoiceRow& first = rows.front();
  if (first.metric == "loss") {
    throw std::invalid_argument("croquis plot: choices by --target-loss have no plot; X.steps.csv has what was tested");
  }
  const std::map<std::string, std::vector<ChoicePoint>> curves = curves_of(draws, costs);
  if (const std::string why = why_no_picture(rows, curves); !why.empty()) throw NothingToDraw(request.picture, why);
  std::map<std::string, std::size_t> styles;  // of each label
  double low = 1;
  for (const auto& [label, curve] : curves) {
    styles.emplace(label, styles.size());
    low = std::min(low, curve.front().cost);
  }
  std::map<std::pair<std::string, bool>, std::vector<ChoicePoint>> choices;  // by label and whether it is chosen
  std::size_t exact = 0, without_place = 0;
  for (const ChoiceRow& row : rows) {
    if (!is_point(row)) {
      ++(keeps_exact(row) ? exact : without_place);
      continue;
    }
    const std::string label = croquis::curve_label({row.method, row.preset});
    styles.emplace(label, styles.size());
    choices[{label, row.status == "chosen"}].push_back({row.cost_ratio, row.error_q95});
    low = std::min(low, row.cost_ratio);
  }
  constexpr double room = 100;
  Script script{room * std::max(first.eps, 1.0)};
  std::ptrdiff_t above = 0;
  const auto count_above = [&](const std::vector<ChoicePoint>& points) {
    above +=
        std::count_if(points.begin(), points.end(), [&](const ChoicePoint& point) { return script.is_above(point); });
  };
  script.add({{low, first.eps}, {1, first.eps}}, "with lines lc rgb 'black' dt 2", "eps");
  if (!curves.empty()) script.add(frontier_of(curves), "with steps lc rgb '#bbbbbb' lw 4", "least at no more cost");
  for (const auto& [label, curve] : curves) {
    count_above(curve);
    const PlotStyle style = plot_style(styles.at(label));
    script.add(curve,
               fmt::format("with linespoints lc rgb '{}' dt {} pt {} ps 0.4", style.colour, style.dash, style.marker),
               label);
  }
  for (const auto& [name, points] : choices) {
    count_above(points);
    const PlotStyle style = plot_style(styles.at(name.first));
    script.add(points,
               fmt::format("with points pt {} ps 1.3 lc rgb '{}'", name.second ? style.marker : style.marker - 1,
                           style.colour),
               name.first + (name.second ? ", chosen" : ", leads, undecided"));
  }
  // The title is above the legend, whose lines are as high as the large points. Without room for that gnuplot breaks it
  // into columns, beside a plot that is too narrow.
  script.legend.lines += 5 + script.legend.lines / 6 + (above > 0 ? 1 : 0) + (without_place > 0 ? 1 : 0);
  const std::string x = first.cost_unit + " in units of exact attention's",
                    y = "95 % quantile of " + measured_name(first);
  const PlotWords words(
      request.picture, rows.size() > 1 ? fmt::format("{} and {} more", first.input, rows.size() - 1) : first.input,
      {fmt::format("{} choice{}, {} of them exact attention (not drawn)", rows.size(), rows.size() == 1 ? "" : "s",
                   exact),
       fmt::format("eps = {:g}, delta = {:g}, confidence {:g}", first.eps, first.delta, first.confidence),
       first.delta == kAboveDrawn
           ? ""
           : fmt::format("certified to be below eps: the {:g} % quantile; drawn: the 95 % quantile",
                         100 * (1 - first.delta)),
       curves.empty() ? "" : "lines: over all draws that were looked at; large points: over those that decided",
       without_place > 0 ? fmt::format("not drawn: {} choice{} whose 95 % quantile is 0 or infinite", without_place,
                                       without_place == 1 ? "" : "s")
                         : "",
       above > 0 ? fmt::format("not drawn, above the axis: {} point{}", above, above == 1 ? "" : "s") : "",
       other_target_of(rows).empty() ? "" : "some errors are against another function than softmax attention"},
      y + " against " + x);
  std::string text = plot_header(request.picture, 1, script.legend) + picture_title(words);
  text += fmt::format(
      "set xlabel {} noenhanced\nset ylabel {} noenhanced\nset logscale xy\nset format xy '%g'\n"
      "set grid lc rgb '#dddddd'\nset key outside right top vertical Left reverse maxcols 1 samplen 2 noenhanced\n",
      gnuplot_string(x), gnuplot_string(y));
  text += script.axes(above > 0);
  run_gnuplot(text + script.data + script.plots + "\n", request.picture.path, words);
}
