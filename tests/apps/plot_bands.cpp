// Bands and bars of a plot: of draws, of heads and of samples of rows.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "apps/made_rows.hpp"
#include "support/gnuplot_script.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE(
    "croquis plot: the line lies in its band, of heavy-tailed draws too, which get a star; the title says what both "
    "are") {
  TemporaryFolder folder;
  std::string text = kErrorHeader;
  for (int t = 1; t <= 20; ++t) {  // the mean, 5.1, is above the 90 % quantile 0.12
    for (const int d : {8, 16}) text += plot_row("x", "skyformer", "softmax", d, t, t == 20 ? 100.0 : 0.1 + 0.001 * t);
    text += plot_row("x", "informer", "softmax", 8, t, 1 + 0.01 * t);
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

TEST_CASE("croquis plot: of several heads, the median of their means within the smallest and the largest") {
  TemporaryFolder folder;
  std::string text = kErrorHeader;
  const double means[] = {0.05, 0.06, 0.04, 7.0, 0.05};  // of the pooled rows the mean is 1.44
  for (int h = 0; h < 5; ++h) {
    for (int t = 1; t <= 4; ++t) {
      text += plot_row(fmt::format("arrays:q;head={}", h), "skyformer", "softmax", 8, t, means[h] * (0.5 + 0.2 * t));
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

TEST_CASE("croquis plot: with more than 8 curves there are no bands, and of fewer than 5 draws they show all") {
  TemporaryFolder folder;
  std::string text = kErrorHeader;
  for (int i = 0; i < 9; ++i) {
    for (const int d : {8, 16}) {
      for (int t = 1; t <= 4; ++t) text += plot_row("x", fmt::format("m{}", i), "softmax", d, t, 0.1 * t);
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

TEST_CASE("croquis plot: the axis has room for bands where they are drawn, and for bars") {
  TemporaryFolder folder;
  std::string text = kErrorHeader;
  for (int i = 0; i < 9; ++i) {  // medians from 0.75 to 0.12
    for (const int d : {8, 16}) {
      const double median = 0.75 + (0.12 - 0.75) * i / 8;
      for (const auto& [trial, factor] : {std::pair(1, 1e-3), {2, 1.0}, {3, 1e3}})
        text += plot_row("x", fmt::format("m{}", i), "softmax", d, trial, factor * median);
    }
  }
  write_text(folder / "r.csv", text);
  const std::string of_medians = "set yrange [0.1:1]\nset ytics (0.1, 0.2, 0.5, 1)\n";
  const auto script = [&](const char* options) {
    const DrawnPlot plot = drawn_plot(fmt::format("plot r.csv {}", options), folder.path());
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    return plot.script;
  };
  CHECK_MESSAGE(contains(script(""), of_medians), script(""));
  // From 1.2e-4 to 750 powers of ten are labels enough: gnuplot chooses.
  CHECK_FALSE(contains(script("--methods m0,m1,m2,m3,m5,m6,m7,m8"), "set yrange"));
  // Bars stand there however many curves there are.
  CHECK(contains(script("--features 8"), "with yerrorbars"));
  CHECK_FALSE(contains(script("--features 8"), "set yrange"));
}

TEST_CASE("croquis plot: a band over seconds goes from left to right, and intervals of --rows are bars") {
  TemporaryFolder folder;
  std::string text = kErrorHeader, sampled = kSampledHeader;
  for (const int d : {8, 16, 32}) text += plot_row("x", "v-mean", "softmax", d, 1, 0.5, d == 16 ? 4 : d == 32 ? 2 : 3);
  write_text(folder / "r.csv", text);
  const DrawnPlot plot = drawn_plot("plot r.csv --x seconds", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  CHECK(contains(plot.script, "$band0 << EOD\n2 0.5 0.5 0.5\n3 0.5 0.5 0.5\n4 0.5 0.5 0.5\nEOD\n"));
  CHECK(contains(plot.script, "$band0 using 1:3:4 with filledcurves"));
  CHECK(plot.curve("v-mean").points.at(1)[0] == 4);  // in the order of d

  for (const int d : {8, 16}) {
    sampled += with_fields(plot_row("x", "v-mean", "softmax", d, 1, 0.5), ",16,0.25,0.75,0.4,0.6");
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
  std::string text = kSampledHeader;
  for (const auto& [head, error] : {std::pair(0, 0.25), {1, 0.5}, {2, 1.5}}) {
    text += with_fields(plot_row(fmt::format("arrays:q;head={}", head), "skyformer", "softmax", 8, 1, error),
                        fmt::format(",16,{0},{1},{0},{1}", error / 2, 2 * error));
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
      std::string text = sampled ? with_fields(kErrorHeader, ",rows") : kErrorHeader;
      for (int h = 0; h < heads; ++h) {
        for (const int t : {1, 2}) {
          const std::string line =
              plot_row(fmt::format("arrays:q;head={}", h), "skyformer", "softmax", 8, t, 0.1 * t + 0.1 * h);
          text += sampled ? with_fields(line, ",16") : line;
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
  std::string text = kErrorHeader;
  for (const char* method : {"v-mean", "informer", "longformer"}) {
    for (const int d : {8, 10})
      text += plot_row("x", method, "softmax", d, 1, 0.5) + plot_row("x", method, "softmax", d, 2, 0.6);
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
  std::string sampled = kSampledHeader;
  for (const char* method : {"v-mean", "informer"}) {
    for (const int d : {8, 10}) {
      sampled += with_fields(plot_row("x", method, "softmax", d, 1, 0.5), ",16,0.25,0.75,0.4,0.6");
    }
  }
  write_text(folder / "s.csv", sampled);
  const DrawnPlot rows = drawn_plot("plot s.csv", folder.path());
  REQUIRE_MESSAGE(rows.run.status == 0, rows.run.output);
  CHECK(contains(rows.script, fmt::format("using ($1*{:.4f}):2:7:8 with yerrorbars", std::pow(10.0 / 8, -0.15))));
  CHECK(contains(rows.script, fmt::format("using ($1*{:.4f}):2:7:8 with yerrorbars", std::pow(10.0 / 8, 0.15))));
}
