#include "plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "dimension_summary.hpp"
#include "gnuplot.hpp"
#include "results/row_file.hpp"
#include "spectrum_summary.hpp"

namespace {

std::string axis_title(const std::string& metric) {
  if (metric == "spectral_abs") return "||O - O~||";
  if (metric == "spectral_rel") return "||O - O~|| / ||O||";
  if (metric == "frobenius_abs") return "||O - O~||_F";
  if (metric == "frobenius_rel") return "||O - O~||_F / ||O||_F";
  if (metric == "l1_error") return "||A - A~||_1 of a row of scores";
  if (metric == "squared_error") return "mean of (estimate / exp(x.y) - 1)^2";
  if (metric == "peak_bytes") return "peak memory of a call [bytes]";
  if (metric == "seconds") return "time of a call [s]";
  if (metric == "norm_error") return "| ||S^T x||^2 / ||x||^2 - 1 |";
  if (metric == "product_spectral_rel") return "||BV - B S S^T V|| / ||BV||";
  if (metric == "product_frobenius_rel") return "||BV - B S S^T V||_F / ||BV||_F";
  if (metric == "nystrom_spectral_rel") return "||M - M~|| / ||M||";
  if (metric == "nystrom_trace_rel") return "trace(M - M~) / trace(M)";
  return metric;
}

}  // namespace

void draw_groups(const std::vector<Group>& groups, const Grouping& grouping, const std::string& metric,
                 const std::string& path) {
  std::vector<std::string> labels;
  std::map<std::string, std::string> points;  // by label
  std::set<long long> sizes;
  std::set<std::string> dashed;
  for (const Group& g : groups) {
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
  const auto& key = groups.front().key;
  const auto input = key.find("input");
  std::string title = input == key.end() ? "all inputs" : input->second;
  for (const char* name : {"matrix", "n", "p", "rank", "keys", "precision", "threads"}) {
    if (const auto found = key.find(name); found != key.end() && name != grouping.x)
      title += fmt::format(", {} = {}", name, found->second);
  }
  script += fmt::format("set title {} noenhanced\n", gnuplot_string(title + ": mean, and 10 to 90 % of the trials"));
  script +=
      fmt::format("set xlabel {}\nset ylabel {} noenhanced\nset logscale xy\n",
                  gnuplot_string(grouping.x == "n" ? "tokens n" : "features d"), gnuplot_string(axis_title(metric)));
  script += "set format y '%g'\nset grid lc rgb '#dddddd'\nset key outside right top noenhanced\nset xtics (";
  std::string separator;
  for (const long long d : sizes) {
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

std::string default_metric(const std::vector<Group>& groups) {
  for (const char* metric :
       {"spectral_rel", "product_spectral_rel", "norm_error", "nystrom_spectral_rel", "l1_error", "seconds"}) {
    for (const Group& g : groups) {
      if (g.metric(metric) != nullptr) return metric;
    }
  }
  return "spectral_rel";
}

int run_plot(const std::string& file, std::string out, std::string metric) {
  if (out.empty()) out = beside(file, ".svg");
  check_plot_name(out);
  const croquis::CsvTable table = croquis::read_csv(file);
  const auto has = [&](const char* column) {
    return std::find(table.header.begin(), table.header.end(), column) != table.header.end();
  };
  if (has("singular_value") || has("d_stat")) {
    if (!metric.empty())
      throw std::invalid_argument("--metric: a result of croquis spectrum or dimension has one plot");
    if (has("d_stat")) {
      draw_dimension(dimension_curves(table), out);
    } else {
      draw_spectra(summarise_spectra(table), out);
    }
    fmt::print("plot     {}\n", out);
    return 0;
  }
  const Grouping& grouping = grouping_of(table);
  const std::size_t input = table.column("input");
  const bool several = std::any_of(table.rows.begin(), table.rows.end(),
                                   [&](const auto& row) { return row[input] != table.rows.front()[input]; });
  const std::vector<Group> groups = group_rows(table, several ? over_inputs(grouping) : grouping);
  if (metric.empty()) metric = default_metric(groups);
  if (std::find(grouping.metrics.begin(), grouping.metrics.end(), metric) == grouping.metrics.end()) {
    throw std::invalid_argument(fmt::format("--metric: '{}' is none of {}", metric, fmt::join(grouping.metrics, ", ")));
  }
  draw_groups(groups, grouping, metric, out);
  fmt::print("plot     {}\n", out);
  return 0;
}
