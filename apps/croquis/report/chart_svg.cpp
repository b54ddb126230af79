#include "report/chart_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "files/escape.hpp"
#include "pictures/curves.hpp"
#include "report/axis_scale.hpp"

namespace {

// Of the picture, in its own units; page.js has the same numbers.
constexpr double kWidth = 760, kHeight = 430, kLeft = 70, kRight = 14, kTop = 12, kBottom = 52;

constexpr const char* kMarkers[] = {
    "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z",  // circle
    "M-3.6 -3.6H3.6V3.6H-3.6Z",             // square
    "M0 -4.6L4.4 3.4H-4.4Z",                // triangle
    "M0 -5L5 0L0 5L-5 0Z",                  // diamond
    "M0 4.6L4.4 -3.4H-4.4Z",                // triangle downwards
    "M0 -5L4.8 -1.5L3 4L-3 4L-4.8 -1.5Z",   // pentagon
};

double x_place(const AxisScale& scale, double x) {
  return kLeft + scale.place(x) * (kWidth - kLeft - kRight);
}

double y_place(const AxisScale& scale, double y) {
  return kHeight - kBottom - scale.place(y) * (kHeight - kTop - kBottom);
}

struct Frame {
  AxisScale x, y;
};

// Guarantees may be orders of magnitude above what is measured: they leave the picture there.
Frame frame_of(const Chart& chart, const ChartView& view) {
  std::vector<double> xs, ys, bounds;
  for (const ChartCurve& curve : view.curves) {
    for (const ChartPoint& point : curve.points) {
      const ChartValue& value = point.y.front();
      if (std::isnan(value.at)) continue;
      xs.push_back(point.x.front());
      ys.push_back(value.at);
      if (!has_many_curves(view)) ys.insert(ys.end(), {value.lo, value.hi});
      bounds.push_back(value.bound);
    }
  }
  double largest = 0;
  for (const double y : ys) largest = std::isfinite(y) ? std::max(largest, y) : largest;
  constexpr double room = 30;
  for (const double bound : bounds) {
    if (bound > 0) ys.push_back(std::min(bound, room * largest));
  }
  return {{xs, chart.x.front().logarithmic}, {ys, chart.y.front().logarithmic}};
}

std::string frame_svg(const Frame& frame, const Chart& chart) {
  const double bottom = kHeight - kBottom, right = kWidth - kRight;
  std::string grid, tics;
  for (const auto& [x, label] : frame.x.tics()) {
    const double at = x_place(frame.x, x);
    grid += fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/>", at, kTop, bottom);
    tics += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>", at, bottom + 18, label);
  }
  for (const auto& [y, label] : frame.y.tics()) {
    const double at = y_place(frame.y, y);
    grid += fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}\"/>", kLeft, at, right);
    tics += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kLeft - 8, at + 4, label);
  }
  return fmt::format(
      "<g class=\"grid\">{}</g><g class=\"tics\" aria-hidden=\"true\">{}"
      "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>"
      "<text class=\"label\" transform=\"translate(14 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text></g>",
      grid, tics, (kLeft + right) / 2, kHeight - 10, html(chart.x.front().label), (kTop + bottom) / 2,
      html(chart.y.front().label));
}

// A point that has a place on both axes, and the ends of what is drawn beside it: those of its interval that have one.
struct DrawnPoint {
  const ChartPoint* point;
  double x, y, upper, lower;
};

std::vector<DrawnPoint> drawn_points(const ChartCurve& curve, const Frame& frame) {
  std::vector<DrawnPoint> drawn;
  const bool across = curve.across.contains(0);
  for (const ChartPoint& point : curve.points) {
    const ChartValue& value = point.y.front();
    if (!frame.x.shows(point.x.front()) || !frame.y.shows(value.at)) continue;
    const double x = !across ? x_place(frame.x, point.x.front()) : drawn.empty() ? kLeft : kWidth - kRight;
    const double y = y_place(frame.y, value.at);
    const auto end = [&](double at) { return frame.y.shows(at) ? y_place(frame.y, at) : y; };
    drawn.push_back({&point, x, y, end(value.hi), end(value.lo)});
  }
  return drawn;
}

// "skyformer, d = 64: 0.105 (0.0972 – 0.113)": what stands at a point; without the place of a line across.
std::string tooltip_of(const ChartCurve& curve, const ChartPoint& point, const Chart& chart) {
  const ChartValue value = in_chart(point.y.front());
  const std::string place = curve.across.contains(0) ? ""
                                                     : fmt::format(", {} = {}", chart.x.front().name,
                                                                   shown_number(in_chart(point.x.front())));
  std::string text = fmt::format("{}{}: {}", curve.label, place, interval_cell(value).text);
  if (!std::isnan(value.bound)) text += fmt::format("; guaranteed {}", shown_number(value.bound));
  return text;
}

std::string curve_svg(const ChartCurve& curve, const CurveStyle& style, const Frame& frame, const Chart& chart) {
  std::string line, bound, upper, lower, marks;
  const std::vector<DrawnPoint> drawn = drawn_points(curve, frame);
  if (drawn.empty()) return "";
  const auto step = [](const std::string& path) { return path.empty() ? 'M' : 'L'; };
  for (const auto& [point, x, y, above, below] : drawn) {
    const ChartValue& value = point->y.front();
    line += fmt::format("{}{:.1f} {:.1f}", step(line), x, y);
    upper += fmt::format("{}{:.1f} {:.1f}", step(upper), x, above);
    lower.insert(0, fmt::format("L{:.1f} {:.1f}", x, below));
    if (frame.y.shows(value.bound))
      bound += fmt::format("{}{:.1f} {:.1f}", step(bound), x, y_place(frame.y, value.bound));
    marks +=
        fmt::format("<path class=\"mark\" transform=\"translate({:.1f} {:.1f})\" d=\"{}\"><title>{}</title></path>", x,
                    y, marker_path(style.marker), html(tooltip_of(curve, *point, chart)));
    if (value.heavy_tailed) {
      marks += fmt::format("<text class=\"star\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">*</text>", x, y - 6);
    }
  }
  std::string paths;
  if (curve.joined) {
    const bool single = drawn.size() == 1;
    paths = fmt::format("<path class=\"{}\" d=\"{}{}\"/><path class=\"line\" d=\"{}\"/>", single ? "bar" : "band",
                        upper, lower + (single ? "" : "Z"), line);
  }
  if (!bound.empty()) paths += fmt::format("<path class=\"bound\" d=\"{}\"/>", bound);
  constexpr std::size_t many = 40;  // marks would hide the line, or say that it was measured there
  return fmt::format("<g class=\"curve {}{}{}\">{}{}</g>", style.classes, curve.open ? " open" : "",
                     curve.across.contains(0) || (curve.joined && drawn.size() > many) ? " unmarked" : "", paths,
                     marks);
}

std::string description_of(const Chart& chart, const ChartView& view) {
  std::string labels;
  for (const ChartCurve& curve : view.curves) labels += (labels.empty() ? "" : ", ") + curve.label;
  return fmt::format("{} against {}, {}. {}. The table below has the numbers.", chart.y.front().label,
                     chart.x.front().label, labels, meaning_in_picture(chart, view));
}

}  // namespace

bool has_many_curves(const ChartView& view) {
  return view.curves.size() > kMostBands;
}

std::string meaning_with(const ChartView& view, const std::string& name) {
  return view.meaning + (view.spread.empty() ? "" : "; " + name + view.spread) + view.more;
}

std::string meaning_in_picture(const Chart& chart, const ChartView& view) {
  const Frame frame = frame_of(chart, view);
  bool bars = false, bands = false;
  for (const ChartCurve& curve : view.curves) {
    const std::vector<DrawnPoint> drawn = drawn_points(curve, frame);
    const bool spread =
        curve.joined && std::any_of(drawn.begin(), drawn.end(), [](const DrawnPoint& p) { return p.upper < p.lower; });
    if (spread) (drawn.size() == 1 ? bars : bands) = true;
  }
  return meaning_with(view, !bars ? "band: " : bands ? "band or bar: " : "bar: ");
}

std::map<std::string, CurveStyle> styles_of(const Chart& chart) {
  std::map<std::string, CurveStyle> styles;
  std::size_t i = 0;
  constexpr std::size_t colours = 8, dashes = 4, markers = std::size(kMarkers), both = markers * dashes;
  for (const ChartView& view : chart.views) {
    for (const ChartCurve& curve : view.curves) {
      if (styles.contains(curve.label)) continue;
      if (curve.bracket) {
        styles[curve.label] = {fmt::format("bracket d{}", curve.label == "v-mean" ? 1 : 2), 1};
        continue;
      }
      styles[curve.label] = {fmt::format("c{} d{}", (i + i / both) % colours, i / markers % dashes), i % markers};
      ++i;
    }
  }
  return styles;
}

std::string marker_path(std::size_t i) {
  return kMarkers[i % std::size(kMarkers)];
}

std::string svg_of_swatch(const ChartCurve& curve, const CurveStyle& style) {
  const std::string mark =
      fmt::format("<path class=\"mark\" transform=\"translate(16 6)\" d=\"{}\"/>", marker_path(style.marker));
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"swatch\" viewBox=\"0 0 32 12\" width=\"32\" height=\"12\" "
      "aria-hidden=\"true\"><g class=\"curve {}{}\">{}{}</g></svg>",
      style.classes, curve.open ? " open" : "", curve.joined ? "<path class=\"line\" d=\"M1 6H31\"/>" : "",
      curve.across.contains(0) ? "" : mark);
}

std::string missing_in_svg(const Chart& chart) {
  return missing_on_axis(chart, frame_of(chart, chart.views.front()).y);
}

std::string svg_of_chart(const Chart& chart, const std::string& id) {
  const ChartView& view = chart.views.front();
  const Frame frame = frame_of(chart, view);
  const std::map<std::string, CurveStyle> styles = styles_of(chart);
  std::string curves;
  for (const ChartCurve& curve : view.curves) curves += curve_svg(curve, styles.at(curve.label), frame, chart);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot{11}\" viewBox=\"0 0 {0:g} {1:g}\" role=\"img\" "
      "aria-labelledby=\"{2}-title {2}-desc\"><title id=\"{2}-title\">{3}</title><desc id=\"{2}-desc\">{4}</desc>"
      "<clipPath id=\"{2}-clip\"><rect x=\"{5:g}\" y=\"{6:g}\" width=\"{7:g}\" height=\"{8:g}\"/></clipPath>"
      "{9}<g clip-path=\"url(#{2}-clip)\">{10}</g></svg>",
      kWidth, kHeight, id, html(chart.title), html(description_of(chart, view)), kLeft - 6, kTop - 6,
      kWidth - kLeft - kRight + 12, kHeight - kTop - kBottom + 12, frame_svg(frame, chart), curves,
      has_many_curves(view) ? " many" : "");
}
