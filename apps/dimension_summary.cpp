#include "dimension_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <stdexcept>

#include "gnuplot.hpp"
#include "results/groups.hpp"
#include "results/whole_file.hpp"

namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

bool differs(const std::vector<DimensionCurve>& curves, std::string DimensionCurve::*part) {
  return std::any_of(curves.begin(), curves.end(), [&](const auto& c) { return c.*part != curves.front().*part; });
}

// What tells the curves apart.
void label(std::vector<DimensionCurve>& curves) {
  const bool input = differs(curves, &DimensionCurve::input), width = differs(curves, &DimensionCurve::width);
  for (DimensionCurve& c : curves) {
    c.label = fmt::format("eps = {}", c.epsilon);
    if (width) c.label = fmt::format("width {}, ", c.width) + c.label;
    if (input) c.label = c.input + ", " + c.label;
  }
}

std::string points(const std::vector<double>& x, const std::vector<double>& y) {
  std::string text = "0 NaN\n";  // gnuplot refuses a block without a line
  for (std::size_t i = 0; i < x.size(); ++i) {
    text += y[i] > 0 ? fmt::format("{} {:.9g}\n", x[i], y[i]) : fmt::format("{} NaN\n", x[i]);
  }
  return text;
}

}  // namespace

std::vector<DimensionCurve> dimension_curves(const croquis::CsvTable& table) {
  std::vector<DimensionCurve> curves;
  const std::size_t input = table.column("input"), width = table.column("width"), epsilon = table.column("epsilon"),
                    status = table.column("status");
  for (const auto& row : table.rows) {
    if (row[status] != "ok") continue;
    auto curve = std::find_if(curves.begin(), curves.end(), [&](const DimensionCurve& c) {
      return c.input == row[input] && c.width == row[width] && c.epsilon == row[epsilon];
    });
    if (curve == curves.end()) {
      curves.push_back({row[input], row[width], row[epsilon], {}, {}, {}, {}, {}});
      curve = curves.end() - 1;
    }
    const auto number = [&](const char* name) { return number_in(row[table.column(name)]).value_or(kUndefined); };
    curve->n.push_back(number("n"));
    curve->d_stat.push_back(number("d_stat"));
    curve->d_theorem.push_back(number("d_theorem"));
    curve->d_suffices.push_back(number("d_suffices"));
  }
  // Short forms for people: 17 digits are for the rows.
  for (DimensionCurve& c : curves) {
    c.width = fmt::format("{:g}", number_in(c.width).value_or(kUndefined));
    c.epsilon = fmt::format("{:g}", number_in(c.epsilon).value_or(kUndefined));
  }
  label(curves);
  return curves;
}

void write_dimension_summary(const std::string& path, const std::vector<DimensionCurve>& curves) {
  using croquis::csv_number;
  std::ostringstream file;
  file << "input,width,epsilon,metric,sizes,first_n,last_n,first,last,exponent\n";
  for (const DimensionCurve& c : curves) {
    const std::pair<const char*, const std::vector<double>*> metrics[] = {
        {"d_stat", &c.d_stat}, {"d_theorem", &c.d_theorem}, {"d_suffices", &c.d_suffices}};
    for (const auto& [name, values] : metrics) {
      const double exponent =
          c.n.size() < 2 ? kUndefined : std::log(values->back() / values->front()) / std::log(c.n.back() / c.n.front());
      file << fmt::format("{},{},{},{},{},{},{},{},{},{}\n", croquis::csv_field(c.input), c.width, c.epsilon, name,
                          c.n.size(), csv_number(c.n.front()), csv_number(c.n.back()), csv_number(values->front()),
                          csv_number(values->back()), csv_number(exponent));
    }
  }
  write_whole(path, file.str());
}

void print_dimension(const croquis::CsvTable& table) {
  std::size_t width = 5;
  for (const auto& row : table.rows) width = std::max(width, row[table.column("input")].size());
  fmt::print(
      "\nd_stat of the lift (2n points), lambda = eps ||C||; d: landmarks that Theorem 2 asks for, and that do\n\n");
  fmt::print("{:<{}}  {:>6}  {:>6}  {:>6}  {:>9}  {:>9}  {:>8}  {:>6}  {:>10}  {:>10}  {}\n", "input", width, "n",
             "width", "eps", "||C||", "d_stat", "max l_i", "beta", "d theorem", "d suffices", "method");
  for (const auto& row : table.rows) {
    const auto text = [&](const char* name) {
      const auto value = number_in(row[table.column(name)]);
      return value ? fmt::format("{:.4g}", *value) : std::string("-");
    };
    const auto whole = [&](const char* name) {
      const auto value = number_in(row[table.column(name)]);
      return value ? fmt::format("{:.0f}", *value) : std::string("-");
    };
    fmt::print("{:<{}}  {:>6}  {:>6}  {:>6}  {:>9}  {:>9}  {:>8}  {:>6}  {:>10}  {:>10}  {}\n",
               row[table.column("input")], width, row[table.column("n")], text("width"), text("epsilon"),
               text("norm_c"), text("d_stat"), text("leverage_max"), text("beta"), whole("d_theorem"),
               whole("d_suffices"), row[table.column("method")]);
  }
}

void draw_dimension(const std::vector<DimensionCurve>& curves, const std::string& path) {
  std::set<double> sizes;
  for (const DimensionCurve& c : curves) sizes.insert(c.n.begin(), c.n.end());
  if (sizes.empty()) throw std::invalid_argument(fmt::format("{}: no row to draw", path));
  std::string data, above = "plot ", below = "plot ";
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const DimensionCurve& c = curves[i];
    data += fmt::format("$s{0} << EOD\n{1}EOD\n$t{0} << EOD\n{2}EOD\n$d{0} << EOD\n{3}EOD\n", i, points(c.n, c.d_stat),
                        points(c.n, c.d_theorem), points(c.n, c.d_suffices));
    const std::string comma = i + 1 < curves.size() ? ", " : "\n";
    const std::string style = fmt::format("lc rgb '{}' lw 2 pt {} ps 0.8", plot_colour(i), 5 + i / 8);
    above += fmt::format("$s{} using 1:2 with linespoints {} title {} noenhanced{}", i, style, gnuplot_string(c.label),
                         comma);
    below += fmt::format(
        "$t{0} using 1:2 with linespoints {1} dt 2 notitle, $d{0} using 1:2 with linespoints {1} "
        "title {2} noenhanced{3}",
        i, style, gnuplot_string(c.label), comma);
  }
  std::string tics, separator;
  for (const double n : sizes) {
    tics += fmt::format("{}'{}' {}", separator, n, n);
    separator = ", ";
  }
  std::string script = plot_header(path, 1.4) + data + "set multiplot layout 2,1\nset grid lc rgb '#dddddd'\n";
  script += fmt::format("set logscale xy\nset format y '%g'\nset xlabel 'tokens n'\nset xtics ({})\n", tics);
  script += fmt::format("set xrange [{}:{}]\nset key outside right top\n", *sizes.begin() / 1.1, *sizes.rbegin() * 1.1);
  const bool one = !differs(curves, &DimensionCurve::input);
  script += fmt::format(
      "set title {} noenhanced\n",
      gnuplot_string((one ? curves.front().input + ": s" : std::string("S")) + "tatistical dimension of the lift"));
  script += "set ylabel 'd_stat' noenhanced\n" + above;
  script += "set title 'landmarks: Theorem 2 (dashed) and enough (solid)'\nset ylabel 'd'\n" + below;
  run_gnuplot(script + "unset multiplot\n", path);
}
