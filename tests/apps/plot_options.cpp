// The options of croquis plot, and those that a result does not have.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "apps/made_rows.hpp"
#include "support/capture.hpp"
#include "support/gnuplot_script.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("croquis plot: --methods, --features, --input, --title and --size") {
  TemporaryFolder folder;
  write_text(folder / "r.csv", four_methods() + plot_row("y", "v-mean", "softmax", 8, 1, 0.9));
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
  write_text(folder / "r.csv", four_methods() + plot_row("x", "nystromformer", "softmax", 8, 3, 0.2, 1000, 80));
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
  CHECK(contains(seconds.script, "set xlabel \"seconds of a call beside others, an indication\""));
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
