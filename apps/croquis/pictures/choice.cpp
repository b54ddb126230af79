#include "pictures/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/measure/choose.hpp>
#include <map>
#include <stdexcept>

#include "pictures/gnuplot.hpp"

using croquis::ChoiceRow;

void draw_choices(const croquis::Table& table, const PlotRequest& request) {
  require_one_picture(request, "choose");
  const std::vector<ChoiceRow> rows = croquis::choice_columns().rows(table);
  std::vector<std::string> methods;
  std::map<std::pair<std::string, bool>, std::string> points;  // by method and whether it is chosen
  std::size_t exact = 0;
  for (const ChoiceRow& row : rows) {
    if (row.status == "exact") ++exact;
    if (row.status == "exact" || !is_drawable(row.error_q95) || !is_drawable(row.cost_ratio)) continue;
    if (std::find(methods.begin(), methods.end(), row.method) == methods.end()) methods.push_back(row.method);
    points[{row.method, row.status == "chosen"}] += fmt::format("{:.17g} {:.17g}\n", row.cost_ratio, row.error_q95);
  }
  if (points.empty()) {
    throw std::invalid_argument(
        fmt::format("{}: nothing but exact attention is chosen, which is no point to draw", request.picture.path));
  }
  const ChoiceRow& first = rows.front();
  std::string data, plots;
  std::size_t letters = 0, lines = 1;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    for (const bool chosen : {true, false}) {
      const auto found = points.find({methods[i], chosen});
      if (found == points.end()) continue;
      const std::string label = methods[i] + (chosen ? "" : ", undecided");
      letters = std::max(letters, label.size());
      const PlotStyle style = plot_style(i);
      data += fmt::format("$d{} << EOD\n{}EOD\n", lines, found->second);
      plots += fmt::format(", $d{} using 1:2 with points pt {} ps 1 lc rgb '{}' title {}", lines,
                           chosen ? style.marker : style.marker - 1, style.colour, gnuplot_string(label));
      ++lines;
    }
  }
  std::string script = plot_header(request.picture, 1, {lines, letters});
  script += picture_title(
      request.picture, fmt::format("{}{}", first.input, rows.size() > 1 ? ", ..." : ""),
      {fmt::format("{} choices, {} of them exact attention (not drawn)", rows.size(), exact),
       fmt::format("eps = {:g}, delta = {:g}, confidence {:g}", first.eps, first.delta, first.confidence)});
  script += fmt::format(
      "set xlabel {} noenhanced\nset ylabel {} noenhanced\nset logscale xy\nset format xy '%g'\n"
      "set grid lc rgb '#dddddd'\nset key outside right top vertical Left reverse maxcols 1 samplen 1 noenhanced\n",
      gnuplot_string(fmt::format("{} in units of exact attention's", first.cost_unit)),
      gnuplot_string(fmt::format("95 % quantile of {}", first.metric)));
  script += data + fmt::format("plot {:.17g} with lines lc rgb 'black' dt 2 title 'eps'{}\n", first.eps, plots);
  run_gnuplot(script, request.picture.path);
}
