#include "verify_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/claims/ledger.hpp>
#include <map>
#include <stdexcept>
#include <vector>

#include "gnuplot.hpp"
#include "results/groups.hpp"
#include "verify_ledger.hpp"

using namespace croquis::claims;

namespace {

constexpr std::size_t kMostCurves = 8;  // as many as there are colours

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

// The input without what the curve runs over: "text:sample pilot d=64" -> "text:sample pilot".
std::string series_of(std::string input, const std::string& name) {
  for (const std::string& sought : {" " + name + " = ", " " + name + "="}) {
    const std::size_t at = input.find(sought);
    if (at == std::string::npos) continue;
    const std::size_t end = input.find(' ', at + sought.size());
    return input.erase(at, end == std::string::npos ? std::string::npos : end - at);
  }
  return input;
}

class Rows {
 public:
  explicit Rows(const croquis::CsvTable& table) : table_(table) {}

  // By series, of two points at least. Where a claim has observed values with a bound, those alone: its estimates may
  // be of another quantity.
  std::map<std::string, std::vector<Point>> curves_of(const Claim& claim) const {
    const auto observed = curves_of(claim, "observed");
    return observed.empty() ? curves_of(claim, "estimate") : observed;
  }

 private:
  std::map<std::string, std::vector<Point>> curves_of(const Claim& claim, const char* value) const {
    std::map<std::string, std::vector<Point>> curves;
    for (const auto& row : table_.rows) {
      const std::string& input = field(row, "input");
      if (field(row, "claim") != claim.id || input == kWholeInput) continue;
      const bool column = claim.curve == "n" || claim.curve == "d" || claim.curve == "p";
      const auto x = column ? number_in(field(row, claim.curve)) : number_named(claim.curve, field(row, "hypotheses"));
      const auto measured = number_in(field(row, value));
      if (!x || !is_drawable(*x) || !measured || !is_drawable(*measured)) continue;
      curves[series_of(input, claim.curve)].push_back(
          {*x, *measured, number_in(field(row, "bound")).value_or(Finding::kNone)});
    }
    for (auto& [series, points] : curves) {
      std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
    }
    std::erase_if(curves, [](const auto& curve) { return curve.second.size() < 2; });
    return curves;
  }

  const std::string& field(const std::vector<std::string>& row, const std::string& name) const {
    return row[table_.column(name)];
  }
  const croquis::CsvTable& table_;
};

std::string panel(const Claim& claim, const std::map<std::string, std::vector<Point>>& curves) {
  std::string title = claim.id + ", " + claim.source;
  if (curves.size() > kMostCurves) title += fmt::format(" ({} of {} curves)", kMostCurves, curves.size());
  std::string script = fmt::format("set title {} noenhanced\nset xlabel {} noenhanced\n", gnuplot_string(title),
                                   gnuplot_string(claim.curve));
  std::string plots;
  std::size_t i = 0;
  for (const auto& [series, points] : curves) {
    if (i == kMostCurves) break;
    std::string measured, bound;
    for (const Point& p : points) {
      measured += fmt::format("{:.17g} {:.17g}\n", p.x, p.measured);
      if (is_drawable(p.bound)) bound += fmt::format("{:.17g} {:.17g}\n", p.x, p.bound);
    }
    script += fmt::format("$m{0} << EOD\n{1}EOD\n", i, measured);
    plots += fmt::format("{}$m{} with linespoints lc rgb '{}' lw 2 pt {} ps 0.7 title {}", i == 0 ? "plot " : ", ", i,
                         plot_colour(i), 5 + i % 8, gnuplot_string(series));
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
  const double height = panels.size() == 1 ? 1 : 0.6 * static_cast<double>(panels.size());
  std::string script = plot_header(path, height);
  script += fmt::format("set multiplot layout {},1\nset logscale xy\nset format '%g'\nset grid lc rgb '#dddddd'\n",
                        panels.size());
  script += "set key outside right top noenhanced\n";
  for (const std::string& one : panels) script += one;
  run_gnuplot(script + "unset multiplot\n", path);
}
