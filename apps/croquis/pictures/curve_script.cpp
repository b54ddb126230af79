#include "pictures/curve_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "files/targets.hpp"
#include "pictures/curves.hpp"
#include "pictures/gnuplot.hpp"

namespace {

bool has_rows(const Curve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(), [](const CurvePoint& p) { return p.rows_lo > 0; });
}

// The parts of gnuplot's command, in the order in which it draws them.
struct PlotParts {
  std::string bands, lines, across, intervals, stars, bounds;
};

PlotStyle style_of(const Curve& curve, std::size_t& styles) {
  if (!curve.is_bracket()) return plot_style(styles++);
  if (curve.label == "exact") return {"#000000", 9, 1};
  return {"#000000", curve.label == "v-mean" ? 5 : 7, 2};
}

void add_curve(PlotParts& parts, const Curve& curve, std::size_t i, const std::string& x, const PlotStyle& style,
               bool band, const char* heavy_tailed) {
  const bool open = !is_softmax(curve.target);
  if (curve.is_at_one_place()) {
    parts.bands +=
        fmt::format("$d{} using {}:2:3:4 with yerrorbars lc rgb '{}' lw 1.5 pt 0 notitle, ", i, x, style.colour);
  } else if (band) {
    parts.bands += fmt::format("${}{} using {}:3:4 with filledcurves lc rgb '{}' notitle, ",
                               curve.goes_right() ? "d" : "band", i, x, style.colour);
  }
  if (has_rows(curve)) {
    parts.bands +=
        fmt::format("$d{} using {}:2:7:8 with yerrorbars lc rgb '{}' lw 1 pt 0 notitle, ", i, x, style.colour);
    parts.intervals = "NaN with lines lc rgb '#000000' lw 1 title \"bars: 95 %, for the sample of rows\", ";
  }
  // A negative interval leaves the ground of a marker white, so that an open one is seen to be open.
  parts.lines +=
      fmt::format("$d{} using {}:2 with linespoints lc rgb '{}' lw 2 dt {} pt {} ps {} title {}, ", i, x, style.colour,
                  style.dash, style.marker - (open ? 1 : 0), open ? "1.2 pi -1" : "0.8", gnuplot_string(curve.label));
  if (std::any_of(curve.points.begin(), curve.points.end(), [](const CurvePoint& p) { return p.heavy_tailed; })) {
    parts.stars +=
        fmt::format("$d{} using {}:($5 > 0 ? $2 : NaN) with points lc rgb '{}' lw 1.5 pt 3 ps 1.6 title {}, ", i, x,
                    style.colour, parts.stars.empty() ? heavy_tailed : "''");
  }
}

void add_level(PlotParts& parts, const PlotLevel& level, std::size_t i, std::size_t& styles) {
  const bool exact = is_of_exact_attention(level);
  const std::string colour = exact ? "#000000" : plot_style(styles++).colour;
  if (level.error > 0)
    parts.bands += fmt::format("$level{} using 1:3:4 with filledcurves lc rgb '{}' notitle, ", i, colour);
  parts.across += fmt::format("$level{} using 1:2 with lines lc rgb '{}' lw {} dt 2 title {}, ", i, colour,
                              exact ? 1 : 2, gnuplot_string(level.label));
}

}  // namespace

bool has_spread(const Curve& curve, std::size_t curves) {
  return curve.is_at_one_place() || curves <= kMostBands;
}

std::string curve_data(const std::vector<Curve>& curves) {
  std::string data;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    data += fmt::format("$d{} << EOD\n", i);
    for (const CurvePoint& p : curves[i].points) {
      data += fmt::format("{:.17g} {:.17g} {:.17g} {:.17g} {} {:.17g} {:.17g} {:.17g}\n", p.x, p.y, p.lo, p.hi,
                          p.heavy_tailed ? 1 : 0, p.bound, p.rows_lo, p.rows_hi);
    }
    data += "EOD\n";
    if (curves[i].goes_right()) continue;
    std::vector<CurvePoint> band = curves[i].points;
    std::sort(band.begin(), band.end(), [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; });
    data += fmt::format("$band{} << EOD\n", i);
    for (const CurvePoint& p : band) data += fmt::format("{:.17g} {:.17g} {:.17g} {:.17g}\n", p.x, p.y, p.lo, p.hi);
    data += "EOD\n";
  }
  return data;
}

std::string level_data(const std::vector<PlotLevel>& levels, const XAxis& axis, bool linear) {
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

std::string upright_line(double flops) {
  return fmt::format("set arrow from {0:.9g}, graph 0 to {0:.9g}, graph 1 nohead lc rgb '#000000' dt 4\n", flops);
}

std::string curve_plots(const std::vector<Curve>& curves, bool several, const std::vector<PlotLevel>& levels,
                        bool upright, const std::vector<std::string>& columns, const char* heavy_tailed) {
  const std::string blank = "NaN with lines lc rgb '#ffffff' title ' ', ";  // a line of the legend
  PlotParts parts;
  std::vector<std::string> colours;
  std::size_t styles = 0;
  std::string target;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const Curve& curve = curves[i];
    const PlotStyle style = style_of(curve, styles);
    colours.push_back(style.colour);
    if (several && (i == 0 || curve.target != target)) {
      if (i > 0) parts.lines += blank;
      parts.lines +=
          fmt::format("NaN with lines lc rgb '#ffffff' title {}, ", gnuplot_string(legend_of_target(curve.target)));
      target = curve.target;
    }
    add_curve(parts, curve, i, columns[i], style, has_spread(curve, curves.size()), heavy_tailed);
  }
  for (const Guarantee& one : guarantees_of(curves)) {
    parts.bounds += fmt::format("$d{} using 1:6 with lines lc rgb '{}' lw 1.5 dt 3 title {}, ", one.curve,
                                one.shared ? "#000000" : colours[one.curve], gnuplot_string(one.title));
  }
  for (std::size_t i = 0; i < levels.size(); ++i) add_level(parts, levels[i], i, styles);
  if (upright)
    parts.across += fmt::format("NaN with lines lc rgb '#000000' dt 4 title {}, ", gnuplot_string(kFlopsOfExact));
  const std::string of_all = parts.across + parts.intervals + parts.stars + parts.bounds;
  std::string plots = "plot " + parts.bands + parts.lines + (several && !of_all.empty() ? blank : "") + of_all;
  plots.resize(plots.size() - 2);
  return plots + '\n';
}
