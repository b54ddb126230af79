#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/io/json.hpp>
#include <optional>
#include <set>

#include "files/escape.hpp"
#include "report/table_html.hpp"

namespace {

constexpr int kShades = 12;  // classes h0 to h11 of the style sheet

// Shade of a number between the smallest and the largest of all maps that are shown, on a logarithmic scale where they
// differ by more than ten times. page.js has the same.
struct Shades {
  double low = 0, high = 0;
  bool logarithmic = false;

  explicit Shades(const std::vector<double>& values) {
    bool any = false;
    for (const double x : values) {
      if (!std::isfinite(x)) continue;
      low = any ? std::min(low, x) : x;
      high = any ? std::max(high, x) : x;
      any = true;
    }
    constexpr double wide = 10;
    logarithmic = low > 0 && high > wide * low;
  }
  int of(double x) const {
    if (!(high > low)) return 0;
    const double at = logarithmic ? std::log(x / low) / std::log(high / low) : (x - low) / (high - low);
    return std::clamp(static_cast<int>(at * kShades), 0, kShades - 1);
  }
};

// Of a layer or a head.
std::string heading_of(const std::optional<long long>& number) {
  return number ? fmt::format("{}", *number) : "";
}

// As the data of the map have it.
double in_map(double x) {
  constexpr int digits = 3;
  return rounded(x, digits);
}

std::string cell_html(const std::vector<double>& values, std::size_t at, const Shades& shades) {
  const double x = values[at];
  if (!std::isfinite(x)) return fmt::format("<td data-i=\"{}\">-</td>", at);
  return fmt::format("<td data-i=\"{}\" class=\"h{}\">{}</td>", at, shades.of(x), shown_number(in_map(x), 2));
}

std::string data_of_maps(const HeadMaps& maps) {
  nlohmann::json values = nlohmann::json::array();
  for (const double x : maps.values) {
    values.push_back(std::isfinite(x) ? nlohmann::json(in_map(x)) : nlohmann::json());
  }
  const nlohmann::json data = {
      {"labels", maps.labels},   {"sizes", maps.sizes},          {"size", maps.size},
      {"metrics", maps.metrics}, {"places", maps.places.size()}, {"values", std::move(values)}};
  return croquis::json_text(data, -1, true);
}

}  // namespace

std::string html_of_maps(const HeadMaps& maps) {
  const std::size_t size = maps.sizes.empty() ? 0 : maps.sizes.size() - 1,
                    sizes = std::max<std::size_t>(1, maps.sizes.size());
  std::set<std::optional<long long>> layers, heads;
  for (const auto& [layer, head] : maps.places) {
    layers.insert(layer);
    heads.insert(head);
  }
  const auto values_of = [&](std::size_t label) {
    const auto first = maps.values.begin() +
                       static_cast<std::ptrdiff_t>((label * sizes + size) * maps.metrics.size() * maps.places.size());
    return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(maps.places.size()));
  };
  std::vector<double> all;
  for (std::size_t label = 0; label < maps.labels.size(); ++label) {
    const std::vector<double> values = values_of(label);
    all.insert(all.end(), values.begin(), values.end());
  }
  const Shades shades(all);
  const auto has_numbers = [](const auto& numbers) { return *numbers.rbegin() != std::nullopt; };
  const std::string corner = has_numbers(layers) ? (has_numbers(heads) ? "layer \\ head" : "layer") : "head";
  std::string tables;
  for (std::size_t label = 0; label < maps.labels.size(); ++label) {
    const std::vector<double> values = values_of(label);
    std::string rows, head;
    for (const auto& h : heads) head += fmt::format("<th scope=\"col\">{}</th>", heading_of(h));
    for (const auto& layer : layers) {
      rows += fmt::format("<tr><th scope=\"row\">{}</th>", heading_of(layer));
      for (const auto& h : heads) {
        const auto place = std::find(maps.places.begin(), maps.places.end(), HeadPlace{layer, h});
        rows += place == maps.places.end()
                    ? "<td></td>"
                    : cell_html(values, static_cast<std::size_t>(place - maps.places.begin()), shades);
      }
      rows += "</tr>\n";
    }
    tables += fmt::format(
        "<div class=\"scroll\"><table class=\"map\" data-label=\"{}\"><caption>{}</caption><thead><tr>"
        "<th scope=\"col\">{}</th>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
        label, html(maps.labels[label]), corner, head, rows);
  }
  const std::string shown = maps.sizes.empty() ? "" : fmt::format(", {} = {}", maps.size, maps.sizes[size]);
  return fmt::format(
      "<figure class=\"maps\">\n<figcaption><h3>{}</h3><p class=\"meaning\"><span class=\"which\">{}{}</span>; {}</p>"
      "</figcaption>\n<div class=\"controls\" hidden></div>\n<div class=\"all\">{}</div>\n"
      "<script type=\"application/json\">{}</script>\n</figure>\n",
      html(maps.title), html(maps.metrics.front()), html(shown), html(maps.meaning), tables,
      json_in_script(data_of_maps(maps)));
}
