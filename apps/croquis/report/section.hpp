// What there is to say of a result: answers, charts, maps and tables, as data. A page (page.hpp) and the terminal
// (`croquis show`) are two views of it.
#pragma once

#include <croquis/measure/columns.hpp>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "pictures/heat_map.hpp"
#include "report/axis_scale.hpp"

/// What a chart can have on an axis.
struct ChartAxis {
  std::string name, label;
  bool logarithmic = true;  ///< at first, and as long as its numbers are positive
};

/// A number of a chart; NaN is what there is not.
struct ChartValue {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  double at = kNone, lo = kNone, hi = kNone;  ///< the view says what the number is, and what from lo to hi is
  double bound = kNone;                       ///< what a theorem guarantees of it
  bool heavy_tailed = false;
  std::string note = {};  ///< more for the tooltip and the table
};

/// The numbers of a point on each of the chart's axes.
struct ChartPoint {
  std::vector<double> x;
  std::vector<ChartValue> y;
};

struct ChartCurve {
  std::string label;
  std::string target = {};  ///< what it approximates, for the legend; empty: nothing to say
  bool bracket = false;     ///< a baseline, drawn black and dashed
  bool open = false;        ///< open markers: another function than softmax attention
  bool joined = true;       ///< by a line
  bool measured = true;     ///< false: a threshold, which the table of the numbers does not have
  std::vector<ChartPoint> points = {};
  /// The axes of x along which it is a line across the picture, without marks: there the numbers of its points are no
  /// numbers of theirs.
  std::set<std::size_t> across = {};
};

/// The same chart of one thing or another: of all heads or of one, of medians or of means.
struct ChartView {
  std::string name, meaning;
  std::vector<ChartCurve> curves;
  std::string spread = {};  ///< what a band or a bar is: "10 to 90 %"; empty: there is none, or `meaning` says it
  std::string more = {};    ///< what the meaning ends with, after the spread
  std::string without_spread = {};  ///< the whole meaning where bands are not drawn; empty: the same without `spread`
};

struct Chart {
  std::string title;
  std::vector<ChartAxis> x, y;   ///< one at least, the default ones first
  std::vector<ChartView> views;  ///< one at least, the default one first
  std::string bound = {};        ///< what ChartValue::bound is, where there are some
};

/// A number for each layer and head of a model: one map for each curve, size and metric.
struct HeadMaps {
  std::string title, meaning;
  std::string size;                                 ///< "d": what the sizes are of; empty: there is one map a metric
  std::vector<std::string> labels, sizes, metrics;  ///< the last size and the first metric are shown first
  std::vector<HeadPlace> places;
  /// values[((label * sizes + size) * metrics + metric) * places + place]; NaN where there is none
  std::vector<double> values;
};

/// A cell of a table: what is shown, and what rows are sorted by where that is a number.
struct ReportCell {
  std::string text = {};
  double order = ChartValue::kNone;
};
struct ReportColumn {
  std::string name, meaning = {};
  bool is_number = true;
};
struct ReportTable {
  std::string title, meaning;
  std::vector<ReportColumn> columns;
  std::vector<std::vector<ReportCell>> rows;
};

struct Section {
  std::string subject;               ///< "text:sample, n = 1024, p = 64"
  std::vector<std::string> answers;  ///< sentences
  std::vector<Chart> charts;
  std::vector<HeadMaps> maps;
  std::vector<ReportTable> tables;
};

/// A number for people, with 4 digits, or another number of them; "-" for what there is not.
std::string shown_number(double x, int digits = 4);
/// With so many digits; x itself where that is no number any more, next to the largest one of double.
double rounded(double x, int digits);
/// What the page has of a number in a chart: five digits, as many as a picture can show. What is written about it comes
/// from these, as when the chart is drawn again.
ChartValue in_chart(ChartValue value);
double in_chart(double x);
ReportCell number_cell(double x);
/// "1.2 (1 - 1.5)" sorted by 1.2.
ReportCell interval_cell(const ChartValue& value);

/// "Not on this logarithmic axis, zero: kriged-coreset (d = 128, 256).": what the default view has on the first
/// vertical axis and `y`, the scale of that axis, cannot show; empty where nothing is missing.
std::string missing_on_axis(const Chart& chart, const AxisScale& y);

/// Rows of a result in the given columns, as they are.
ReportTable table_of_rows(const croquis::Table& table, const std::string& title, const std::string& meaning);
