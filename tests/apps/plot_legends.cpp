// The legend and the title of a plot: which curves it has, and what is not drawn.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/made_rows.hpp"
#include "support/gnuplot_script.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

// The entries of a legend in an .svg, by where they begin: no other text of a plot begins at its place.
std::map<std::string, std::size_t> legend_columns(const std::string& svg) {
  static const std::regex entry("<g transform=\"translate\\(([0-9.]+),[0-9.]+\\)\"[^>]*text-anchor=\"start\"");
  std::map<std::string, std::size_t> columns;
  for (std::sregex_iterator match(svg.begin(), svg.end(), entry), end; match != end; ++match) ++columns[(*match)[1]];
  return columns;
}

}  // namespace

TEST_CASE("croquis plot: 40 curves differ in colour, marker or dashes, in what gnuplot is told and in the picture") {
  TemporaryFolder folder;
  std::string text = kErrorHeader;
  for (int i = 0; i < 40; ++i) {
    for (const int d : {8, 16}) text += plot_row("x", fmt::format("m{}", i), "softmax", d, 1, 0.1 + 0.01 * i);
  }
  write_text(folder / "r.csv", text);
  const DrawnPlot plot = drawn_plot("plot r.csv --out r.svg", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  REQUIRE(plot.curves.size() == 40);
  std::set<std::tuple<std::string, int, int>> told;
  for (const DrawnCurve& curve : plot.curves) told.insert({curve.colour, curve.marker, curve.dash});
  CHECK(told.size() == 40);
  // So many are found in the legend by the order in which they end at the right.
  CHECK(plot.legend.front() == "m39");
  CHECK(plot.legend.back() == "m0");
  CHECK(contains(plot.title, "legend: by the value at the right, largest first"));
  const DrawnPlot few = drawn_plot("plot r.csv --out f.svg --methods m3,m1,m2", folder.path());
  CHECK(few.legend == std::vector<std::string>{"m1", "m2", "m3"});  // as in the rows
  CHECK_FALSE(contains(few.title, "legend:"));

  // In the picture a curve is a group with its colour, the dashes of its line, and points that are copies of a marker.
  const std::string svg = read_text(folder / "r.svg");
  static const std::regex dashes("stroke-dasharray='([^']*)'"), markers("xlink:href='#gpPt(\\d+)'"),
      colours("stroke='(rgb\\([^)]*\\))'|color=\"(#[^\"]*)\"|stroke='(#[^']*)'");
  std::set<std::string> seen;
  for (std::size_t at = svg.find("<g id=\"gnuplot_plot_"); at != std::string::npos;) {
    const std::size_t next = svg.find("<g id=\"gnuplot_plot_", at + 1);
    const std::string curve = svg.substr(at, next == std::string::npos ? next : next - at);
    at = next;
    std::smatch marker, dash, colour;
    if (!std::regex_search(curve, marker, markers)) continue;  // a band
    const std::string dashed = std::regex_search(curve, dash, dashes) ? dash.str(1) : "solid";
    const std::string coloured = std::regex_search(curve, colour, colours) ? colour.str(0) : "";
    seen.insert(fmt::format("{} {} {}", marker.str(1), dashed, coloured));
  }
  CHECK(seen.size() == 40);
}

// gnuplot breaks a legend into columns, beside which nothing is left of the plot, where the page is too low for it.
TEST_CASE("croquis plot: the legend of an .svg is one column, of 40 curves and of all methods") {
  TemporaryFolder folder;
  std::string text = kErrorHeader;
  for (int i = 0; i < 40; ++i) {
    for (const int d : {8, 16}) text += plot_row("x", fmt::format("m{}", i), "softmax", d, 1, 0.1 + 0.01 * i);
  }
  write_text(folder / "r.csv", text);
  for (const std::string run : {"plot r.csv --out r.svg", "error --n 32 --features 8 --trials 1 --plot r.svg"}) {
    CAPTURE(run);
    const DrawnPlot plot = drawn_plot(run, folder.path());
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    REQUIRE(plot.curves.size() > 30);
    const std::map<std::string, std::size_t> columns = legend_columns(read_text(folder / "r.svg"));
    REQUIRE(columns.size() == 1);
    CHECK(columns.begin()->second >= plot.curves.size());
  }
}

TEST_CASE("croquis plot: the title says where a curve is missing, because it failed or is zero there") {
  TemporaryFolder folder;
  const auto failed = [](const std::string& method, int d) {
    return failed_row({.input = "x", .method = method, .d = d}, "not finite");
  };
  std::string text = kErrorHeader;
  for (const int d : {8, 16, 32}) {
    text += plot_row("x", "v-mean", "softmax", d, 1, 0.5);
    text += d == 8 ? plot_row("x", "informer", "softmax", d, 1, 0.4) : failed("informer", d);
    text +=
        d == 32 ? plot_row("x", "longformer", "softmax", d, 1, 0) : plot_row("x", "longformer", "softmax", d, 1, 0.03);
    text += failed("linear", d);
  }
  write_text(folder / "r.csv", text);
  const DrawnPlot plot = drawn_plot("plot r.csv", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  CHECK_MESSAGE(contains(plot.title,
                         "not drawn, failed: linear (d = 8, 16, 32), informer (d = 16, 32); zero: "
                         "longformer (d = 32)"),
                plot.title);
  CHECK_FALSE(contains(drawn_plot("plot r.csv --methods v-mean", folder.path()).title, "not drawn"));
  // Of many, as many as a title holds.
  for (int i = 0; i < 20; ++i) text += failed(fmt::format("method-{}", i), 8);
  write_text(folder / "r.csv", text);
  CHECK(contains(drawn_plot("plot r.csv", folder.path()).title, "method-1 (d = 8) and 18 more; zero: longformer"));
}

TEST_CASE("croquis plot: where the median is zero and the mean is not, it is missing from the curve of medians alone") {
  TemporaryFolder folder;
  std::string text = kErrorHeader;
  for (const int d : {8, 16}) {
    for (const int t : {1, 2, 3}) {
      text += plot_row("x", "longformer", "softmax", d, t, d == 8 && t < 3 ? 0 : 0.3) +
              plot_row("x", "informer", "softmax", d, t, d == 8 ? 0.5 : 0.02);
    }
  }
  write_text(folder / "r.csv", text);
  const DrawnPlot median = drawn_plot("plot r.csv", folder.path()),
                  mean = drawn_plot("plot r.csv --statistic mean", folder.path());
  CHECK_MESSAGE(contains(median.title, "not drawn, zero: longformer (d = 8)\n"), median.title);
  CHECK(median.curve("longformer").points.size() == 1);
  CHECK_FALSE(contains(mean.title, "zero"));
  CHECK(mean.curve("longformer").points.at(0)[1] == doctest::Approx(0.1));
}

TEST_CASE(
    "croquis plot: methods of another function than softmax attention have open markers and a block of the legend") {
  TemporaryFolder folder;
  write_text(folder / "r.csv", four_methods());
  const DrawnPlot plot = drawn_plot("plot r.csv", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  const std::vector<std::string> legend = {"softmax attention",
                                           "v-mean",
                                           "nystromformer",
                                           "C V, another function",
                                           "skyformer",
                                           "unit q and k, another function",
                                           "nprf"};
  CHECK(plot.legend == legend);
  for (const DrawnCurve& curve : plot.curves) {  // gnuplot's filled markers are odd from 5 on, its open ones even
    const bool softmax = curve.title == "v-mean" || curve.title == "nystromformer";
    CHECK((curve.marker % 2 == 1) == softmax);
    CHECK(curve.marker >= 4);
  }
  CHECK(contains(plot.title, "not to be compared"));

  const DrawnPlot one = drawn_plot("plot r.csv --methods skyformer", folder.path());
  CHECK(one.legend == std::vector<std::string>{"skyformer"});
  CHECK(contains(one.title, "approximating C V, another function\n"));
}

TEST_CASE("croquis plot: what belongs to all blocks of the legend stands below the last one, with a line between") {
  TemporaryFolder folder;
  std::string text = with_fields(kErrorHeader, ",bound_abs");
  for (const int d : {8, 16}) {
    for (const char* method : {"linformer-unreduced", "skyformer"}) {
      const bool softmax = method[0] == 'l';
      for (const int t : {1, 2, 3}) {
        text +=
            with_fields(plot_row("x", method, softmax ? "softmax" : "kernelized", d, t, softmax && t == 3 ? 9 : 0.3),
                        softmax ? ",2.5" : ",NA");
      }
    }
  }
  write_text(folder / "r.csv", text);
  const std::string script = drawn_plot("plot r.csv", folder.path()).script;
  const std::size_t last = script.find("title \"skyformer\"");
  REQUIRE(last != std::string::npos);
  const std::size_t blank = script.find("title ' '", last), stars = script.find("title 'heavy-tailed draws'", last),
                    bound = script.find("title \"guarantee: linformer-unreduced\"", last);
  CHECK_MESSAGE(blank < stars, script);
  CHECK(stars < bound);
  CHECK(bound != std::string::npos);
  const DrawnPlot one = drawn_plot("plot r.csv --methods linformer-unreduced", folder.path());
  CHECK_FALSE(contains(one.script, "title ' '"));
}

TEST_CASE("croquis plot: causal attention and a sample of rows are in the title") {
  TemporaryFolder folder;
  std::string rows;
  for (const char* head : {"0", "1"}) {
    rows += with_fields(
        plot_row(fmt::format("arrays:q;head={};bias=alibi:1;causal", head), "prf-rpe", "softmax-rpe", 8, 1, 0.5),
        ",16,0.4,0.6,0.4,0.6");
  }
  write_text(folder / "r.csv", kSampledHeader + rows);
  const DrawnPlot plot = drawn_plot("plot r.csv", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  CHECK(contains(plot.title, "2 heads, n = 32, p = 4, 16 of n rows, causal attention\n"));
  CHECK(contains(plot.title, "approximating softmax attention, with --bias if given\n"));
  write_text(folder / "p.csv", kErrorHeader + plot_row("arrays:q", "v-mean", "softmax", 8, 1, 0.5));
  CHECK_FALSE(contains(drawn_plot("plot p.csv", folder.path()).title, "causal"));
}

TEST_CASE(
    "croquis plot: a guarantee is drawn in the units of the errors, and one of 1 or more is no guarantee of them") {
  TemporaryFolder folder;
  std::string text = with_fields(kErrorHeader, ",bound_abs");
  for (const auto& [d, bound] : {std::pair(8, 6), {16, 2}}) {  // of an output whose norm is 4
    text += fmt::format("x,linformer-unreduced,paper,softmax,32,4,4,{},1,1,double,{},{},1,0.5,1,0,1,0.5,100,ok,{}\n", d,
                        4.0 / d, 1.0 / d, bound);
  }
  write_text(folder / "r.csv", text);
  const std::string trivial = "one of 1 or more holds for output 0 too";
  const DrawnPlot relative = drawn_plot("plot r.csv", folder.path()),
                  absolute = drawn_plot("plot r.csv --metric spectral_abs", folder.path());
  for (const auto& [drawn, first, second] : {std::tuple(&relative, 1.5, 0.5), {&absolute, 6.0, 2.0}}) {
    const DrawnPlot& plot = *drawn;
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    const auto& points = plot.curve("linformer-unreduced").points;
    REQUIRE(points.size() == 2);
    CHECK(points[0].at(5) == doctest::Approx(first));
    CHECK(points[1].at(5) == doctest::Approx(second));
    CHECK(contains(plot.title, "dotted: guaranteed by a theorem"));
  }
  CHECK_MESSAGE(contains(relative.title, trivial), relative.title);
  CHECK_FALSE(contains(absolute.title, trivial));
  CHECK_FALSE(contains(drawn_plot("plot r.csv --features 16", folder.path()).title, trivial));
}
