#include "report/chart_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/io/json.hpp>

#include "files/escape.hpp"
#include "report/chart_svg.hpp"
#include "report/table_html.hpp"

namespace {
using nlohmann::json;

json short_number(double x) {
  return std::isfinite(x) ? json(in_chart(x)) : json();
}

json short_value(const ChartValue& value) {
  if (std::isnan(value.at)) return nullptr;
  json list = {short_number(value.at), short_number(value.lo), short_number(value.hi)};
  if (!std::isnan(value.bound) || value.heavy_tailed || !value.note.empty()) {
    list.insert(list.end(), {short_number(value.bound), value.heavy_tailed ? 1 : 0, value.note});
  }
  return list;
}

// What page.js reads.
std::string data_of(const Chart& chart) {
  const std::map<std::string, CurveStyle> styles = styles_of(chart);
  const auto axes = [](const std::vector<ChartAxis>& list) {
    json all = json::array();
    for (const ChartAxis& axis : list)
      all.push_back({{"name", axis.name}, {"label", axis.label}, {"log", axis.logarithmic}});
    return all;
  };
  json data = {{"title", chart.title}, {"x", axes(chart.x)}, {"y", axes(chart.y)}, {"views", json::array()}};
  for (const ChartView& view : chart.views) {
    json curves = json::array();
    for (const ChartCurve& curve : view.curves) {
      const CurveStyle& style = styles.at(curve.label);
      json points = json::array();
      for (const ChartPoint& point : curve.points) {
        json x = json::array(), y = json::array();
        for (const double at : point.x) x.push_back(short_number(at));
        for (const ChartValue& value : point.y) y.push_back(short_value(value));
        points.push_back({std::move(x), std::move(y)});
      }
      curves.push_back({{"label", curve.label},
                        {"target", curve.target},
                        {"style", style.classes},
                        {"marker", marker_path(style.marker)},
                        {"open", curve.open},
                        {"joined", curve.joined},
                        {"across", curve.across},
                        {"points", std::move(points)}});
    }
    data["views"].push_back(
        {{"name", view.name}, {"meaning", meaning_in_picture(chart, view)}, {"curves", std::move(curves)}});
  }
  return croquis::json_text(data, -1, true);
}

std::string legend_of(const Chart& chart) {
  const std::map<std::string, CurveStyle> styles = styles_of(chart);
  std::string items, target;
  for (const ChartCurve& curve : chart.views.front().curves) {
    if (!curve.target.empty() && curve.target != target) {
      target = curve.target;
      items += fmt::format("<li class=\"target\">{}</li>", html(target));
    }
    items += fmt::format("<li><label>{}<span>{}</span></label></li>", svg_of_swatch(curve, styles.at(curve.label)),
                         html(curve.label));
  }
  const std::string hint =
      has_many_curves(chart.views.front())
          ? "<p class=\"meaning\">Bands and bars are drawn where at most eight curves are shown.</p>"
          : "";
  return fmt::format("<ul class=\"legend\" aria-label=\"Curves\">{}</ul><p class=\"meaning missing\">{}</p>{}", items,
                     html(missing_in_svg(chart)), hint);
}

ReportTable table_of(const Chart& chart) {
  const ChartView& view = chart.views.front();
  ReportTable table{chart.title + ": the numbers", meaning_with(view, "in parentheses "), {}, {}};
  bool targets = false;
  for (const ChartCurve& curve : view.curves) targets = targets || !curve.target.empty();
  table.columns.push_back({"curve", "", false});
  if (targets) table.columns.push_back({"approximates", "", false});
  for (const ChartAxis& axis : chart.x) table.columns.push_back({axis.name, axis.label});
  // What curves can run over is a column already: the flops of a cost.
  const auto is_place = [&](const ChartAxis& axis) {
    return std::any_of(chart.x.begin(), chart.x.end(), [&](const ChartAxis& x) { return x.name == axis.name; });
  };
  for (const ChartAxis& axis : chart.y) {
    if (is_place(axis)) continue;
    table.columns.push_back({axis.name, axis.label});
    if (&axis == &chart.y.front() && !chart.bound.empty()) table.columns.push_back({"guaranteed", chart.bound});
  }
  for (const ChartCurve& curve : view.curves) {
    if (!curve.measured) continue;
    for (const ChartPoint& point : curve.points) {
      std::vector<ReportCell> row = {{curve.label}};
      if (targets) row.push_back({curve.target});
      for (std::size_t a = 0; a < point.x.size(); ++a) {
        row.push_back(number_cell(curve.across.contains(a) ? ChartValue::kNone : point.x[a]));
      }
      for (std::size_t a = 0; a < point.y.size(); ++a) {
        if (is_place(chart.y[a])) continue;
        row.push_back(interval_cell(point.y[a]));
        if (a == 0 && !chart.bound.empty()) row.push_back(number_cell(point.y[a].bound));
      }
      table.rows.push_back(std::move(row));
      if (!curve.across.empty()) break;
    }
  }
  return table;
}

}  // namespace

std::string html_of_chart(const Chart& chart, const std::string& id) {
  const std::string bound = chart.bound.empty() ? "" : "; " + chart.bound;
  return fmt::format(
      "<figure class=\"chart\" id=\"{0}\">\n<figcaption><h3>{1}</h3><p class=\"meaning\">{2}{7}</p></figcaption>\n"
      "<div class=\"controls\" hidden></div>\n<div class=\"scroll\">{3}</div>\n<output "
      "class=\"point\"></output>\n{4}\n{5}\n"
      "<script type=\"application/json\">{6}</script>\n</figure>\n",
      id, html(chart.title), html(meaning_in_picture(chart, chart.views.front())), svg_of_chart(chart, id),
      legend_of(chart), html_of_table(table_of(chart)), json_in_script(data_of(chart)), html(bound));
}
