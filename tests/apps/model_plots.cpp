// Pictures of losses.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/csv.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/formula_folder.hpp"
#include "apps/made_rows.hpp"
#include "support/gnuplot_script.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

// Of one layer at a time on two sequences: the loss rises by `least` and 0.1 or 0.2, less or more `apart`.
std::string losses_of_two_layers(int d, double least, double apart) {
  std::string rows;
  for (const int layer : {0, 1}) {
    for (const int s : {0, 1}) {
      const double exact = 2 + s, rise = least + 0.1 * (layer + 1) + (s == 0 ? -apart : apart);
      rows += loss_row({.layers = fmt::format("{}", layer),
                        .method = "performer",
                        .d = d,
                        .sequence = s,
                        .loss = exact + rise,
                        .loss_exact = exact});
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("model: a choice and exact attention have no d: they are lines across, and exact attention stands beside") {
  const FormulaFolder folder;
  choose_for_bert(folder);
  const std::string command =
      "model --model bert/model.safetensors --trials 1 --overwrite --out m.csv --plot m.svg" + kLabelled;
  for (const std::string& methods :
       {std::string("--choice c.json"), std::string("--choice c.json --methods v-mean --features 2,4")}) {
    CAPTURE(methods);
    const DrawnPlot plot = drawn_plot(command + methods, folder.path());
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    CHECK(contains(plot.run.output, "choice (c.json)"));
    CHECK(contains(plot.run.output, "increase of the loss over exact attention on the same sequences"));
    CHECK(contains(plot.run.output,
                   "flops of the approximated heads and of those that the choice keeps exact, in units of"));
    CHECK(contains(plot.run.output, methods == "--choice c.json" ? ", the heads of the choice"
                                                                 : ", layers all, and the heads of the choice"));
    for (const char* label : {"choice (c.json)", "exact attention"})
      CHECK(std::count(plot.legend.begin(), plot.legend.end(), label) == 1);
    const DrawnPlot again = drawn_plot("plot m.csv", folder.path());
    CHECK(again.legend == plot.legend);
    const ProgramRun show = run_croquis("show m.csv", folder.path());
    for (const std::string& output : {plot.run.output, show.output}) CHECK_FALSE(contains(output, "d = 0"));
    CHECK(contains(show.output, "The choice (c.json) has the loss "));
    const auto names = column_of(folder / "m.summary.csv", "method"),
               rises = column_of(folder / "m.summary.csv", "increase");
    const auto choice = std::find(names.begin(), names.end(), "choice") - names.begin();
    const bool less = rises.at(static_cast<std::size_t>(choice)).starts_with('-');
    CHECK(contains(show.output, less ? " below exact attention's" : " above exact attention's"));
    CHECK(contains(show.output, " exact attention\n"));  // a line of the chart
  }
  const DrawnPlot exact = drawn_plot(command + "--methods exact", folder.path());
  CHECK_MESSAGE(exact.run.status == 0, exact.run.output);
  CHECK(exact.legend == std::vector<std::string>{"exact attention"});
}

TEST_CASE("croquis plot: an increase that may be 0 within its error is drawn on an axis with both") {
  TemporaryFolder folder;
  std::string text = kLossHeader;
  for (const auto& [d, losses] : {std::pair(8, std::pair(0.7, 0.8)), std::pair(16, std::pair(0.504, 0.498))}) {
    for (const int s : {0, 1}) {
      text += fmt::format("m,all,v-mean,paper,{},1,1,{},9,4,{},0.5,1,1,1,0.1,0.1,0.1,ok,10,20,double\n", d, s,
                          s == 0 ? losses.first : losses.second);
    }
  }
  write_text(folder / "m.csv", text);
  const DrawnPlot plot = drawn_plot("plot m.csv --metric increase", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  const std::vector<double>& point = plot.curve("v-mean").points.at(1);
  CHECK(point[1] == doctest::Approx(0.001));
  CHECK(point[2] == doctest::Approx(-0.002));  // 0.001 - 0.003
  CHECK(contains(plot.script, "set logscale x\n"));
  CHECK(contains(plot.title, "\nmean over positions, with its standard error between sequences\n"));
  CHECK(std::count(plot.legend.begin(), plot.legend.end(), "exact attention") == 1);
}

TEST_CASE("model: layers whose approximation lowers the loss are drawn too") {
  const FormulaFolder folder;
  REQUIRE(run_croquis("model --model gpt2/model.safetensors" + kModelTokens +
                          "--methods v-mean --features 2 --layers each --out each.csv",
                      folder.path())
              .status == 0);
  croquis::CsvTable table = croquis::read_csv((folder / "each.csv").string());
  const auto place = [&](const char* name) {
    return std::find(table.header.begin(), table.header.end(), name) - table.header.begin();
  };
  for (auto& row : table.rows) row[place("loss")] = "0.5", row[place("loss_exact")] = "0.75";
  std::string text = fmt::format("{}\n", fmt::join(table.header, ","));
  for (const auto& row : table.rows) text += fmt::format("{}\n", fmt::join(row, ","));
  write_text(folder / "lower.csv", text);
  const ProgramRun run = run_croquis("plot lower.csv --out lower.svg", folder.path());
  CHECK_MESSAGE(run.status == 0, run.output);
  CHECK(contains(read_text(folder / "lower.svg"), "-0.25"));  // on the axis
}

TEST_CASE(
    "croquis plot and report: against flops, exact attention has a place, where all methods have the same sequences") {
  TemporaryFolder folder;
  const auto row = [](int d, int sequence, int flops, int exact) {
    return fmt::format("m,all,v-mean,paper,{},1,1,{},9,4,0.7,0.5,1,1,1,0.1,0.1,0.1,ok,{},{},double\n", d, sequence,
                       flops, exact);
  };
  const std::string same = kLossHeader + row(8, 0, 10, 2000) + row(8, 1, 20, 6000) + row(16, 0, 20, 2000);
  write_text(folder / "m.csv", same + row(16, 1, 40, 6000));
  const DrawnPlot plot = drawn_plot("plot m.csv --x flops", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  CHECK_MESSAGE(contains(plot.script, "set arrow from 4000, graph 0 to 4000, graph 1 nohead"), plot.script);
  CHECK(std::count(plot.legend.begin(), plot.legend.end(), "flops of exact attention") == 1);
  CHECK_FALSE(contains(drawn_plot("plot m.csv", folder.path()).script, "set arrow"));
  // A method that failed on a sequence has the flops of the other alone.
  write_text(folder / "f.csv", same);
  CHECK_FALSE(contains(drawn_plot("plot f.csv --x flops", folder.path()).script, "set arrow"));
  // The axes of a page are d, flops and seconds. On those of `across` a curve has no place.
  for (const auto& [rows, across] : {std::pair("m", "[0,2]"), {"f", "[0,1,2]"}}) {
    const ProgramRun report = run_croquis(fmt::format("report {0}.csv --out {0}.html", rows), folder.path());
    REQUIRE_MESSAGE(report.status == 0, report.output);
    const std::string page = read_text(folder / fmt::format("{}.html", rows));
    CHECK(contains(page, fmt::format(R"({{"across":{},"joined":true,"label":"exact attention")", across)));
  }
}

TEST_CASE("croquis report: of one layer at a time the increase comes first, linear where its band has 0") {
  TemporaryFolder folder;
  for (const double apart : {0.01, 0.4}) {
    write_text(folder / "m.csv", kLossHeader + losses_of_two_layers(8, 0, apart));
    REQUIRE(run_croquis("report m.csv --out m.html", folder.path()).status == 0);
    const std::string page = read_text(folder / "m.html"), row = "<tr><th scope=\"row\">performer</th>";
    for (const auto& [layer, rise] : {std::pair("0", "0.1"), {"1", "0.2"}}) {
      CHECK_MESSAGE(contains(page, fmt::format("{0}<td class=\"n\" data-v=\"{1}\">{1}</td><td class=\"n\" "
                                               "data-v=\"{2}\">{2} (",
                                               row, layer, rise)),
                    page.substr(page.find(row), 300));
    }
    // The standard error of the difference is `apart`, and 0.1 - 0.4 < 0 < 0.1 - 0.01.
    CHECK(contains(page, fmt::format("\"log\":{},\"name\":\"increase\"", apart < 0.1)));
  }
}

TEST_CASE("croquis plot: of one layer at a time, curves are of the largest d, linear where a band has 0") {
  TemporaryFolder folder;
  for (const double apart : {0.01, 0.4}) {
    write_text(folder / "m.csv", kLossHeader + losses_of_two_layers(8, 1, apart) + losses_of_two_layers(16, 0, apart));
    const DrawnPlot plot = drawn_plot("plot m.csv", folder.path());
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    CHECK_MESSAGE(contains(plot.title, ", d = 16\n"), plot.title);
    // Each line has the layer, the mean of the two rises and half of their distance to each side.
    const std::vector<std::string> lines = lines_of(between(plot.script, "$d0 << EOD\n", "EOD"));
    REQUIRE(lines.size() == 2);
    for (const int layer : {0, 1}) {
      double at = 0, mean = 0, low = 0, high = 0;
      std::istringstream(lines[static_cast<std::size_t>(layer)]) >> at >> mean >> low >> high;
      CHECK(at == layer);
      CHECK(std::abs(mean - 0.1 * (layer + 1)) < 1e-12);
      CHECK(std::abs(mean - low - apart) < 1e-12);
      CHECK(std::abs(high - mean - apart) < 1e-12);
    }
    CHECK(contains(plot.script, "set logscale y\n") == (apart < 0.1));
  }
}
