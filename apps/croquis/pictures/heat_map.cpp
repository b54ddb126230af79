#include "pictures/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/measure/groups.hpp>
#include <limits>
#include <set>

#include "pictures/gnuplot.hpp"

namespace {

struct Range {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

// Colours for all values, also where they are all the same; a logarithmic scale begins at the smallest positive one.
Range colours_of(const std::vector<HeatMap>& maps, bool logarithmic) {
  Range values;
  for (const HeatMap& map : maps) {
    for (const HeatCell& cell : map.cells) {
      if (!logarithmic || cell.value > 0) values.add(cell.value);
    }
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

// Two digits of what the values differ by.
std::string fixed_format(const Range& values) {
  const double digits = 1 - std::floor(std::log10(values.most - values.least));
  return fmt::format("%.{}f", std::clamp(digits, 2.0, 4.0));
}

// The layers (or heads) that some map has, side by side: those that were not measured take no room.
struct Steps {
  using Number = std::optional<long long>;
  std::set<Number> numbers;

  auto place(Number number) const { return std::distance(numbers.begin(), numbers.find(number)); }
  // Bare where nothing has a number.
  std::string axis(char name, const std::string& label) const {
    std::string tics;
    for (const Number& number : numbers) {
      if (number) tics += fmt::format("{}'{}' {}", tics.empty() ? "" : ", ", *number, place(number));
    }
    const std::string range = fmt::format("set {}range [-0.5:{}]\n", name, static_cast<double>(numbers.size()) - 0.5);
    if (tics.empty()) return range + fmt::format("unset {}tics\n", name);
    return range + fmt::format("set {0}tics ({1})\nset {0}label '{2}'\n", name, tics, label);
  }
};

// The size of numbers that fit into cells of which so many are side by side in the picture; none if none does.
std::optional<std::string> font_of_numbers(std::size_t side_by_side) {
  if (side_by_side <= 8) return "";
  if (side_by_side <= 16) return " font ',10'";
  if (side_by_side <= 24) return " font ',7'";
  return std::nullopt;
}

std::string panel(std::size_t i, const HeatMap& map, const Steps& layers, const Steps& heads, std::size_t panels_in_row,
                  double least, const std::string& format, const PlotWords& words) {
  std::string data;
  for (const auto& [place, value] : map.cells) {
    data += fmt::format("{} {} {:.9g}\n", heads.place(place.head), layers.place(place.layer), value);
  }
  std::string script = plot_title(words);
  // Boxes, since an image of one layer or one head is refused.
  script += fmt::format(
      "$cells{0} << EOD\n{1}EOD\nplot $cells{0} using 1:2:(0.5):(0.5):($3 < {2:.9g} ? {2:.9g} : $3) with boxxyerror fc "
      "palette",
      i, data, least);
  if (const auto font = font_of_numbers(panels_in_row * heads.numbers.size())) {
    script += fmt::format(", $cells{} using 1:2:(sprintf('{}', $3)) with labels{}", i, format, *font);
  }
  return script + "\n";
}

// What stands above the maps. Of several, which have titles of their own: the user's title and what is common to all;
// the first of these lines is the title, and there may be none.
PlotWords words_above(const std::vector<HeatMap>& maps, std::vector<std::string> common, const Picture& picture) {
  const std::string axes = "layer against head";
  if (maps.size() == 1) {
    common.insert(common.end(), maps.front().lines.begin(), maps.front().lines.end());
    return {picture, maps.front().title, common, axes};
  }
  PlotWords words(picture, "", common, axes);
  if (words.title.empty() && !words.lines.empty()) {
    words.title = words.lines.front();
    words.lines.erase(words.lines.begin());
  }
  return words;
}

}  // namespace

std::optional<HeadPlace> place_in_name(const std::string& input) {
  const auto layer = croquis::number_in_name(input, "layer"), head = croquis::number_in_name(input, "head");
  if (!layer && !head) return std::nullopt;
  return HeadPlace{layer, head};
}

void draw_heat_maps(const std::vector<HeatMap>& maps, const std::vector<std::string>& lines, const HeatScale& scale,
                    const Picture& picture) {
  constexpr std::size_t side_by_side = 2;
  const std::size_t columns = std::min(maps.size(), side_by_side), rows = (maps.size() + columns - 1) / columns;
  const Range colours = colours_of(maps, scale.logarithmic);
  std::string script = plot_header(picture, columns == 1 ? 1 : 0.75 * static_cast<double>(rows));
  script += "unset key\n";
  // Light enough for the numbers.
  script += "set palette defined (0 '#fff5eb', 0.5 '#fdae6b', 1 '#e6550d')\nset style fill solid\n";
  script += fmt::format("{}set cbrange [{:.9g}:{:.9g}]\nset format cb '%g'\n",
                        scale.logarithmic ? "set logscale cb\n" : "", colours.least, colours.most);
  Steps layers, heads;
  for (const HeatMap& map : maps) {
    for (const HeatCell& cell : map.cells) {
      layers.numbers.insert(cell.place.layer);
      heads.numbers.insert(cell.place.head);
    }
  }
  const bool gaps = std::any_of(maps.begin(), maps.end(), [&](const HeatMap& map) {
    return map.cells.size() < layers.numbers.size() * heads.numbers.size();
  });
  script += heads.axis('x', "head") + layers.axis('y', "layer");
  std::vector<std::string> common = lines;
  if (gaps) common.emplace_back("white: no number");
  PlotWords words = words_above(maps, common, picture);
  const bool several = maps.size() > 1;
  if (several) {
    script += fmt::format("set multiplot layout {},{}", rows, columns);
    if (!words.title.empty()) script += fmt::format(" title {} noenhanced", title_text(words));
    script += '\n';
  }
  for (std::size_t i = 0; i < maps.size(); ++i) {
    script += panel(i, maps[i], layers, heads, columns, colours.least,
                    scale.format.empty() ? fixed_format(colours) : scale.format,
                    several ? PlotWords(Picture(picture.path), maps[i].title, maps[i].lines) : words);
    if (several) (words.title.empty() ? words.title : words.lines.emplace_back()) = maps[i].title;
  }
  run_gnuplot(script + (several ? "unset multiplot\n" : ""), picture.path, words);
}
