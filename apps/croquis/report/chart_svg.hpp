// A chart as SVG that is well-formed XML: what a page shows without its script. page.js draws the same when something
// is toggled.
#pragma once

#include <map>
#include <string>

#include "report/section.hpp"

/// How the curves of a chart look, by label: the same in all of its views, in the legend and in what page_plot.js
/// draws. No two of the first 24 have both the marker and the dashes in common, whatever colours a reader tells apart;
/// those that do have another colour, up to the first 192.
struct CurveStyle {
  std::string classes;  ///< "c3 d1": colour and dashes, of the style sheet
  std::size_t marker = 0;
};
std::map<std::string, CurveStyle> styles_of(const Chart& chart);

/// Whether their bands would hide each other.
bool has_many_curves(const ChartView& view);

/// What the view says of its numbers, with this name, "band: ", before what their spread is.
std::string meaning_with(const ChartView& view, const std::string& name);
/// What it says of them beside its picture against the default axes: where one point of a curve is drawn, what would be
/// a band is a bar.
std::string meaning_in_picture(const Chart& chart, const ChartView& view);

/// The path of marker i around the origin.
std::string marker_path(std::size_t i);

/// The default view against the default axes. `id` is unique in the page.
std::string svg_of_chart(const Chart& chart, const std::string& id);

/// Its line and its marker, for a legend.
std::string svg_of_swatch(const ChartCurve& curve, const CurveStyle& style);

/// missing_on_axis() of this picture.
std::string missing_in_svg(const Chart& chart);
