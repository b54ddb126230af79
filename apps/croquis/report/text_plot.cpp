#include "report/text_plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/axis_scale.hpp"

namespace {

constexpr int kColumns = 68, kRows = 18;
constexpr std::size_t kMargin = 9;
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

int place_in(const AxisScale& scale, double x, int cells) {
  return std::clamp(static_cast<int>(std::lround(scale.place(x) * (cells - 1))), 0, cells - 1);
}

// Letters in place of the blanks that they would cover.
class Canvas {
 public:
  void put(int column, int row, char c) {
    char& there = lines_[static_cast<std::size_t>(kRows - 1 - row)][static_cast<std::size_t>(column)];
    if (there == ' ' || (there == '.' && c != '.')) there = c;
  }
  bool has(char c) const {
    return std::any_of(lines_.begin(), lines_.end(),
                       [&](const std::string& line) { return line.find(c) != line.npos; });
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_ = std::vector<std::string>(kRows, std::string(kColumns, ' '));
};

void draw_line(Canvas& canvas, int x0, int y0, int x1, int y1) {
  const int steps = std::max(std::abs(x1 - x0), std::abs(y1 - y0));
  for (int i = 1; i < steps; ++i) {
    const double share = static_cast<double>(i) / steps;
    canvas.put(static_cast<int>(std::lround(x0 + share * (x1 - x0))),
               static_cast<int>(std::lround(y0 + share * (y1 - y0))), '.');
  }
}

std::string axis_below(const AxisScale& scale) {
  std::string labels(kMargin + kColumns + 8, ' ');
  std::size_t free = 0;
  for (const auto& [x, label] : scale.tics()) {
    const std::size_t at = kMargin + 1 + static_cast<std::size_t>(place_in(scale, x, kColumns));
    const std::size_t begin = at > label.size() / 2 ? at - label.size() / 2 : 0;
    if (begin < free || begin + label.size() > labels.size()) continue;
    labels.replace(begin, label.size(), label);
    free = begin + label.size() + 1;
  }
  labels.erase(labels.find_last_not_of(' ') + 1);
  return labels;
}

}  // namespace

std::string text_of_chart(const Chart& chart) {
  const ChartView& view = chart.views.front();
  std::vector<double> xs, ys;
  for (const ChartCurve& curve : view.curves) {
    for (const ChartPoint& point : curve.points) {
      if (std::isnan(point.y.front().at)) continue;
      xs.push_back(point.x.front());
      ys.push_back(point.y.front().at);
    }
  }
  if (xs.empty()) return "";
  const AxisScale x(xs, chart.x.front().logarithmic), y(ys, chart.y.front().logarithmic);
  Canvas canvas;
  std::string legend;
  std::string drawn;
  for (std::size_t c = 0; c < view.curves.size() && c < kLetters.size(); ++c) {
    std::vector<std::pair<int, int>> places;
    for (const ChartPoint& point : view.curves[c].points) {
      const double value = point.y.front().at;
      if (!x.shows(point.x.front()) || !y.shows(value)) continue;
      places.emplace_back(place_in(x, point.x.front(), kColumns), place_in(y, value, kRows));
    }
    if (places.empty()) continue;
    if (view.curves[c].across.contains(0)) places = {{0, places.front().second}, {kColumns - 1, places.front().second}};
    drawn += kLetters[c];
    for (const auto& [column, row] : places) canvas.put(column, row, kLetters[c]);
    for (std::size_t i = 1; view.curves[c].joined && i < places.size(); ++i) {
      draw_line(canvas, places[i - 1].first, places[i - 1].second, places[i].first, places[i].second);
    }
    const bool other_target = view.curves[c].open && !view.curves[c].target.empty();
    legend +=
        fmt::format("  {} {}{}\n", kLetters[c], view.curves[c].label, other_target ? ", " + view.curves[c].target : "");
  }
  std::erase_if(drawn, [&](char c) { return canvas.has(c); });
  if (!drawn.empty()) legend += fmt::format("  covered by others: {}\n", fmt::join(drawn, ", "));
  if (view.curves.size() > kLetters.size()) {
    legend += fmt::format("  and {} curves that are not drawn\n", view.curves.size() - kLetters.size());
  }
  const std::string missing = missing_on_axis(chart, y);
  if (!missing.empty()) legend += missing + '\n';
  std::vector<std::string> labels(kRows);
  for (const auto& [at, label] : y.tics()) labels[static_cast<std::size_t>(kRows - 1 - place_in(y, at, kRows))] = label;
  std::string text = fmt::format("{} against {}\n{}\n\n", chart.y.front().label, chart.x.front().label,
                                 view.without_spread.empty() ? view.meaning + view.more : view.without_spread);
  for (std::size_t row = 0; row < kRows; ++row) {
    std::string line = fmt::format("{:>{}} |{}", labels[row], kMargin - 1, canvas.lines()[row]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text + fmt::format("{:>{}} +{:->{}}\n{}\n{}", "", kMargin - 1, "", kColumns, axis_below(x), legend);
}
