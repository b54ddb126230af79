#include "report/section.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <functional>

std::string shown_number(double x, int digits_shown) {
  if (std::isnan(x)) return "-";
  if (x == std::floor(x) && std::abs(x) < 1e6) return fmt::format("{:.0f}", x);
  std::string text = fmt::format("{:.{}g}", x, digits_shown);  // 1.2e+06 is 1.2e6
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  if (text[e + 1] == '+') text.erase(e + 1, 1);
  const std::size_t digits = text[e + 1] == '-' ? e + 2 : e + 1;
  while (text[digits] == '0') text.erase(digits, 1);
  return text;
}

double rounded(double x, int digits) {
  const std::string text = fmt::format("{:.{}g}", x, digits);
  double short_x = x;
  std::from_chars(text.data(), text.data() + text.size(), short_x);
  return short_x;
}

double in_chart(double x) {
  constexpr int digits = 5;
  return rounded(x, digits);
}

ChartValue in_chart(ChartValue value) {
  for (double* number : {&value.at, &value.lo, &value.hi, &value.bound}) *number = in_chart(*number);
  return value;
}

ReportCell number_cell(double x) {
  return {shown_number(x), x};
}

ReportCell interval_cell(const ChartValue& value) {
  ReportCell cell = number_cell(value.at);
  if (value.lo < value.hi) cell.text += fmt::format(" ({} – {})", shown_number(value.lo), shown_number(value.hi));
  if (value.heavy_tailed) cell.text += " *";
  if (!value.note.empty()) cell.text += " " + value.note;
  return cell;
}

namespace {

// "kriged-coreset (d = 128, 256), v-mean": the curves with such numbers, and where they have them.
std::string curves_where(const Chart& chart, const std::function<bool(double)>& is_missing) {
  std::string names;
  for (const ChartCurve& curve : chart.views.front().curves) {
    std::string places;
    for (const ChartPoint& point : curve.points) {
      if (is_missing(point.y.front().at)) places += (places.empty() ? "" : ", ") + shown_number(point.x.front());
    }
    if (places.empty()) continue;
    const std::string where = curve.across.contains(0) ? "" : fmt::format(" ({} = {})", chart.x.front().name, places);
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", curve.label, where);
  }
  return names;
}

}  // namespace

std::string missing_on_axis(const Chart& chart, const AxisScale& y) {
  const bool logarithmic = y.is_logarithmic();
  std::string text;
  const auto name = [&](const std::string& what, const std::function<bool(double)>& is_missing) {
    const std::string places = curves_where(chart, is_missing);
    if (places.empty()) return;
    text += fmt::format("{}Not on this {}axis, {}: {}.", text.empty() ? "" : " ", logarithmic ? "logarithmic " : "",
                        what, places);
  };
  const bool negative = !curves_where(chart, [](double at) { return at < 0; }).empty();
  name(negative ? "zero or below" : "zero", [&](double at) { return logarithmic && at <= 0; });
  name("below " + tic_label(AxisScale::kSmallest),
       [&](double at) { return logarithmic && at > 0 && at < AxisScale::kSmallest; });
  name("beyond " + tic_label(AxisScale::kLargest),
       [&](double at) { return (logarithmic ? at : std::abs(at)) > AxisScale::kLargest; });
  return text;
}

ReportTable table_of_rows(const croquis::Table& table, const std::string& title, const std::string& meaning) {
  ReportTable shown{title, meaning, {}, {}};
  for (const croquis::Column& column : table.columns) {
    shown.columns.push_back({column.name, column.meaning, column.type != croquis::ValueType::text});
  }
  for (const croquis::Record& row : table.rows) {
    std::vector<ReportCell> cells;
    for (std::size_t c = 0; c < row.size(); ++c) {
      cells.push_back(shown.columns[c].is_number ? number_cell(croquis::number_in(row[c]))
                                                 : ReportCell{croquis::text_of(row[c])});
    }
    shown.rows.push_back(std::move(cells));
  }
  return shown;
}
