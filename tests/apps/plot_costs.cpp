// Plots of what croquis cost measured.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "apps/made_rows.hpp"
#include "support/gnuplot_script.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("croquis plot: of croquis cost, heavy-tailed repeats are not called draws") {
  TemporaryFolder folder;
  std::string text = kCostHeader;
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
  std::string text = kCostHeader;
  const auto rows = [&](const std::string& method, int d, double scale) {
    for (const auto& [repeat, seconds] : {std::pair(1, 1), {2, 2}, {3, 6}}) {
      text += cost_row(method, d, repeat, scale * seconds);
    }
  };
  rows("exact", 0, 1);
  write_text(folder / "e.csv", text);
  for (const int d : {16, 64}) rows("skeinformer", d, 0.125 * d);
  write_text(folder / "t.csv", text);
  const auto across = [](const DrawnPlot& plot) {
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    return between(plot.script, "$level0 << EOD\n", "EOD");
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
  // Calls of croquis cost are timed alone.
  const DrawnPlot seconds = drawn_plot("plot t.csv --x seconds --metric peak_bytes", folder.path());
  CHECK_MESSAGE(contains(seconds.script, "set xlabel \"seconds of a call\"\n"), seconds.script);
  const DrawnPlot alone = drawn_plot("plot e.csv", folder.path());
  CHECK(across(alone) == "1 2 2 2\n2 2 2 2\n");
  CHECK(alone.legend == std::vector<std::string>{"exact (n = 1024)"});
  CHECK(contains(alone.title, "median of 3 repeats\n"));
}
