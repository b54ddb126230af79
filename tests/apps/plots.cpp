// What plots show: read in the script that gnuplot gets, and in the picture.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "support/capture.hpp"
#include "support/gnuplot_script.hpp"
#include "support/text.hpp"

namespace {

const char* const kPlotHeader =
    "input,method,preset,target,n,p,p_v,features,trial,seed,precision,spectral_abs,spectral_rel,frobenius_abs,"
    "frobenius_rel,max_abs,row_sum_dev,min_denominator,seconds,flops,status\n";

std::string row(const std::string& input, const std::string& method, const std::string& target, int d, int trial,
                double error, double seconds = 0.5, double flops = 100) {
  return fmt::format("{},{},paper,{},32,4,4,{},{},1,double,1,{},1,0.5,1,0,1,{},{},ok\n", input, method, target, d,
                     trial, error, seconds, flops);
}

// Two methods of softmax attention, one of C V and one of unit queries and keys, at two d, two draws.
std::string four_methods() {
  std::string text = kPlotHeader;
  for (const int d : {8, 16}) {
    for (const int t : {1, 2}) {
      text += row("x", "v-mean", "softmax", d, t, 0.5) + row("x", "skyformer", "kernelized", d, t, 0.3) +
              row("x", "nystromformer", "softmax", d, t, 0.2, 0.25 * d, 10 * d) +
              row("x", "nprf", "normalized", d, t, 0.4);
    }
  }
  return text;
}

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
  std::string text = kPlotHeader;
  for (int i = 0; i < 40; ++i) {
    for (const int d : {8, 16}) text += row("x", fmt::format("m{}", i), "softmax", d, 1, 0.1 + 0.01 * i);
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
  std::string text = kPlotHeader;
  for (int i = 0; i < 40; ++i) {
    for (const int d : {8, 16}) text += row("x", fmt::format("m{}", i), "softmax", d, 1, 0.1 + 0.01 * i);
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

TEST_CASE(
    "croquis plot: the line lies in its band, of heavy-tailed draws too, which get a star; the title says what both "
    "are") {
  TemporaryFolder folder;
  std::string text = kPlotHeader;
  for (int t = 1; t <= 20; ++t) {  // the mean, 5.1, is above the 90 % quantile 0.12
    for (const int d : {8, 16}) text += row("x", "skyformer", "softmax", d, t, t == 20 ? 100.0 : 0.1 + 0.001 * t);
    text += row("x", "informer", "softmax", 8, t, 1 + 0.01 * t);
  }
  write_text(folder / "r.csv", text);
  for (const std::string statistic : {"median", "mean"}) {
    CAPTURE(statistic);
    const DrawnPlot plot = drawn_plot("plot r.csv --statistic " + statistic, folder.path());
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    for (const DrawnCurve& curve : plot.curves) {
      for (const auto& p : curve.points) {
        CHECK(p[2] <= p[1]);
        CHECK(p[1] <= p[3]);
        CHECK(p[4] == (curve.title == "skyformer" ? 1 : 0));
      }
    }
    const double drawn = plot.curve("skyformer").points.front()[1];
    CHECK(drawn == doctest::Approx(statistic == "median" ? 0.1105 : (19 * 0.1 + 0.19 + 100) / 20));
    CHECK(contains(plot.title, statistic + " of 20 draws; band: "));
    CHECK(contains(plot.script, "'heavy-tailed draws'"));
  }
  CHECK(drawn_plot("plot r.csv", folder.path()).run.status == 0);
}

TEST_CASE("croquis plot: the title says where a curve is missing, because it failed or is zero there") {
  TemporaryFolder folder;
  const auto failed = [](const std::string& method, int d) {
    return fmt::format("x,{},paper,softmax,32,4,4,{},1,1,double,NA,NA,NA,NA,NA,NA,NA,NA,NA,not finite\n", method, d);
  };
  std::string text = kPlotHeader;
  for (const int d : {8, 16, 32}) {
    text += row("x", "v-mean", "softmax", d, 1, 0.5);
    text += d == 8 ? row("x", "informer", "softmax", d, 1, 0.4) : failed("informer", d);
    text += d == 32 ? row("x", "longformer", "softmax", d, 1, 0) : row("x", "longformer", "softmax", d, 1, 0.03);
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

TEST_CASE("croquis plot: of several heads, the median of their means within the smallest and the largest") {
  TemporaryFolder folder;
  std::string text = kPlotHeader;
  const double means[] = {0.05, 0.06, 0.04, 7.0, 0.05};  // of the pooled rows the mean is 1.44
  for (int h = 0; h < 5; ++h) {
    for (int t = 1; t <= 4; ++t) {
      text += row(fmt::format("arrays:q;head={}", h), "skyformer", "softmax", 8, t, means[h] * (0.5 + 0.2 * t));
    }
  }
  write_text(folder / "r.csv", text);
  const DrawnPlot plot = drawn_plot("plot r.csv", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  const std::vector<double>& point = plot.curve("skyformer").points.at(0);
  CHECK(point[1] == doctest::Approx(0.05));
  CHECK(point[2] == doctest::Approx(0.04));
  CHECK(point[3] == doctest::Approx(7.0));
  CHECK(contains(plot.script, "using 1:2:3:4 with yerrorbars"));
  CHECK(contains(plot.title, "5 heads, n = 32"));
  CHECK(contains(plot.title, "median over 5 heads of the mean over 4 draws; bar: smallest to largest"));
  const DrawnPlot mean = drawn_plot("plot r.csv --statistic mean", folder.path());
  CHECK(mean.curve("skyformer").points.at(0)[1] == doctest::Approx(1.44));
  double squares = 0;
  for (const double m : means) squares += (m - 1.44) * (m - 1.44);
  // A draw adds 1.44 (-.3, -.1, .1, .3) to the heads on average: s^2 / 4 of these.
  const double of_draws = 1.44 * 1.44 * (0.2 / 3) / 4;
  CHECK(mean.curve("skyformer").points.at(0)[3] == doctest::Approx(1.44 + std::sqrt(squares / 4 / 5 + of_draws)));
  CHECK(contains(mean.title, "standard error between"));
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
  std::string text = kPlotHeader;
  text.insert(text.size() - 1, ",bound_abs");
  for (const int d : {8, 16}) {
    for (const char* method : {"linformer-unreduced", "skyformer"}) {
      const bool softmax = method[0] == 'l';
      for (const int t : {1, 2, 3}) {
        std::string line = row("x", method, softmax ? "softmax" : "kernelized", d, t, softmax && t == 3 ? 9 : 0.3);
        line.insert(line.size() - 1, softmax ? ",2.5" : ",NA");
        text += line;
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

TEST_CASE("croquis plot: of croquis cost, heavy-tailed repeats are not called draws") {
  TemporaryFolder folder;
  std::string text =
      "input,method,preset,n,p,p_v,features,repeat,seed,precision,threads,seconds,peak_bytes,flops,status\n";
  for (const int n : {32, 64}) {
    for (const int repeat : {1, 2, 3}) {
      text +=
          fmt::format("gaussian,v-mean,paper,{},4,4,8,{},1,double,1,{},100,10,ok\n", n, repeat, repeat == 3 ? 9 : 1);
    }
  }
  write_text(folder / "c.csv", text);
  const DrawnPlot plot = drawn_plot("plot c.csv", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  CHECK(contains(plot.script, "title 'heavy-tailed repeats'"));
}

TEST_CASE("croquis plot: of costs at one n, exact attention is a line across, which has no d") {
  TemporaryFolder folder;
  std::string text =
      "input,method,preset,n,p,p_v,features,repeat,seed,precision,threads,seconds,peak_bytes,flops,status\n";
  const auto rows = [&](const std::string& method, int d, double scale) {
    for (const auto& [repeat, seconds] : {std::pair(1, 1), {2, 2}, {3, 6}}) {
      text += fmt::format("gaussian,{},paper,1024,64,64,{},{},1,double,2,{},4096,{},ok\n", method, d, repeat,
                          scale * seconds, 1000 + d);
    }
  };
  rows("exact", 0, 1);
  write_text(folder / "e.csv", text);
  for (const int d : {16, 64}) rows("skeinformer", d, 0.125 * d);
  write_text(folder / "t.csv", text);
  const auto across = [](const DrawnPlot& plot) {
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    const std::size_t at = plot.script.find("$level0 << EOD\n") + 15;
    return plot.script.substr(at, plot.script.find("EOD", at) - at);
  };
  const DrawnPlot plot = drawn_plot("plot t.csv", folder.path());
  CHECK(across(plot) == fmt::format("{:.9g} 2 2 2\n{:.9g} 2 2 2\n", 16 / 1.1, 64 * 1.1));
  CHECK(plot.legend == std::vector<std::string>{"skeinformer (n = 1024)", "exact (n = 1024)"});
  CHECK(contains(plot.script, "$level0 using 1:2 with lines lc rgb '#000000'"));
  // The mean 3 with its standard error, the root of 7 over 3.
  const std::string mean = across(drawn_plot("plot t.csv --statistic mean", folder.path()));
  CHECK_MESSAGE(contains(mean, " 3 1.47247"), mean);
  CHECK(contains(mean, " 4.52752"));
  const DrawnPlot flops = drawn_plot("plot t.csv --x flops", folder.path());
  CHECK_FALSE(contains(flops.script, "$level"));
  CHECK(flops.curve("exact (n = 1024)").points.front()[0] == 1000);
  const DrawnPlot alone = drawn_plot("plot e.csv", folder.path());
  CHECK(across(alone) == "1 2 2 2\n2 2 2 2\n");
  CHECK(alone.legend == std::vector<std::string>{"exact (n = 1024)"});
  CHECK(contains(alone.title, "median of 3 repeats\n"));
}

TEST_CASE("croquis plot: --methods, --features, --input, --title and --size") {
  TemporaryFolder folder;
  write_text(folder / "r.csv", four_methods() + row("y", "v-mean", "softmax", 8, 1, 0.9));
  const DrawnPlot some = drawn_plot("plot r.csv --methods nprf,v-mean --input x --features 16", folder.path());
  REQUIRE_MESSAGE(some.run.status == 0, some.run.output);
  REQUIRE(some.curves.size() == 2);
  CHECK(some.curve("v-mean").points.size() == 1);
  CHECK(some.curve("v-mean").points[0][0] == 16);
  CHECK(some.curve("v-mean").points[0][1] == 0.5);
  CHECK(some.title.starts_with("x, n = 32, p = 4\n"));
  CHECK(drawn_plot("plot r.csv --input y", folder.path()).curve("v-mean").points[0][1] == 0.9);

  const DrawnPlot titled =
      drawn_plot("plot r.csv --title \"Layer 3, 'trained'\" --size 500x300 --out t.svg", folder.path());
  REQUIRE_MESSAGE(titled.run.status == 0, titled.run.output);
  CHECK(titled.title.starts_with("Layer 3, 'trained'\nmedian "));
  CHECK(contains(read_text(folder / "t.svg"), "viewBox=\"0 0 500 300\""));
  for (const char* file : {"t.png", "t.pdf"}) {
    CHECK(drawn_plot(std::string("plot r.csv --size 500x300 --out ") + file, folder.path()).run.status == 0);
  }
  CHECK(contains(read_text(folder / "t.png").substr(16, 8), std::string("\x01\xF4\0\0\x01\x2C", 6)));  // 500, 300

  const struct {
    const char *arguments, *message;
  } wrong[] = {
      {"--methods nystromfromer", "did you mean 'nystromformer'?"},
      {"--methods linformer", "'linformer' is none of v-mean, skyformer, nystromformer, nprf"},
      {"--input z", "--input: 'z' is none of x, y"},
      {"--features 32", "--features: '32' is none of 8, 16"},
      {"--metric frobenius", "did you mean 'frobenius_abs'?"},
      {"--size 500", "--size"},
      {"--size 500x", "--size"},
      {"--size 5x5", "--size"},
      {"--size 500x300x2", "--size"},
      {"--size -500x300", "--size"},
      {"--statistic mode", "--statistic"},
      {"--x time", "--x"},
      {"--x n", "--x: these curves run over features"},
      {"--heat-map --x flops", "--x"},
      {"--heat-map --features 8,16", "one of --features"},
      {"--heat-map", "no row has a spectral_rel and a layer or head"},
  };
  for (const auto& [arguments, message] : wrong) {
    CAPTURE_BINDING(arguments);
    const ProgramRun run = run_croquis(std::string("plot r.csv --out w.svg ") + arguments, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(contains(run.output, message), run.output);
    CHECK_FALSE(std::filesystem::exists(folder / "w.svg"));
  }
}

TEST_CASE("croquis plot --x: against flops and seconds, each point at the median of its rows") {
  TemporaryFolder folder;
  write_text(folder / "r.csv", four_methods() + row("x", "nystromformer", "softmax", 8, 3, 0.2, 1000, 80));
  const DrawnPlot flops = drawn_plot("plot r.csv --x flops", folder.path());
  REQUIRE_MESSAGE(flops.run.status == 0, flops.run.output);
  CHECK(flops.curve("nystromformer").points[0][0] == 80);
  CHECK(flops.curve("nystromformer").points[1][0] == 160);
  CHECK(contains(flops.script, "set xlabel \"flops"));
  // Of single points a band is a bar, also where each stands elsewhere.
  const std::string points = drawn_plot("plot r.csv --x flops --features 8", folder.path()).title;
  CHECK_MESSAGE((contains(points, "; bar: ") && !contains(points, "band")), points);
  const DrawnPlot seconds = drawn_plot("plot r.csv --x seconds", folder.path());
  CHECK(seconds.curve("nystromformer").points[0][0] == 2);
  CHECK(seconds.curve("nystromformer").points[1][0] == 4);
  CHECK(contains(seconds.script, "set xlabel \"seconds"));
}

TEST_CASE("croquis plot: causal attention and a sample of rows are in the title") {
  TemporaryFolder folder;
  std::string header = kPlotHeader, rows;
  header.insert(header.size() - 1, ",rows,spectral_rel_lo,spectral_rel_hi,frobenius_rel_lo,frobenius_rel_hi");
  for (const char* head : {"0", "1"}) {
    std::string line =
        row(fmt::format("arrays:q;head={};bias=alibi:1;causal", head), "prf-rpe", "softmax-rpe", 8, 1, 0.5);
    line.insert(line.size() - 1, ",16,0.4,0.6,0.4,0.6");
    rows += line;
  }
  write_text(folder / "r.csv", header + rows);
  const DrawnPlot plot = drawn_plot("plot r.csv", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  CHECK(contains(plot.title, "2 heads, n = 32, p = 4, 16 of n rows, causal attention\n"));
  CHECK(contains(plot.title, "approximating softmax attention, with --bias if given\n"));
  write_text(folder / "p.csv", kPlotHeader + row("arrays:q", "v-mean", "softmax", 8, 1, 0.5));
  CHECK_FALSE(contains(drawn_plot("plot p.csv", folder.path()).title, "causal"));
}

TEST_CASE("croquis plot --heat-map: the median of the draws of each head at its layer and head, a map a method") {
  TemporaryFolder folder;
  const auto error = [](int layer, int head) { return 0.1 + 0.1 * layer + 0.01 * head; };
  std::string text = kPlotHeader;
  for (int layer = 0; layer < 2; ++layer) {
    for (int head = 0; head < 3; ++head) {
      const std::string input = fmt::format("model:m;layer={};head={}", layer, head);
      for (int t = 1; t <= 3; ++t) {
        text += row(input, "skyformer", "kernelized", 8, t, 9);
        text += row(input, "skyformer", "kernelized", 16, t, error(layer, head) * (t == 3 ? 50 : 1));
        text += row(input, "informer", "softmax", 16, t, 0.5);
      }
    }
  }
  write_text(folder / "r.csv", text);
  const DrawnPlot both = drawn_plot("plot r.csv --heat-map", folder.path());
  REQUIRE_MESSAGE(both.run.status == 0, both.run.output);
  CHECK(contains(both.script, "$cells0") == contains(both.script, "$cells1"));
  const DrawnPlot one =
      drawn_plot("plot r.csv --heat-map --methods skyformer --features 16 --out h.png", folder.path());
  REQUIRE_MESSAGE(one.run.status == 0, one.run.output);
  CHECK(one.title ==
        "skyformer, d = 16\n6 heads, n = 32, p = 4\nmedian of 3 draws: ||O - O~|| / ||O||, spectral "
        "norm\napproximating C "
        "V, another function\n");
  for (int layer = 0; layer < 2; ++layer) {
    for (int head = 0; head < 3; ++head) {
      CHECK(contains(one.script, fmt::format("\n{} {} {:.9g}\n", head, layer, error(layer, head))));
    }
  }
  CHECK(run_croquis("plot r.csv --heat-map --methods skyformer --features 8", folder.path()).status ==
        0);  // all the same
}

TEST_CASE("croquis plot --heat-map: zeros are numbers of the median over inputs, and have the lightest colour") {
  TemporaryFolder folder;
  const auto drawn = [&](const std::vector<std::vector<double>>& heads) {  // the errors of each on the sequences
    std::string text = kPlotHeader;
    for (std::size_t head = 0; head < heads.size(); ++head) {
      for (std::size_t sequence = 0; sequence < heads[head].size(); ++sequence) {
        text += row(fmt::format("arrays:q;batch={};head={}", sequence, head), "longformer", "softmax", 8, 1,
                    heads[head][sequence]);
      }
    }
    write_text(folder / "r.csv", text);
    DrawnPlot plot = drawn_plot("plot r.csv --heat-map", folder.path());
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    return plot;
  };
  const DrawnPlot some = drawn({{0, 0, 0.9}, {0, 0.02, 0.3}, {0.5, 0.5, 0.5}});
  for (const char* cell : {"\n0 0 0\n", "\n1 0 0.02\n", "\n2 0 0.5\n"}) CHECK(contains(some.script, cell));
  CHECK(contains(some.script, "set logscale cb\nset cbrange [0.02:0.5]\n"));
  CHECK(contains(some.script, "($3 < 0.02 ? 0.02 : $3) with boxxyerror"));
  const DrawnPlot none = drawn({{0, 0, 0}, {0, 0, 0}});
  CHECK(contains(none.script, "\n0 0 0\n1 0 0\n"));
  CHECK_FALSE(contains(none.script, "logscale"));
}

TEST_CASE("croquis plot --heat-map: layers that were not measured take no room, and what is common stands once") {
  TemporaryFolder folder;
  std::string text = kPlotHeader;
  for (const int layer : {0, 5}) {
    for (const char* method : {"informer", "longformer"}) {
      text += row(fmt::format("model:m;layer={};head=2", layer), method, "softmax", 8, 1, 1 + layer);
    }
  }
  write_text(folder / "r.csv", text);
  const DrawnPlot plot = drawn_plot("plot r.csv --heat-map", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  CHECK(contains(plot.script, "set ytics ('0' 0, '5' 1)\n"));
  CHECK(contains(plot.script, "set xtics ('2' 0)\n"));
  CHECK(contains(plot.script, "\n0 0 1\n0 1 6\n"));
  CHECK(plot.script.find("spectral norm") == plot.script.rfind("spectral norm"));
}

TEST_CASE("croquis plot: with more than 8 curves there are no bands, and of fewer than 5 draws they show all") {
  TemporaryFolder folder;
  std::string text = kPlotHeader;
  for (int i = 0; i < 9; ++i) {
    for (const int d : {8, 16}) {
      for (int t = 1; t <= 4; ++t) text += row("x", fmt::format("m{}", i), "softmax", d, t, 0.1 * t);
    }
  }
  write_text(folder / "r.csv", text);
  const DrawnPlot many = drawn_plot("plot r.csv", folder.path());
  REQUIRE_MESSAGE(many.run.status == 0, many.run.output);
  CHECK_FALSE(contains(many.script, "filledcurves"));
  CHECK(contains(many.title, "median of 4 draws; no bands with more than 8 curves\n"));
  const DrawnPlot few = drawn_plot("plot r.csv --methods m0,m1", folder.path());
  CHECK(contains(few.script, "filledcurves"));
  CHECK(contains(few.title, "median of 4 draws; band: smallest to largest\n"));
  const std::vector<double>& point = few.curve("m0").points.front();
  CHECK(point[2] == doctest::Approx(0.1));
  CHECK(point[3] == doctest::Approx(0.4));
}

TEST_CASE("croquis plot: a band over seconds goes from left to right, and intervals of --rows are bars") {
  TemporaryFolder folder;
  std::string text = kPlotHeader, sampled = kPlotHeader;
  for (const int d : {8, 16, 32}) text += row("x", "v-mean", "softmax", d, 1, 0.5, d == 16 ? 4 : d == 32 ? 2 : 3);
  write_text(folder / "r.csv", text);
  const DrawnPlot plot = drawn_plot("plot r.csv --x seconds", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  CHECK(contains(plot.script, "$band0 << EOD\n2 0.5 0.5 0.5\n3 0.5 0.5 0.5\n4 0.5 0.5 0.5\nEOD\n"));
  CHECK(contains(plot.script, "$band0 using 1:3:4 with filledcurves"));
  CHECK(plot.curve("v-mean").points.at(1)[0] == 4);  // in the order of d

  sampled.insert(sampled.size() - 1, ",rows,spectral_rel_lo,spectral_rel_hi,frobenius_rel_lo,frobenius_rel_hi");
  for (const int d : {8, 16}) {
    std::string line = row("x", "v-mean", "softmax", d, 1, 0.5);
    line.insert(line.size() - 1, ",16,0.25,0.75,0.4,0.6");
    sampled += line;
  }
  write_text(folder / "s.csv", sampled);
  const DrawnPlot rows = drawn_plot("plot s.csv", folder.path());
  REQUIRE_MESSAGE(rows.run.status == 0, rows.run.output);
  CHECK(contains(rows.script, "using 1:2:7:8 with yerrorbars"));
  CHECK(contains(rows.script, "95 %, for the sample of rows"));
  CHECK(contains(rows.script, "\n8 0.5 0.5 0.5 0 nan 0.25 0.75\n"));
}

TEST_CASE("croquis plot: over several heads the interval of --rows is that of the mean or the median which is drawn") {
  TemporaryFolder folder;
  std::string text = kPlotHeader;
  text.insert(text.size() - 1, ",rows,spectral_rel_lo,spectral_rel_hi,frobenius_rel_lo,frobenius_rel_hi");
  for (const auto& [head, error] : {std::pair(0, 0.25), {1, 0.5}, {2, 1.5}}) {
    std::string line = row(fmt::format("arrays:q;head={}", head), "skyformer", "softmax", 8, 1, error);
    line.insert(line.size() - 1, fmt::format(",16,{0},{1},{0},{1}", error / 2, 2 * error));
    text += line;
  }
  write_text(folder / "s.csv", text);
  const auto drawn = [&](const char* statistic) {
    return drawn_plot(fmt::format("plot s.csv --statistic {}", statistic), folder.path()).script;
  };
  CHECK(contains(drawn("median"), "\n8 0.5 0.25 1.5 0 nan 0.25 1\n"));
  CHECK_MESSAGE(contains(drawn("mean"), " nan 0.375 1.5\n"), drawn("mean"));
}

TEST_CASE("croquis plot: a standard error of sampled rows, which all draws and heads share, is said to be on them") {
  TemporaryFolder folder;
  for (const int heads : {1, 2}) {
    for (const bool sampled : {false, true}) {
      CAPTURE(heads);
      CAPTURE(sampled);
      std::string text = kPlotHeader;
      if (sampled) text.insert(text.size() - 1, ",rows");
      for (int h = 0; h < heads; ++h) {
        for (const int t : {1, 2}) {
          std::string line = row(fmt::format("arrays:q;head={}", h), "skyformer", "softmax", 8, t, 0.1 * t + 0.1 * h);
          if (sampled) line.insert(line.size() - 1, ",16");
          text += line;
        }
      }
      write_text(folder / "s.csv", text);
      const DrawnPlot mean = drawn_plot("plot s.csv --statistic mean", folder.path());
      REQUIRE_MESSAGE(mean.run.status == 0, mean.run.output);
      const std::string says = heads == 1 ? "mean of 2 draws; bar: its standard error"
                                          : ", and its standard error between them, with that of the draws";
      CHECK_MESSAGE(contains(mean.title, says + (sampled ? " on these rows\n" : "\n")), mean.title);
      CHECK_FALSE(contains(drawn_plot("plot s.csv", folder.path()).title, "on these rows"));
    }
  }
}

TEST_CASE("croquis plot: bars of several curves at one d, or of their intervals, stand side by side") {
  TemporaryFolder folder;
  std::string text = kPlotHeader;
  for (const char* method : {"v-mean", "informer", "longformer"}) {
    for (const int d : {8, 10}) text += row("x", method, "softmax", d, 1, 0.5) + row("x", method, "softmax", d, 2, 0.6);
  }
  write_text(folder / "r.csv", text);
  const DrawnPlot one = drawn_plot("plot r.csv --features 8", folder.path());
  REQUIRE_MESSAGE(one.run.status == 0, one.run.output);
  CHECK(one.legend.size() == 3);
  for (const char* x : {"($1*0.9524)", "($1*1.0000)", "($1*1.0500)"}) {
    CHECK(contains(one.script, std::string("using ") + x + ":2:3:4 with yerrorbars"));
    CHECK(contains(one.script, std::string("using ") + x + ":2 with linespoints"));
  }
  CHECK(one.curve("informer").points[0][0] == 8);
  CHECK_FALSE(contains(drawn_plot("plot r.csv", folder.path()).script, "($1*"));
  CHECK_FALSE(contains(drawn_plot("plot r.csv --features 8 --x flops", folder.path()).script, "($1*"));

  // Intervals take a share of the distance from 8 to 10.
  std::string sampled = kPlotHeader;
  sampled.insert(sampled.size() - 1, ",rows,spectral_rel_lo,spectral_rel_hi,frobenius_rel_lo,frobenius_rel_hi");
  for (const char* method : {"v-mean", "informer"}) {
    for (const int d : {8, 10}) {
      std::string line = row("x", method, "softmax", d, 1, 0.5);
      line.insert(line.size() - 1, ",16,0.25,0.75,0.4,0.6");
      sampled += line;
    }
  }
  write_text(folder / "s.csv", sampled);
  const DrawnPlot rows = drawn_plot("plot s.csv", folder.path());
  REQUIRE_MESSAGE(rows.run.status == 0, rows.run.output);
  CHECK(contains(rows.script, fmt::format("using ($1*{:.4f}):2:7:8 with yerrorbars", std::pow(10.0 / 8, -0.15))));
  CHECK(contains(rows.script, fmt::format("using ($1*{:.4f}):2:7:8 with yerrorbars", std::pow(10.0 / 8, 0.15))));
}

TEST_CASE("croquis plot --heat-map: by the columns layer and head, where the rows have them") {
  TemporaryFolder folder;
  std::string text = kPlotHeader;
  text.insert(text.size() - 1, ",layer,head");
  for (int layer = 0; layer < 2; ++layer) {
    for (int head = 0; head < 2; ++head) {
      std::string line =
          row(fmt::format("text {} {}", layer, head), "skyformer", "kernelized", 8, 1, 1 + layer + 0.5 * head);
      line.insert(line.size() - 1, fmt::format(",{},{}", layer, head));
      text += line;
    }
  }
  write_text(folder / "r.csv", text);
  const DrawnPlot plot = drawn_plot("plot r.csv --heat-map", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  for (const char* cell : {"\n0 0 1\n", "\n1 0 1.5\n", "\n0 1 2\n", "\n1 1 2.5\n"}) CHECK(contains(plot.script, cell));
}

TEST_CASE("croquis plot: what the one plot of spectrum, dimension and verify does not have is refused by name") {
  TemporaryFolder folder;
  REQUIRE(
      run_croquis("spectrum --input gaussian --n 32 --p 4 --quiet --matrices b --out s.csv", folder.path()).status ==
      0);
  for (const char* option :
       {"--metric norm", "--methods a", "--features 8", "--x flops", "--statistic mean", "--heat-map"}) {
    const ProgramRun run = run_croquis(std::string("plot s.csv ") + option, folder.path());
    CAPTURE(run.output);
    CHECK(run.status == 2);
    CHECK(contains(run.output, std::string(option).substr(0, std::string(option).find(' '))));
    CHECK(contains(run.output, "croquis spectrum has one plot"));
  }
  const DrawnPlot titled = drawn_plot("plot s.csv --title Mine --size 400x600", folder.path());
  CHECK(titled.run.status == 0);
  CHECK(contains(titled.script, "\"Mine\""));
  CHECK(contains(read_text(folder / "s.svg"), "viewBox=\"0 0 400 600\""));
}
