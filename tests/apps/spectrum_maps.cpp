// Maps of the spectra of heads, in plots and on pages.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "apps/made_rows.hpp"
#include "support/gnuplot_script.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("croquis spectrum: the numbers of a heat map have the digits that tell them apart") {
  TemporaryFolder folder;
  const auto format_of = [&](double other) {
    const auto head = [](int number, double sum) {
      std::string text;
      for (int k = 1; k <= 4; ++k) {
        const double cumulative = k == 4 ? 1 : sum;
        text += fmt::format("arrays:q;head={},b,4,2,dense,{},{},0,{},{},{},2,0,1,ok,NA,{},4\n", number, k, 1.0 / k,
                            cumulative, cumulative, cumulative, number);
      }
      return text;
    };
    write_text(folder / "s.csv", kSpectrumHeader + head(0, 0.9621) + head(1, other));
    const DrawnPlot plot = drawn_plot("plot s.csv", folder.path());
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    const std::size_t at = plot.script.find("sprintf('");
    REQUIRE(at != std::string::npos);
    return plot.script.substr(at + 9, 4);
  };
  CHECK(format_of(0.9661) == "%.4f");
  CHECK(format_of(0.91) == "%.3f");
  CHECK(format_of(0.5) == "%.2f");
}

TEST_CASE("croquis spectrum: where there are 128 singular values, maps have the sum of so many, not of a quarter") {
  TemporaryFolder folder;
  std::string text = kSpectrumHeader;
  for (const int head : {0, 1}) {
    for (int k = 1; k <= 200; ++k) {  // at 128 of 200 the root of 0.64, or of that; at a quarter 0.5 or 0.707
      const double sum = std::pow(k / 200.0, head == 0 ? 0.5 : 0.25);
      text += fmt::format("arrays:q;head={0},b,200,2,dense,{1},{2},0,{3},{3},{3},2,0,1,ok,NA,{0},200\n", head, k,
                          1.0 / k, sum);
    }
  }
  write_text(folder / "s.csv", text);
  const DrawnPlot plot = drawn_plot("plot s.csv", folder.path());
  CHECK(plot.title == "cumulative spectrum of B at index 128 of 200\n");
  CHECK_MESSAGE(contains(plot.script, "\n0 0 0.8\n1 0 0.894427191\n"), plot.script);
  REQUIRE(run_croquis("report s.csv", folder.path()).status == 0);
  const std::string page = read_text(folder / "s.html");
  CHECK_MESSAGE(contains(page, "\"values\":[4.0,4.0,0.8,0.894]"), between(page, "\"values\":", "}"));
}
