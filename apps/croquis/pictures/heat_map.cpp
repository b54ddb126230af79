#include "pictures/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "pictures/gnuplot.hpp"

namespace {

// The number after ";layer=" or ";head=" in the name of an input.
std::optional<long long> number_after(const std::string& name, const std::string& what) {
  const std::size_t start = name.find(";" + what + "=");
  if (start == std::string::npos) return {};
  const std::size_t from = start + what.size() + 2;
  const std::string text = name.substr(from, name.find(';', from) - from);
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

struct Range {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

// Colours for all values, also where they are all the same.
Range colours_of(const std::vector<HeatMap>& maps) {
  Range values;
  for (const HeatMap& map : maps) {
    for (const HeatCell& cell : map.cells) values.add(cell.value);
  }
  constexpr double little = 1e-3;
  if (values.most - values.least <= little * std::abs(values.most)) {
    const double middle = values.least;
    values.add(middle * (1 - 0.1));
    values.add(middle * (1 + 0.1));
    if (middle == 0) values.add(1);
  }
  return values;
}

std::string panel(std::size_t i, const HeatMap& map, const HeatScale& scale, const Picture& picture) {
  constexpr std::size_t few = 25, most_labels = 200;
  Range layers, heads;
  std::string data;
  for (const auto& [place, value] : map.cells) {
    data += fmt::format("{} {} {:.9g}\n", place.head, place.layer, value);
    layers.add(static_cast<double>(place.layer));
    heads.add(static_cast<double>(place.head));
  }
  std::string script = plot_title(picture, map.title, map.lines);
  script += fmt::format("set xrange [{}:{}]\nset yrange [{}:{}]\n", heads.least - 0.5, heads.most + 0.5,
                        layers.least - 0.5, layers.most + 0.5);
  // Boxes, since an image of one layer or one head is refused.
  script += fmt::format("$cells{0} << EOD\n{1}EOD\nplot $cells{0} using 1:2:(0.5):(0.5):3 with boxxyerror fc palette",
                        i, data);
  if (map.cells.size() <= most_labels) {
    const char* font = map.cells.size() <= few ? "" : " font ',10'";
    script += fmt::format(", $cells{} using 1:2:(sprintf('{}', $3)) with labels{}", i, scale.format, font);
  }
  return script + "\n";
}

}  // namespace

std::optional<HeadPlace> place_in_name(const std::string& input) {
  const auto layer = number_after(input, "layer"), head = number_after(input, "head");
  if (!layer && !head) return std::nullopt;
  return HeadPlace{layer.value_or(0), head.value_or(0)};
}

void draw_heat_maps(const std::vector<HeatMap>& maps, const HeatScale& scale, const Picture& picture) {
  constexpr std::size_t side_by_side = 2;
  const std::size_t columns = std::min(maps.size(), side_by_side), rows = (maps.size() + columns - 1) / columns;
  const Range colours = colours_of(maps);
  std::string script = plot_header(picture, columns == 1 ? 1 : 0.75 * static_cast<double>(rows));
  script += "set xlabel 'head'\nset ylabel 'layer'\nset xtics 1\nset ytics 1\nunset key\n";
  // Light enough for the numbers.
  script += "set palette defined (0 '#fff5eb', 0.5 '#fdae6b', 1 '#e6550d')\nset style fill solid\n";
  script += fmt::format("{}set cbrange [{:.9g}:{:.9g}]\nset format cb '%g'\n",
                        scale.logarithmic ? "set logscale cb\n" : "", colours.least, colours.most);
  Picture one = picture;
  if (maps.size() > 1) {  // each has a title of its own
    one.title.clear();
    script += fmt::format("set multiplot layout {},{}", rows, columns);
    if (!picture.title.empty()) script += fmt::format(" title {} noenhanced", gnuplot_string(picture.title));
    script += '\n';
  }
  for (std::size_t i = 0; i < maps.size(); ++i) script += panel(i, maps[i], scale, one);
  run_gnuplot(script + (maps.size() > 1 ? "unset multiplot\n" : ""), picture.path);
}
