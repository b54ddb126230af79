// The axes of plots: what they show, and where their labels stand.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "apps/made_rows.hpp"
#include "support/capture.hpp"
#include "support/gnuplot_script.hpp"
#include "support/text.hpp"

namespace {

// Rows of croquis error, one draw a method: its relative error at d = 8 and at d = 16.
std::string error_rows(const std::vector<std::pair<std::string, std::pair<double, double>>>& methods) {
  std::string text = kErrorHeader;
  for (const auto& [method, errors] : methods) {
    for (const auto& [d, error] : {std::pair{8, errors.first}, std::pair{16, errors.second}}) {
      text += plot_row("x", method, "softmax", d, 1, error, 0.5, 1e5 * d);
    }
  }
  return text;
}

// The same rows of heads with n tokens.
std::string with_n(int n, std::string rows) {
  const std::string tokens = ",32,4,4,";
  for (auto at = rows.find(tokens); at != std::string::npos; at = rows.find(tokens)) {
    rows.replace(at, tokens.size(), fmt::format(",{},4,4,", n));
  }
  return rows;
}

DrawnPlot plot_of(const std::string& rows, const std::string& options = "") {
  TemporaryFolder folder;
  write_text(folder / "r.csv", rows);
  DrawnPlot plot = drawn_plot("plot r.csv " + options, folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  return plot;
}

}  // namespace

TEST_CASE("croquis plot: values within a factor of 3 have a linear axis, which shows zeros") {
  const DrawnPlot linear = plot_of(error_rows({{"informer", {0.5, 0.4}}, {"longformer", {0.3, 0}}}));
  CHECK(contains(linear.script, "set logscale x\n"));
  CHECK(linear.curve("longformer").points.at(1)[1] == 0);
  CHECK_FALSE(contains(linear.title, "zero"));
  const DrawnPlot logarithmic = plot_of(error_rows({{"informer", {0.5, 0.1}}, {"longformer", {0.3, 0}}}));
  CHECK(contains(logarithmic.script, "set logscale xy\n"));
  CHECK(logarithmic.curve("longformer").points.size() == 1);
  CHECK(contains(logarithmic.title, "zero: longformer (d = 16)"));
  const DrawnPlot exact = plot_of(error_rows({{"longformer", {0, 0}}}));
  CHECK(contains(exact.script, "set logscale x\n"));
  CHECK(exact.curve("longformer").points.size() == 2);
}

TEST_CASE("croquis plot: lines across begin and end where the axis does, and their bands lie within the picture") {
  const auto passes = [](const std::string& method, int d, double first, double second, double flops) {
    std::string text;
    for (const auto& [sequence, loss] : {std::pair(0, first), std::pair(1, second)}) {
      text +=
          loss_row({.method = method, .d = d, .sequence = sequence, .loss = loss, .flops = flops, .flops_exact = 7e7});
    }
    return text;
  };
  const auto block = [](const DrawnPlot& plot, const std::string& name) {
    return between(plot.script, name + " << EOD\n", "EOD");
  };
  // Losses that no linear axis shows, and flops whose ends have more digits than the range of the axis.
  const std::string two =
      kLossHeader + passes("v-mean", 8, 9, 9, 7'000'003) + passes("v-mean", 16, 90, 90, 1'400'000'009);
  for (const char* x : {"", "--x flops", "--x seconds"}) {
    const DrawnPlot plot = plot_of(two, x);
    const std::string low = between(plot.script, "set xrange [", ":"),
                      high = between(plot.script, "set xrange [" + low + ":", "]");
    CHECK_MESSAGE(block(plot, "$level0") == fmt::format("{0} 2 2 2\n{1} 2 2 2\n", low, high), plot.script);
  }
  // A choice has the loss 8.5 with a standard error of 5.5, which begins at 3; exact attention has 2.
  const DrawnPlot choice = plot_of(kLossHeader + passes("choice", 0, 3, 14, 1000));
  CHECK(contains(choice.script, "set logscale xy\n"));
  CHECK_MESSAGE(contains(choice.script, "set yrange [2:20]\n"), choice.script);
  // The increase of the choice alone is no logarithmic axis, and exact attention has 0.
  const DrawnPlot increase = plot_of(kLossHeader + passes("choice", 0, 3, 3.5, 1000), "--metric increase");
  CHECK(contains(increase.script, "set logscale x\n"));
  CHECK(increase.legend == std::vector<std::string>{"choice", "exact attention"});
  CHECK(contains(increase.title, "\nmean over positions, with its standard error between sequences\n"));
}

TEST_CASE("croquis plot: what is best at 1, as a cosine, has a linear axis with what is below 0") {
  TemporaryFolder folder;
  REQUIRE(run_croquis("gradient --input gaussian --n 24 --p 4 --methods nystromformer,v-mean --features 4,8 "
                      "--trials 2 --quiet --out g.csv",
                      folder.path())
              .status == 0);
  const DrawnPlot plot = drawn_plot("plot g.csv --metric v_cosine", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  CHECK(contains(plot.script, "set logscale x\n"));
  CHECK_FALSE(contains(plot.title, "not drawn"));
  // The mean of the values has no derivatives by Q and K.
  CHECK(contains(drawn_plot("plot g.csv --metric qk_cosine", folder.path()).title,
                 "not drawn, undefined: v-mean (d = 4, 8)"));
}

TEST_CASE("croquis plot: of losses, agreement and an increase that may be none have a linear axis") {
  std::string rows = kLossHeader;
  const auto add = [&](const std::string& method, int d, double first, double second) {
    for (const auto& [sequence, rise] : {std::pair(0, first), {1, second}}) {
      std::string row = loss_row({.method = method, .d = d, .sequence = sequence, .loss = 2 + rise});
      const std::string agreement = ",0.5,0.6,0.9,";
      rows += row.replace(row.find(agreement), agreement.size(), d == 8 ? ",0.5,0.6,0.01," : agreement);
    }
  };
  add("performer", 8, 100, 100);
  add("performer", 16, 1, 1);
  CHECK(contains(plot_of(rows, "--metric increase").script, "set logscale xy\n"));
  CHECK(contains(plot_of(rows, "--metric agreement").script, "set logscale x\n"));
  add("choice", 0, -1, 3);  // a line at 1, with a standard error of 2
  CHECK(contains(plot_of(rows, "--metric increase").script, "set logscale x\n"));
}

TEST_CASE("croquis plot: an axis that is too short for powers of ten has labels at 1, 2 and 5 of each") {
  for (const auto& [ends, labels] :
       {std::pair{std::pair{0.75, 0.12}, "set yrange [0.1:1]\nset ytics (0.1, 0.2, 0.5, 1)\n"},
        {{30, 4}, "set yrange [2:50]\nset ytics (2, 5, 10, 20, 50)\n"},
        {{0.002, 0.0005}, "set yrange [0.0005:0.002]\nset ytics (0.0005, 0.001, 0.002)\n"}}) {
    CAPTURE_BINDING(labels);
    CHECK(contains(plot_of(error_rows({{"informer", ends}})).script, labels));
  }
  CHECK_FALSE(contains(plot_of(error_rows({{"informer", {0.75, 0.01}}})).script, "set ytics"));
  // Flops from 8e5 to 1.6e6, with the 1.1e6 of exact attention in between: the axis goes a tenth further, and on to the
  // next label.
  const std::string rows = with_n(256, error_rows({{"informer", {0.75, 0.01}}}));
  const DrawnPlot flops = plot_of(rows, "--x flops");
  CHECK_MESSAGE(
      contains(flops.script, "set xrange [700000:2e+06]\nset xtics (700000, 800000, 1e+06, 1.2e+06, 1.5e+06, 2e+06)\n"),
      flops.script);
  const DrawnPlot one = plot_of(rows, "--x flops --features 8");
  CHECK_MESSAGE(
      contains(one.script, "set xrange [700000:1.5e+06]\nset xtics (700000, 800000, 1e+06, 1.2e+06, 1.5e+06)\n"),
      one.script);
}

TEST_CASE("croquis plot: the title says which errors are rounding alone") {
  const std::string of_largest = error_rows({{"longformer", {0.1, 3.2e-16}}, {"informer", {0.1, 1.4e-16}}});
  CHECK(contains(plot_of(of_largest).title, "up to 3e-16: exact but for rounding\n"));
  CHECK_FALSE(contains(plot_of(error_rows({{"informer", {0.75, 1e-9}}})).title, "rounding"));
  // The median of these draws is rounding alone, and one of four is not.
  std::string draws = error_rows({{"longformer", {3.2e-16, 0.5}}});
  for (const auto& [trial, error] : {std::pair{2, 3.2e-16}, {3, 3.2e-16}, {4, 0.28}}) {
    draws += plot_row("x", "longformer", "softmax", 8, trial, error, 0.5, 8e5);
  }
  CHECK_FALSE(contains(plot_of(draws).title, "rounding"));
}

TEST_CASE("croquis plot: of layers, one loss that is far above the others does not hide them") {
  std::string rows = kLossHeader;
  const auto add = [&](const std::string& method, int layer, double increase) {
    for (const int sequence : {0, 1}) {
      rows += loss_row({.layers = std::to_string(layer),
                        .method = method,
                        .sequence = sequence,
                        .loss = 2 + increase * (1 + 0.1 * sequence)});
    }
  };
  for (int layer = 0; layer < 4; ++layer) {
    add("informer", layer, 0.02 * (layer - 1));  // negative, zero and positive
    add("skyformer", layer, layer == 2 ? 40 : 0.03);
  }
  const DrawnPlot far = plot_of(rows);
  CHECK(contains(far.script, "set nonlinear y via asinh(y/0.01) inverse 0.01*sinh(y)\n"));
  CHECK_MESSAGE(contains(far.script, "set ytics (0, 0.01, -0.01, 0.1, -0.1, 1, 10, 100)\n"), far.script);
  CHECK(contains(far.title, "the axis is linear up to 0.01 and logarithmic beyond"));
  CHECK(contains(far.script, "set xrange [-0.3:3.3]\n"));
  // The format that gnuplot has of its own puts a space before a number, which then stands beside its mark.
  CHECK(contains(far.script, "set format xy '%g'\n"));
  const DrawnPlot near = plot_of(rows, "--methods informer");
  CHECK_FALSE(contains(near.script, "nonlinear"));
  CHECK_FALSE(contains(near.title, "logarithmic beyond"));
}

TEST_CASE("croquis plot: against flops, an upright line shows those of exact attention, where all inputs have them") {
  // 32 x 32 pairs, each with 2 (4 + 4) flops and an exponential, and of causal attention 32 x 33 / 2.
  const double exact = 32 * 32 * 17, causal = 16 * 33 * 17;
  const auto upright = [](double flops) {
    return fmt::format("set arrow from {0}, graph 0 to {0}, graph 1 nohead", flops);
  };
  const auto rows = [](const std::string& input) {
    return plot_row(input, "a", "softmax", 8, 1, 0.5, 0.5, 300) + plot_row(input, "a", "softmax", 16, 1, 0.2, 0.5, 600);
  };
  const DrawnPlot plot = plot_of(kErrorHeader + rows("t"), "--x flops");
  CHECK_MESSAGE(contains(plot.script, upright(exact)), plot.script);
  CHECK(plot.legend == std::vector<std::string>{"a", "flops of exact attention"});
  CHECK(contains(plot.script, "set xrange [200:20000]"));  // it lies in the picture
  CHECK(contains(plot_of(kErrorHeader + rows("t;causal"), "--x flops").script, upright(causal)));
  for (const char* x : {"--x features", "--x seconds"}) {
    CHECK_FALSE(contains(plot_of(kErrorHeader + rows("t"), x).script, "set arrow"));
  }
  const std::string two_sizes = kErrorHeader + rows("t") + with_n(64, rows("u"));
  CHECK_FALSE(contains(plot_of(two_sizes, "--x flops").script, "set arrow"));
  const std::string two_masks = kErrorHeader + rows("t") + rows("u;causal");
  CHECK_FALSE(contains(plot_of(two_masks, "--x flops").script, "set arrow"));
}
