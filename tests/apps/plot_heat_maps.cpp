// croquis plot --heat-map: a number a layer and head.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "apps/made_rows.hpp"
#include "support/gnuplot_script.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("croquis plot --heat-map: the median of the draws of each head at its layer and head, a map a method") {
  TemporaryFolder folder;
  const auto error = [](int layer, int head) { return 0.1 + 0.1 * layer + 0.01 * head; };
  std::string text = kErrorHeader;
  for (int layer = 0; layer < 2; ++layer) {
    for (int head = 0; head < 3; ++head) {
      const std::string input = fmt::format("model:m;layer={};head={}", layer, head);
      for (int t = 1; t <= 3; ++t) {
        text += plot_row(input, "skyformer", "kernelized", 8, t, 9);
        text += plot_row(input, "skyformer", "kernelized", 16, t, error(layer, head) * (t == 3 ? 50 : 1));
        text += plot_row(input, "informer", "softmax", 16, t, 0.5);
      }
    }
  }
  write_text(folder / "r.csv", text);
  const DrawnPlot both = drawn_plot("plot r.csv --heat-map", folder.path());
  REQUIRE_MESSAGE(both.run.status == 0, both.run.output);
  CHECK(contains(both.script, "$cells0") == contains(both.script, "$cells1"));
  CHECK(contains(both.script, fmt::format("\n2 1 {:.9g}\n", error(1, 2))));  // of d = 16 alone
  CHECK_FALSE(contains(both.script, "white: "));
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
    std::string text = kErrorHeader;
    for (std::size_t head = 0; head < heads.size(); ++head) {
      for (std::size_t sequence = 0; sequence < heads[head].size(); ++sequence) {
        text += plot_row(fmt::format("arrays:q;batch={};head={}", sequence, head), "longformer", "softmax", 8, 1,
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
  std::string text = kErrorHeader;
  for (const int layer : {0, 5}) {
    for (const char* method : {"informer", "longformer"}) {
      text += plot_row(fmt::format("model:m;layer={};head=2", layer), method, "softmax", 8, 1, 1 + layer);
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

TEST_CASE("croquis plot --heat-map: by the columns layer and head, where the rows have them") {
  TemporaryFolder folder;
  std::string text = with_fields(kErrorHeader, ",layer,head");
  for (int layer = 0; layer < 2; ++layer) {
    for (int head = 0; head < 2; ++head) {
      if (head > layer) continue;
      text += with_fields(
          plot_row(fmt::format("text {} {}", layer, head), "skyformer", "kernelized", 8, 1, 1 + layer + 0.5 * head),
          fmt::format(",{},{}", layer, head));
    }
  }
  write_text(folder / "r.csv", text);
  const DrawnPlot plot = drawn_plot("plot r.csv --heat-map", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  for (const char* cell : {"\n0 0 1\n", "\n0 1 2\n", "\n1 1 2.5\n"}) CHECK(contains(plot.script, cell));
  CHECK(contains(plot.title, "white: no number\n"));
}
