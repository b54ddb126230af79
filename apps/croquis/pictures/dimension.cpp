#include "pictures/dimension.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/core/counted.hpp>
#include <initializer_list>
#include <set>
#include <utility>

#include "files/text_table.hpp"
#include "pictures/axes.hpp"
#include "pictures/gnuplot.hpp"

using croquis::DimensionCurve;
using croquis::DimensionRow;

namespace {

template <typename Part>
bool differs(const std::vector<DimensionCurve>& curves, Part DimensionCurve::*part) {
  return std::any_of(curves.begin(), curves.end(), [&](const auto& c) { return c.*part != curves.front().*part; });
}

// What tells the curves apart, one each.
std::vector<std::string> labels_of(const std::vector<DimensionCurve>& curves) {
  const bool input = differs(curves, &DimensionCurve::input), width = differs(curves, &DimensionCurve::width);
  std::vector<std::string> labels;
  for (const DimensionCurve& c : curves) {
    std::string label = fmt::format("eps = {:g}", c.epsilon);
    if (width) label = fmt::format("width {:g}, ", c.width) + label;
    if (input) label = c.input + ", " + label;
    labels.push_back(std::move(label));
  }
  return labels;
}

// Whether draws were made, and 2n landmarks were not enough.
bool lacks_landmarks(const DimensionRow& row) {
  return row.status == "ok" && row.trials > 0 && !std::isfinite(row.d_suffices);
}

std::string points(const std::vector<double>& x, const std::vector<double>& y) {
  std::string text = "0 NaN\n";  // gnuplot refuses a block without a line
  for (std::size_t i = 0; i < x.size(); ++i) {
    text += y[i] > 0 ? fmt::format("{} {:.9g}\n", x[i], y[i]) : fmt::format("{} NaN\n", x[i]);
  }
  return text;
}

// The vertical axis of a panel, in place of the one before. A d that suffices is often 10 or 100 at every n, and would
// lie on the frame.
std::string vertical_axis(const std::vector<DimensionCurve>& curves,
                          std::initializer_list<std::vector<double> DimensionCurve::*> drawn) {
  AxisSpan span;
  for (const DimensionCurve& c : curves) {
    for (const auto values : drawn) {
      for (const double value : c.*values) span.add(value);
    }
  }
  return "set yrange [*:*]\nset ytics autofreq\n" + logarithmic_axis_around('y', span);
}

}  // namespace

std::string meaning_of_sufficient(const std::vector<DimensionRow>& rows) {
  const auto drawn = std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row.trials > 0; });
  if (drawn == rows.end()) return "";
  return fmt::format("d suffices: with it at most {:g} % of {} of uniform landmarks have ||C - C~|| > eps ||C||",
                     100 * drawn->delta, croquis::counted(drawn->trials, "draw"));
}

void print_dimensions(const std::vector<DimensionRow>& rows) {
  constexpr auto left = TextColumn::Side::left, right = TextColumn::Side::right;
  TextTable table({{left, 5},
                   {right, 6},
                   {right, 6},
                   {right, 6},
                   {right, 9},
                   {right, 9},
                   {right, 8},
                   {right, 6},
                   {right, 10},
                   {right, 10},
                   {left}});
  table.add({"input", "n", "width", "eps", "||C||", "d_stat", "max l_i", "beta", "d theorem", "d suffices", "method"});
  const auto text = [](double x) { return std::isfinite(x) ? fmt::format("{:.4g}", x) : std::string("-"); };
  const auto whole = [](double x) { return std::isfinite(x) ? fmt::format("{:.0f}", x) : std::string("-"); };
  for (const DimensionRow& row : rows) {
    table.add({row.input, std::to_string(row.n), text(row.width), text(row.epsilon), text(row.norm_c), text(row.d_stat),
               text(row.leverage_max), text(row.beta), whole(row.d_theorem), whole(row.d_suffices), row.method});
  }
  fmt::print(
      "\nd_stat of the lift (2n points), lambda = eps ||C||; d: landmarks that {} asks for, and that suffice\n\n{}",
      kDimensionTheorem, table.text());
  std::vector<std::string> remarks = {meaning_of_sufficient(rows)};
  const auto any = [&](const auto& is) { return std::any_of(rows.begin(), rows.end(), is); };
  if (any(lacks_landmarks))
    remarks.emplace_back("d suffices -: not even 2n landmarks do, as many as the lift has points");
  if (any([](const DimensionRow& row) { return row.d_theorem > 2 * static_cast<double>(row.n); })) {
    remarks.emplace_back("where d theorem is above 2n, it asks for more landmarks than the lift has points");
  }
  for (const std::string& remark : remarks) {
    if (!remark.empty()) fmt::print("\n{}\n", remark);
  }
}

void draw_dimension(const std::vector<DimensionCurve>& curves, const Picture& picture) {
  std::set<double> sizes;
  for (const DimensionCurve& c : curves) sizes.insert(c.n.begin(), c.n.end());
  if (sizes.empty()) throw NothingToDraw(picture, "no row to draw");
  const std::vector<std::string> labels = labels_of(curves);
  std::string data, above = "plot ", below = "plot ";
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const DimensionCurve& c = curves[i];
    data += fmt::format("$s{0} << EOD\n{1}EOD\n$t{0} << EOD\n{2}EOD\n$d{0} << EOD\n{3}EOD\n", i, points(c.n, c.d_stat),
                        points(c.n, c.d_theorem), points(c.n, c.d_suffices));
    const std::string comma = i + 1 < curves.size() ? ", " : "\n";
    const auto marked = [&](std::size_t marker) {
      return fmt::format("lc rgb '{}' lw 2 pt {} ps 0.8", plot_colour(i), marker + 2 * (i / 8));
    };
    const std::string open = marked(4), style = marked(5);  // squares, then circles
    above += fmt::format("$s{} using 1:2 with linespoints {} title {} noenhanced{}", i, style,
                         gnuplot_string(labels[i]), comma);
    below += fmt::format(
        "$t{0} using 1:2 with linespoints {1} dt 2 notitle, $d{0} using 1:2 with linespoints {2} "
        "title {3} noenhanced{4}",
        i, open, style, gnuplot_string(labels[i]), comma);
  }
  PlotLegend legend{labels.size() + 1, 0};
  for (const std::string& label : labels) legend.letters = std::max(legend.letters, label.size());
  std::string script =
      plot_header(picture, 1.4, legend) + data + "set multiplot layout 2,1\nset grid lc rgb '#dddddd'\n";
  script += "set logscale xy\nset format y '%g'\nset xlabel 'tokens n'\n" + x_axis(sizes, true).script +
            "set key outside right top vertical Left reverse maxcols 1 samplen 3\n";
  const bool one = !differs(curves, &DimensionCurve::input);
  const PlotWords words(picture,
                        (one ? curves.front().input + ": s" : std::string("S")) + "tatistical dimension of the lift",
                        {}, "d_stat, and landmarks d, asked for and sufficient, against tokens n");
  script += plot_title(words);
  script += "set ylabel 'd_stat' noenhanced\n" + vertical_axis(curves, {&DimensionCurve::d_stat}) + above;
  const bool missing = std::any_of(curves.begin(), curves.end(), [](const DimensionCurve& c) {
    return std::any_of(c.d_suffices.begin(), c.d_suffices.end(), [](double d) { return !(d > 0); });
  });
  script += fmt::format("set title {}.\"\\n\".{}\nset ylabel 'landmarks d'\n",
                        gnuplot_string(fmt::format("dashed, open: asked for by {}", kDimensionTheorem)),
                        gnuplot_string(std::string("solid, filled: suffice in all but a share delta of the draws") +
                                       (missing ? "; missing: not even 2n do" : "")));
  script += vertical_axis(curves, {&DimensionCurve::d_theorem, &DimensionCurve::d_suffices}) + below;
  run_gnuplot(script + "unset multiplot\n", picture.path, words);
}
