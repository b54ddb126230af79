#include "pictures/model_loss.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/core/nearest.hpp>
#include <croquis/measure/model_summary.hpp>
#include <limits>
#include <map>
#include <set>

#include "files/exact_attention_flops.hpp"
#include "files/model_table.hpp"
#include "pictures/axes.hpp"
#include "pictures/curves.hpp"
#include "pictures/gnuplot.hpp"
#include "pictures/selection.hpp"
#include "pictures/what_is_shown.hpp"

using croquis::Grouping;
using croquis::ModelSummary;

namespace {

std::string metric_of(const PlotRequest& request, const Grouping& grouping, const char* default_value) {
  std::vector<std::string> names;
  for (const croquis::Column& column : grouping.metrics) names.push_back(column.name);
  std::string metric = request.metric.empty() ? default_value : request.metric;
  if (std::find(names.begin(), names.end(), metric) != names.end()) return metric;
  throw std::invalid_argument(fmt::format("--metric: '{}' is none of {}{}", metric, fmt::join(names, ", "),
                                          croquis::did_you_mean(metric, names)));
}

// What has no d, and so no place on that axis: takes choices out of the groups, and adds exact attention.
std::vector<PlotLevel> take_levels(Grouping& grouping, const std::vector<ModelSummary>& summaries,
                                   const std::string& metric, bool against_d) {
  std::vector<PlotLevel> levels;
  if (against_d) levels = levels_of(grouping, metric, Statistic::mean);
  if (against_d) std::erase_if(grouping.groups, [](const croquis::Group& group) { return group.x == 0; });
  const double exact = metric == "increase" ? 0 : metric_of_exact(summaries, metric);
  if (!std::isnan(exact)) levels.push_back({kExactAttention, exact});
  return levels;
}

// A line a method over the layers, which a logarithmic axis would begin at 1.
void draw_by_layer(const std::vector<ModelSummary>& summaries, const PlotRequest& request) {
  if (!request.x.empty()) throw std::invalid_argument("--x: rows of --layers each are drawn against the layer");
  std::uint64_t d = 0;
  for (const ModelSummary& s : summaries) d = std::max(d, s.features);
  struct LossPoint {
    double layer, mean, error;
  };
  const Grouping grouping = grouping_of_models(summaries);
  const std::string metric = metric_of(request, grouping, "increase");
  std::map<std::string, std::vector<LossPoint>> curves;
  std::vector<std::string> labels;
  for (const ModelSummary& s : summaries) {
    if (s.features != d || s.method == "exact") continue;
    const Grouping one = grouping_of_models({s});
    const croquis::Summary* value = one.groups.empty() ? nullptr : one.groups.front().metric(metric);
    if (value == nullptr || !std::isfinite(value->mean)) continue;
    const std::string& label = one.groups.front().label;
    if (!curves.contains(label)) labels.push_back(label);
    curves[label].push_back(
        {layer_of(s).value(), value->mean, std::isnan(value->standard_error) ? 0 : value->standard_error});
  }
  if (labels.empty()) throw NothingToDraw(request.picture, fmt::format("no layer has a {} to draw", metric));
  // An increase may be negative, and is then the one to see: with it the axis has both signs.
  bool positive = !is_best_at_one(metric);
  std::vector<double> values;
  std::set<double> layers;
  for (const auto& [label, points] : curves) {
    for (const LossPoint& p : points) {
      positive = positive && p.mean > (metric == "increase" ? p.error : 0);
      values.push_back(p.mean);
      layers.insert(p.layer);
    }
  }
  const SignedAxis axis = positive ? SignedAxis{"set logscale y\n", ""} : signed_axis('y', values);
  std::size_t letters = 0;
  std::string data, plots = "plot ";
  for (std::size_t i = 0; i < labels.size(); ++i) {
    letters = std::max(letters, labels[i].size());
    data += fmt::format("$d{} << EOD\n", i);
    for (const LossPoint& p : curves[labels[i]]) {
      const double low = p.mean - p.error;
      data += fmt::format("{} {:.17g} {:.17g} {:.17g}\n", p.layer, p.mean, low > 0 || !positive ? low : p.mean,
                          p.mean + p.error);
    }
    const PlotStyle style = plot_style(i);
    data += "EOD\n";
    plots += fmt::format("$d{} using 1:2:3:4 with yerrorlines lc rgb '{}' lw 2 dt {} pt {} ps 0.8 title {}{}", i,
                         style.colour, style.dash, style.marker, gnuplot_string(labels[i]),
                         i + 1 == labels.size() ? "\n" : ", ");
  }
  std::string script = plot_header(request.picture, 1, {labels.size() + 1, letters});
  const std::string x = "the layer that is approximated", y = metric == "increase" ? "loss - exact loss" : metric;
  const PlotWords words(request.picture, fmt::format("{}, d = {}", subject_of_models(summaries), d),
                        {statistic_line(grouping, Statistic::mean), axis.said}, y + " against " + x);
  script += picture_title(words);
  script += fmt::format(
      "set xlabel {}\nset ylabel {} noenhanced\n{}set format xy '%g'\n"
      "set grid lc rgb '#dddddd'\nset xtics 1\nset xrange [{}:{}]\n"
      "set key outside right top vertical Left reverse maxcols 1 samplen 3 noenhanced\n",
      gnuplot_string(x), gnuplot_string(y), axis.script, *layers.begin() - 0.3, *layers.rbegin() + 0.3);
  run_gnuplot(script + data + plots, request.picture.path, words);
}

}  // namespace

void draw_models(const croquis::Table& table, const PlotRequest& request) {
  if (request.heat_map) throw std::invalid_argument("--heat-map: of rows of single heads, which croquis error makes");
  const croquis::Table shown = rows_of_curves(table, request.methods, request.features);
  const std::vector<ModelSummary> summaries = croquis::summarise_models(croquis::model_columns().rows(shown));
  if (is_layer_by_layer(summaries)) return draw_by_layer(summaries, request);
  Grouping grouping = grouping_of_models(summaries);
  const std::string metric = metric_of(request, grouping, "loss");
  if (!request.x.empty() && request.x != "features" && request.x != "flops" && request.x != "seconds") {
    throw std::invalid_argument(fmt::format("--x: '{}' is none of features, flops, seconds", request.x));
  }
  Picture picture = request.picture;
  if (picture.title.empty()) picture.title = subject_of_models(summaries);
  const std::string x = request.x == "features" ? "" : request.x;
  const std::vector<PlotLevel> levels = take_levels(grouping, summaries, metric, x.empty());
  draw_groups(grouping, metric, picture, Statistic::mean, x, levels,
              x == "flops" ? exact_flops_of(summaries) : std::numeric_limits<double>::quiet_NaN());
}
