#include "commands/verify/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/claims/claim_rows.hpp>
#include <croquis/claims/ledger.hpp>
#include <map>
#include <optional>
#include <stdexcept>
#include <vector>

#include "options/lists.hpp"
#include "pictures/gnuplot.hpp"

using namespace croquis::claims;

namespace {

constexpr std::size_t kMostCurves = 8;  // as many as there are colours

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

// By series, of two points at least.
std::map<std::string, std::vector<ClaimPoint>> curves_of(const std::vector<ClaimRow>& rows, const Claim& claim,
                                                         double ClaimRow::*value) {
  std::map<std::string, std::vector<ClaimPoint>> curves;
  for (const ClaimRow& row : rows) {
    if (row.claim != claim.id || row.input == kWholeInput) continue;
    const auto x = place_of(claim, row);
    const double measured = row.*value;
    if (!x || !is_drawable(*x) || !is_drawable(measured)) continue;
    curves[series_of(row.input, claim.curve)].push_back({*x, measured, row.bound});
  }
  for (auto& [series, points] : curves) {
    std::sort(points.begin(), points.end(), [](const ClaimPoint& a, const ClaimPoint& b) { return a.x < b.x; });
  }
  std::erase_if(curves, [](const auto& curve) { return curve.second.size() < 2; });
  return curves;
}

// Where a claim has observed values with a bound, those alone: its estimates may be of another quantity.
std::map<std::string, std::vector<ClaimPoint>> curves_of(const std::vector<ClaimRow>& rows, const Claim& claim) {
  const auto observed = curves_of(rows, claim, &ClaimRow::observed);
  return observed.empty() ? curves_of(rows, claim, &ClaimRow::estimate) : observed;
}

std::string panel(const ClaimCurves& claim) {
  const auto& curves = claim.series;
  std::string title = claim.title;
  if (curves.size() > kMostCurves) title += fmt::format(" ({} of {} curves)", kMostCurves, curves.size());
  std::string script = fmt::format("set title {} noenhanced\nset xlabel {} noenhanced\n", gnuplot_string(title),
                                   gnuplot_string(claim.variable));
  std::string plots;
  std::size_t i = 0;
  for (const auto& [series, points] : curves) {
    if (i == kMostCurves) break;
    std::string measured, bound;
    for (const ClaimPoint& p : points) {
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

std::vector<ClaimCurves> claim_curves(const std::vector<ClaimRow>& rows) {
  std::vector<ClaimCurves> all;
  for (const Claim& claim : all_claims()) {
    if (claim.curve.empty()) continue;
    auto series = curves_of(rows, claim);
    if (!series.empty()) all.push_back({claim.id + ", " + claim.source, claim.curve, std::move(series)});
  }
  return all;
}

void draw_curves(const std::vector<ClaimRow>& rows, const Picture& picture) {
  std::vector<std::string> panels;
  for (const ClaimCurves& claim : claim_curves(rows)) panels.push_back(panel(claim));
  if (panels.empty())
    throw std::invalid_argument(fmt::format("{}: none of these claims has a curve to draw", picture.path));
  const double height = panels.size() == 1 ? 1 : 0.6 * static_cast<double>(panels.size());
  std::string script = plot_header(picture, height);
  const std::string title = picture.title.empty() ? "" : " title " + gnuplot_string(picture.title) + " noenhanced";
  script += fmt::format("set multiplot layout {},1{}\nset logscale xy\nset format '%g'\nset grid lc rgb '#dddddd'\n",
                        panels.size(), title);
  script += "set key outside right top noenhanced\n";
  for (const std::string& one : panels) script += one;
  run_gnuplot(script + "unset multiplot\n", picture.path);
}
