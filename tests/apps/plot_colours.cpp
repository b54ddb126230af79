// Curves are told apart without colours, and their colours by readers without red or green cones.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/made_rows.hpp"
#include "support/gnuplot_script.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

using Triple = std::array<double, 3>;

// Methods m0, m1 ... at two d.
std::string many_curves(int count) {
  std::string text = kErrorHeader;
  for (int i = 0; i < count; ++i) {
    for (const int d : {8, 16}) text += report_row("x", fmt::format("m{}", i), d, 1, 0.1 + 0.01 * i);
  }
  return text;
}

std::string page_of(const TemporaryFolder& folder, const std::string& rows) {
  write_text(folder / "r.csv", rows);
  REQUIRE(run_croquis("report r.csv --out r.html", folder.path()).status == 0);
  return read_text(folder / "r.html");
}

// How a curve looks: "c0", "d0" and the path of its marker.
struct Look {
  std::string colour, dashes, marker;
  bool operator==(const Look&) const = default;
};

std::vector<Look> looks(const std::string& text, const std::regex& pattern) {
  std::vector<Look> all;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    all.push_back({(*match)[1], (*match)[2], (*match)[3]});
  }
  return all;
}

// "#0072b2" as light, from 0 to 1.
Triple linear_light(const std::string& colour) {
  REQUIRE_MESSAGE(std::regex_match(colour, std::regex("#[0-9a-fA-F]{3}([0-9a-fA-F]{3})?")), colour);
  Triple light{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string digits = colour.size() == 4 ? std::string(2, colour[1 + i]) : colour.substr(1 + 2 * i, 2);
    const double c = std::stoi(digits, nullptr, 16) / 255.0;
    light[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  return light;
}

Triple product(const std::array<Triple, 3>& matrix, const Triple& x) {
  Triple y{};
  for (std::size_t i = 0; i < 3; ++i) y[i] = matrix[i][0] * x[0] + matrix[i][1] * x[1] + matrix[i][2] * x[2];
  return y;
}

constexpr std::array<Triple, 3> kLuminances = {
    {{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}};

// Of WCAG 2: 3 is the least for graphics, 4.5 for text.
double contrast(const std::string& one, const std::string& other) {
  const double a = product(kLuminances, linear_light(one))[1], b = product(kLuminances, linear_light(other))[1];
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

// CIELAB, white D65.
Triple lab(const Triple& light) {
  constexpr Triple white = {0.95047, 1, 1.08883};
  Triple f = product(kLuminances, light);
  for (std::size_t i = 0; i < 3; ++i) {
    const double t = f[i] / white[i];
    f[i] = t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
  }
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

// The light that looks the same to readers without the cones: Viénot, Brettel and Mollon (1999).
constexpr std::array<Triple, 3> kNoGreenCones = {
    {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}}};
constexpr std::array<Triple, 3> kNoRedCones = {{{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}}};

double distance(const std::array<Triple, 3>& seen, const std::string& one, const std::string& other) {
  const auto shown = [&](const std::string& colour) {
    Triple light = product(seen, linear_light(colour));
    for (double& part : light) part = std::clamp(part, 0.0, 1.0);
    return lab(light);
  };
  const Triple a = shown(one), b = shown(other);
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// A block of variables of the style sheet: c0 to c7.
std::vector<std::string> curve_colours(const std::string& variables) {
  std::vector<std::string> colours;
  for (int i = 0; i < 8; ++i) colours.push_back(between(variables, fmt::format("--c{}: ", i), ";"));
  return colours;
}

}  // namespace

TEST_CASE(
    "croquis report: of the first 24 curves no two have both marker and dashes in common, wherever they are drawn") {
  const TemporaryFolder folder;
  constexpr int count = 60;
  const std::string page = page_of(folder, many_curves(count));
  const std::string plot = between(page, "class=\"plot many\"", "</svg>"),
                    legend = between(page, "<ul class=\"legend\"", "</ul>"),
                    data = between(page, "<script type=\"application/json\">", "</script>");
  const std::regex drawn(
      "<g class=\"curve (c\\d) (d\\d)\">(?:<path class=\"(?:line|band|bar)\"[^>]*>)*"
      "<path class=\"mark\" transform=\"[^\"]*\" d=\"([^\"]*)\"");
  const std::vector<Look> all = looks(plot, drawn);
  REQUIRE(all.size() == count);
  CHECK(looks(legend, drawn) == all);
  // The members of an object are in the order of their names.
  const std::vector<Look> given = looks(data, std::regex("(c\\d) (d\\d)\"()"));
  REQUIRE(given.size() == count);
  static const std::regex marker("\"marker\":\"([^\"]*)\"");
  std::sregex_iterator markers(data.begin(), data.end(), marker);
  std::set<std::pair<std::string, std::string>> without_colours;
  std::set<std::string> with_colours;
  for (std::size_t i = 0; i < count; ++i, ++markers) {
    CHECK(given[i].colour == all[i].colour);
    CHECK(given[i].dashes == all[i].dashes);
    REQUIRE(markers != std::sregex_iterator());
    CHECK((*markers)[1] == all[i].marker);
    if (i < 24) without_colours.emplace(all[i].dashes, all[i].marker);
    with_colours.insert(all[i].colour + all[i].dashes + all[i].marker);
  }
  CHECK(without_colours.size() == 24);
  CHECK(with_colours.size() == count);
  // Solid, and three kinds of dashes.
  std::set<std::string> dashes;
  for (int i = 0; i < 4; ++i) {
    dashes.insert(between(page, fmt::format(".d{} .line {{ stroke-dasharray: ", i), ";"));
  }
  CHECK(dashes.size() == 4);
}

TEST_CASE("croquis report, croquis plot: colours of curves stand out and differ without red or green cones too") {
  const TemporaryFolder folder;
  const std::string page = page_of(folder, many_curves(8));
  const std::string light = between(page, ":root {", "}"), dark = between(page, "(prefers-color-scheme: dark) {", "}");
  for (const std::string& theme : {light, dark}) {
    std::vector<std::string> colours = curve_colours(theme);
    const std::string ground = between(theme, "--ground: ", ";");
    for (const std::string& colour : colours) CHECK_MESSAGE(contrast(colour, ground) >= 3, colour);
    colours.push_back(between(theme, "--ink: ", ";"));  // of v-mean and best-rank-d
    // 2 is what is just seen side by side; lines are thin and apart.
    constexpr double least = 12;
    for (std::size_t i = 0; i < colours.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        CAPTURE(colours[i]);
        CAPTURE(colours[j]);
        CHECK(distance(kNoGreenCones, colours[i], colours[j]) >= least);
        CHECK(distance(kNoRedCones, colours[i], colours[j]) >= least);
      }
    }
  }
  const DrawnPlot plot = drawn_plot("plot r.csv", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  std::set<std::string> drawn;
  for (const DrawnCurve& curve : plot.curves) drawn.insert(curve.colour);
  const std::vector<std::string> named = curve_colours(light);
  CHECK(drawn == std::set<std::string>(named.begin(), named.end()));
}

TEST_CASE("croquis report: numbers of a map have a contrast of 4.5 with their cells") {
  const TemporaryFolder folder;
  const std::string page = page_of(folder, many_curves(1));
  static const std::regex cell("\\.h\\d+ \\{ background: (#[0-9a-f]+); color: (#[0-9a-f]+); \\}");
  int cells = 0;
  for (std::sregex_iterator match(page.begin(), page.end(), cell), end; match != end; ++match, ++cells) {
    CHECK_MESSAGE(contrast((*match)[1], (*match)[2]) >= 4.5, match->str());
  }
  CHECK(cells == 12);
}
