#include "commands/verify/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/claims/claim_rows.hpp>
#include <croquis/claims/ledger.hpp>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "files/number.hpp"
#include "pictures/gnuplot.hpp"

using namespace croquis::claims;

namespace {

constexpr std::size_t kMostCurves = 8;  // as many as there are colours
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// The number behind "name = " in "other = 1; name = 2".
std::optional<double> number_named(const std::string& name, const std::string& text) {
  const std::string sought = "; " + name + " = ", all = "; " + text;
  const std::size_t at = all.find(sought);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = at + sought.size();
  return parse_number(all.substr(begin, all.find_first_of("; ", begin) - begin));
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

// What a curve of the claim runs over, for one finding.
std::optional<double> place_of(const Claim& claim, const ClaimRow& row) {
  const auto size = [](const std::optional<std::uint64_t>& count) {
    return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
  };
  if (claim.curve == "n") return size(row.n);
  if (claim.curve == "d") return size(row.d);
  if (claim.curve == "p") return size(row.p);
  return number_named(claim.curve, row.hypotheses);
}

std::string title_of_variable(const std::string& name) {
  const std::pair<const char*, const char*> titles[] = {
      {"n", "tokens n"},
      {"d", "features d"},
      {"p", "width p"},
      {"R", "norm R of queries and keys"},
      {"tail", "tail: the failure probability that the claim allows"}};
  for (const auto& [known, title] : titles) {
    if (name == known) return title;
  }
  return name;
}

// By series, of two points at least.
std::map<std::string, std::vector<ClaimPoint>> curves_of(const std::vector<ClaimRow>& rows, const Claim& claim,
                                                         double ClaimRow::*value) {
  std::map<std::string, std::vector<ClaimPoint>> curves;
  for (const ClaimRow& row : rows) {
    if (row.claim != claim.id || row.input == kWholeInput) continue;
    const auto x = place_of(claim, row);
    const double measured = row.*value;
    if (!x || !is_drawable(*x) || !is_drawable(measured)) continue;
    const bool estimate = value == &ClaimRow::estimate;
    curves[series_of(row.input, claim.curve)].push_back(
        {*x, measured, row.bound, estimate ? row.ci_lo : kNone, estimate ? row.ci_hi : kNone});
  }
  for (auto& [series, points] : curves) {
    std::sort(points.begin(), points.end(), [](const ClaimPoint& a, const ClaimPoint& b) { return a.x < b.x; });
  }
  std::erase_if(curves, [](const auto& curve) { return curve.second.size() < 2; });
  return curves;
}

// Where a claim has observed values with a bound, those alone: its estimates may be of another quantity.
ClaimCurves curves_of(const std::vector<ClaimRow>& rows, const Claim& claim) {
  ClaimCurves curves{claim.id + ", " + claim.source, title_of_variable(claim.curve),
                     claim.kind == "probability" ? "observed: a quantile of the error" : "observed: the error",
                     curves_of(rows, claim, &ClaimRow::observed)};
  if (curves.series.empty()) {
    curves.measured = "estimate";
    curves.series = curves_of(rows, claim, &ClaimRow::estimate);
  }
  return curves;
}

std::string panel(const ClaimCurves& claim) {
  const auto& curves = claim.series;
  std::string title = claim.title;
  if (curves.size() > kMostCurves) title += fmt::format(" ({} of {} curves)", kMostCurves, curves.size());
  std::string script =
      fmt::format("set title {} noenhanced\nset xlabel {} noenhanced\nset ylabel {} noenhanced\n",
                  gnuplot_string(title), gnuplot_string(claim.variable), gnuplot_string(claim.measured));
  std::string plots;
  std::size_t i = 0;
  bool bounds = false;
  for (const auto& [series, points] : curves) {
    if (i == kMostCurves) break;
    std::string measured, bound;
    bool intervals = false;
    for (const ClaimPoint& p : points) {
      const bool interval = is_drawable(p.lo) && is_drawable(p.hi);
      measured += fmt::format("{:.17g} {:.17g} {:.17g} {:.17g}\n", p.x, p.measured, interval ? p.lo : p.measured,
                              interval ? p.hi : p.measured);
      intervals = intervals || interval;
      if (is_drawable(p.bound)) bound += fmt::format("{:.17g} {:.17g}\n", p.x, p.bound);
    }
    script += fmt::format("$m{0} << EOD\n{1}EOD\n", i, measured);
    plots += fmt::format("{}$m{} with linespoints lc rgb '{}' lw 2 pt {} ps 0.7 title {}", i == 0 ? "plot " : ", ", i,
                         plot_colour(i), 5 + i % 8, gnuplot_string(series));
    if (intervals)
      plots += fmt::format(", $m{} using 1:2:3:4 with yerrorbars lc rgb '{}' pt 0 notitle", i, plot_colour(i));
    if (!bound.empty()) {
      script += fmt::format("$b{0} << EOD\n{1}EOD\n", i, bound);
      // A bound at one place alone is a cross.
      plots += fmt::format(", $b{} with linespoints lc rgb '{}' lw 2 dt 2 pt 2 ps 0.8 notitle", i, plot_colour(i));
      bounds = true;
    }
    ++i;
  }
  if (bounds) plots += ", NaN with linespoints lc rgb '#000000' lw 2 dt 2 pt 2 ps 0.8 title 'bound'";
  return script + plots + '\n';
}

// Of all panels, whose legends have one width.
PlotLegend legend_of(const std::vector<ClaimCurves>& claims) {
  PlotLegend legend;
  for (const ClaimCurves& claim : claims) {
    legend.lines += std::min(kMostCurves, claim.series.size()) + 1;
    for (const auto& [series, points] : claim.series) legend.letters = std::max(legend.letters, series.size());
  }
  return legend;
}

}  // namespace

std::vector<ClaimCurves> claim_curves(const std::vector<ClaimRow>& rows) {
  std::vector<ClaimCurves> all;
  for (const Claim& claim : all_claims()) {
    if (claim.curve.empty()) continue;
    ClaimCurves curves = curves_of(rows, claim);
    if (!curves.series.empty()) all.push_back(std::move(curves));
  }
  return all;
}

void draw_curves(const std::vector<ClaimRow>& rows, const Picture& picture) {
  const std::vector<ClaimCurves> claims = claim_curves(rows);
  std::vector<std::string> panels, titles;
  for (const ClaimCurves& claim : claims) {
    panels.push_back(panel(claim));
    titles.push_back(claim.title);
  }
  if (panels.empty()) throw NothingToDraw(picture, "none of these claims has a curve to draw");
  const double height = panels.size() == 1 ? 1 : 0.6 * static_cast<double>(panels.size());
  std::string script = plot_header(picture, height, legend_of(claims));
  const std::string title = picture.title.empty() ? "" : " title " + gnuplot_string(picture.title) + " noenhanced";
  script += fmt::format("set multiplot layout {},1{}\nset logscale xy\nset format '%g'\nset grid lc rgb '#dddddd'\n",
                        panels.size(), title);
  script += "set key outside right top vertical Left reverse maxcols 1 samplen 3 noenhanced\n";
  for (const std::string& one : panels) script += one;
  run_gnuplot(script + "unset multiplot\n", picture.path,
              {picture, fmt::format("Findings on {} claim{}", titles.size(), titles.size() == 1 ? "" : "s"), titles});
}
