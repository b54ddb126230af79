#include "verify_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <vector>

#include "claims/claim.hpp"
#include "gnuplot.hpp"
#include "results/groups.hpp"

namespace {

struct Point {
  double x, measured, bound;
};

// The number behind "name = " in "other = 1; name = 2".
std::optional<double> number_named(const std::string& name, const std::string& text) {
  const std::string sought = "; " + name + " = ", all = "; " + text;
  const std::size_t at = all.find(sought);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = at + sought.size();
  return number_in(all.substr(begin, all.find_first_of("; ", begin) - begin));
}

class Rows {
 public:
  explicit Rows(const croquis::CsvTable& table) : table_(table) {}

  // By subject.
  std::map<std::string, std::vector<Point>> curves_of(const Claim& claim) const {
    std::map<std::string, std::vector<Point>> curves;
    for (const auto& row : table_.rows) {
      const std::string& input = field(row, "input");
      if (field(row, "claim") != claim.id || input == "all") continue;
      const bool column = claim.curve == "n" || claim.curve == "d" || claim.curve == "p";
      const auto x = column ? number_in(field(row, claim.curve)) : number_named(claim.curve, field(row, "hypotheses"));
      auto measured = number_in(field(row, "observed"));
      if (!measured) measured = number_in(field(row, "estimate"));
      if (!x || *x <= 0 || !measured || *measured <= 0) continue;
      curves[input.substr(0, input.find(' '))].push_back(
          {*x, *measured, number_in(field(row, "bound")).value_or(Finding::kNone)});
    }
    for (auto& [subject, points] : curves) {
      std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
    }
    std::erase_if(curves, [](const auto& curve) { return curve.second.size() < 2; });
    return curves;
  }

 private:
  const std::string& field(const std::vector<std::string>& row, const std::string& name) const {
    return row[table_.column(name)];
  }
  const croquis::CsvTable& table_;
};

std::string panel(const Claim& claim, const std::map<std::string, std::vector<Point>>& curves) {
  std::string script = fmt::format("set title {} noenhanced\nset xlabel {} noenhanced\n",
                                   gnuplot_string(claim.id + ", " + claim.source), gnuplot_string(claim.curve));
  std::string plots;
  std::size_t i = 0;
  for (const auto& [subject, points] : curves) {
    std::string measured, bound;
    for (const Point& p : points) {
      measured += fmt::format("{:.17g} {:.17g}\n", p.x, p.measured);
      if (p.bound > 0) bound += fmt::format("{:.17g} {:.17g}\n", p.x, p.bound);
    }
    script += fmt::format("$m{0} << EOD\n{1}EOD\n", i, measured);
    plots += fmt::format("{}$m{} with linespoints lc rgb '{}' lw 2 pt {} ps 0.7 title {}", i == 0 ? "plot " : ", ", i,
                         plot_colour(i), 5 + i % 8, gnuplot_string(subject));
    if (!bound.empty()) {
      script += fmt::format("$b{0} << EOD\n{1}EOD\n", i, bound);
      plots += fmt::format(", $b{} with lines lc rgb '{}' lw 2 dt 2 title {}", i, plot_colour(i),
                           i == 0 ? "'bound (dashed)'" : "''");
    }
    ++i;
  }
  return script + plots + '\n';
}

}  // namespace

void draw_curves(const croquis::CsvTable& table, const std::string& path) {
  const Rows rows(table);
  std::vector<std::string> panels;
  for (const Claim& claim : all_claims()) {
    if (claim.curve.empty()) continue;
    const auto curves = rows.curves_of(claim);
    if (!curves.empty()) panels.push_back(panel(claim, curves));
  }
  if (panels.empty()) throw std::invalid_argument(fmt::format("{}: none of these claims has a curve to draw", path));
  const double height = panels.size() == 1 ? 1 : 0.75 * static_cast<double>(panels.size());
  std::string script = plot_header(path, height);
  script += fmt::format("set multiplot layout {},1\nset logscale xy\nset format '%g'\nset grid lc rgb '#dddddd'\n",
                        panels.size());
  script += "set key outside right top noenhanced\n";
  for (const std::string& one : panels) script += one;
  run_gnuplot(script + "unset multiplot\nset output\n", path);
}
