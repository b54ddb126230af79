// Pictures of what croquis choose finds.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/choice_folder.hpp"
#include "apps/made_rows.hpp"
#include "support/gnuplot_script.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

// Of a head, with the same number as the median of its errors and as their quantile.
std::string choice_row(int head, double eps, const std::string& method, double error, const std::string& status) {
  return fmt::format(
      "arrays:q;head={0},NA,{0},{1},0.05,0.95,frobenius_rel,{2},paper,64,500,1000,0.5,{3},{3},0.04,96,1,{4},NA,0,435,"
      "flops,1,double,softmax,1,1,NA\n",
      head, eps, method, error, status);
}

}  // namespace

TEST_CASE("choose: errors that are far above eps are named in the plot and do not stretch its axis") {
  const TemporaryFolder folder;
  const auto drawn = [&](double error) {
    write_text(folder / "c.csv", kChoiceHeader + choice_row(0, 0.1, "informer", 0.08, "chosen") +
                                     choice_row(1, 0.1, "performer", error, "undecided"));
    DrawnPlot plot = drawn_plot("plot c.csv --out c.svg", folder.path());
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    return plot;
  };
  const DrawnPlot all = drawn(0.15), far = drawn(1e7);
  CHECK_FALSE(contains(all.title, "above the axis"));
  CHECK_MESSAGE(contains(far.title, "not drawn, above the axis: 1 point\n"), far.title);
  // Beyond 0.08 and eps, neither of which lies on the frame.
  CHECK_MESSAGE(contains(all.script, "set yrange [0.07:0.2]"), all.script);
  CHECK_MESSAGE(contains(far.script, "set yrange [0.07:0.12]"), far.script);
  write_text(folder / "c.csv", kChoiceHeader + choice_row(0, 0.1, "informer", 5e-4, "chosen") +
                                   choice_row(1, 0.1, "performer", 99, "undecided") +
                                   choice_row(2, 0.1, "performer", 101, "undecided"));
  const DrawnPlot wide = drawn_plot("plot c.csv --out c.svg", folder.path());
  CHECK(contains(wide.script, "set yrange [*:100]\n"));
  CHECK(contains(wide.title, "above the axis: 1 point\n"));
}

// gnuplot ends a long axis at powers of ten.
TEST_CASE("choose: where eps is a power of ten, its line does not lie on the frame of the plot") {
  const TemporaryFolder folder;
  const auto range = [&](double eps, const std::vector<double>& errors) {
    std::string text = kChoiceHeader;
    int head = 0;
    for (const double error : errors) text += choice_row(head++, eps, "performer", error, "undecided");
    write_text(folder / "c.csv", text);
    const DrawnPlot plot = drawn_plot("plot c.csv --out c.svg", folder.path());
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    REQUIRE(contains(plot.script, "set yrange "));
    return between(plot.script, "set yrange ", "\n");
  };
  CHECK(range(0.1, {0.2, 20}) == "[0.0909091:*]");
  CHECK(range(0.001, {0.002, 0.2}) == "[0.000909091:*]");
  CHECK(range(10, {0.2, 2}) == "[*:11]");
  CHECK(range(0.1, {0.1, 10}) == "[0.0909091:11]");
  CHECK(range(0.104, {0.2, 9.6}) == "[0.0945455:10.56]");  // nearly
  CHECK(range(0.15, {0.2, 20}) == "[*:*]");
  CHECK(range(0.1, {0.2, 99, 900}) == "[0.0909091:100]");  // the last one is above the axis
}

TEST_CASE("choose: choices whose quantile is 0 or infinite are counted in the plot, and have a point in the report") {
  const TemporaryFolder folder;
  const auto row = [](int head, const char* median, const char* q95, const char* status) {
    return fmt::format(
        "arrays:q;head={0},NA,{0},0.1,0.05,0.95,frobenius_rel,v-mean,paper,8,5,10,0.5,{1},{2},0.04,96,1,"
        "{3},NA,0,4,flops,1,double\n",
        head, median, q95, status);
  };
  const std::string without = row(0, "0", "0", "chosen") + row(1, "0.25", "inf", "undecided");
  write_text(folder / "c.csv", kOldChoiceHeader + without);
  const ProgramRun none = run_croquis("plot c.csv --out c.svg", folder.path());
  CHECK(none.status == 2);
  CHECK_MESSAGE(contains(none.output, "no choice has a 95 % quantile other than 0 and infinity"), none.output);
  REQUIRE(run_croquis("report c.csv --out c.html", folder.path()).status == 0);
  const std::string page = read_text(folder / "c.html");
  CHECK(contains(page, "[0.0,null,null,null,0,\"[arrays:q;head=0]\"]"));
  CHECK(contains(page, "[null,[0.25,null,null,null,0,\"[arrays:q;head=1]\"]]"));
  write_text(folder / "c.csv", kOldChoiceHeader + without + row(2, "0.05", "0.07", "chosen"));
  const DrawnPlot some = drawn_plot("plot c.csv --out c.svg", folder.path());
  REQUIRE_MESSAGE(some.run.status == 0, some.run.output);
  CHECK_MESSAGE(contains(some.title, "not drawn: 2 choices whose 95 % quantile is 0 or infinite\n"), some.title);
}

TEST_CASE("choose: lines and choices of a plot have one cost, where sequences differ in length too") {
  const ChoiceFolder folder;
  std::vector<std::int64_t> lengths(30, 9);
  for (std::size_t i = 0; i < lengths.size(); i += 3) lengths[i] = 4;  // fewer than d: exact attention
  write_text(folder / "lengths.npy", npy_integers("(30,)", lengths));
  const DrawnPlot plot = drawn_plot(
      kChooseHeads +
          "--lengths lengths.npy --features 6 --methods linformer --per model --eps 50 --delta 0.3 --plot c.svg",
      folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  // The block of data of a curve begins with the cost of its first point.
  const auto cost = [&](const std::string& title) {
    const auto place = std::find(plot.legend.begin(), plot.legend.end(), title);
    REQUIRE(place != plot.legend.end());
    const std::string block = fmt::format("$d{} << EOD\n", place - plot.legend.begin());
    return std::stod(plot.script.substr(plot.script.find(block) + block.size()));
  };
  CHECK(cost("linformer") == doctest::Approx(cost("linformer, chosen")).epsilon(1e-12));
}

TEST_CASE("choose: where nothing is chosen there is no plot, which is no failure of the run") {
  const TemporaryFolder folder;
  const ProgramRun run = run_croquis(
      "choose --input gaussian --n 32 --p 4 --methods performer --features 16 --max-cost 0.001 --out c.csv "
      "--plot c.svg",
      folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(column_of(folder / "c.csv", "status") == std::vector<std::string>{"exact"});
  CHECK(contains(run.output, "c.svg: is not drawn: nothing but exact attention is chosen"));
  CHECK_FALSE(contains(run.output, "\nplot "));
  CHECK_FALSE(std::filesystem::exists(folder / "c.svg"));
  const ProgramRun plot = run_croquis("plot c.csv", folder.path());
  CHECK(plot.status == 2);
  CHECK(contains(plot.output, "nothing but exact attention is chosen"));
}

TEST_CASE("choose: a picture of an earlier run does not stay beside rows of which there is none") {
  const TemporaryFolder folder;
  const std::string command = "choose --input gaussian --n 32 --p 4 --features 16 --quiet --out c.csv --plot c.svg ";
  REQUIRE(run_croquis(command + "--methods v-mean --eps 9", folder.path()).status == 0);
  REQUIRE(std::filesystem::exists(folder / "c.svg"));
  // Candidates that are tried and not chosen are drawn.
  REQUIRE(run_croquis(command + "--methods v-mean --eps 1e-9 --overwrite", folder.path()).status == 0);
  CHECK(column_of(folder / "c.csv", "status") == std::vector<std::string>{"exact"});
  CHECK(contains(read_text(folder / "c.svg"), "eps = 1e-09"));
  const ProgramRun run = run_croquis(command + "--methods performer --max-cost 0.001 --overwrite", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(contains(run.output, "c.svg: is not drawn: nothing but exact attention is chosen"));
  CHECK(contains(run.output, "the picture that was there is removed"));
  CHECK_FALSE(std::filesystem::exists(folder / "c.svg"));
}

TEST_CASE("choose: a line of a plot has the 95 % quantile of all draws, in which one that failed is above all others") {
  const TemporaryFolder folder;
  const std::string line =
      "choose --input gaussian --n 32 --p 4 --methods performer --features 4,8,16,20 --max-cost 100 --eps 1e-9 "
      "--trials 40 --quiet --out c.csv ";
  REQUIRE(run_croquis(line, folder.path()).status == 0);
  const std::string input = column_of(folder / "c.csv", "input").front();
  std::string draws = read_text(folder / "c.draws.csv");
  draws.erase(draws.find('\n') + 1);
  // At index 19 of 21 lies the 95 % quantile.
  for (int trial = 1; trial <= 21; ++trial) {
    for (const auto& [d, error] : {std::pair(4, fmt::format("{:.2f}", 0.01 * trial)),
                                   {8, trial > 19 ? "NA" : fmt::format("{:.2f}", 0.01 * trial)},
                                   {16, std::string("0.5")},
                                   {20, std::string("0.05")}}) {
      draws += fmt::format("{},0,NA,NA,performer,paper,{},{},1,double,{},0.5,ok\n", input, d, trial, error);
    }
  }
  write_text(folder / "c.draws.csv", draws);
  const DrawnPlot plot = drawn_plot(line + "--resume --plot c.svg", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  const auto errors = [&](const std::string& title) {
    const auto place = std::find(plot.legend.begin(), plot.legend.end(), title);
    REQUIRE(place != plot.legend.end());
    const std::string begin = fmt::format("$d{} << EOD\n", place - plot.legend.begin());
    std::vector<double> found;
    for (const std::string& point : lines_of(between(plot.script, begin, "EOD")))
      found.push_back(std::stod(point.substr(point.find(' '))));
    return found;
  };
  const auto is = [](const std::vector<double>& found, const std::vector<double>& right) {
    return std::equal(found.begin(), found.end(), right.begin(), right.end(),
                      [](double a, double b) { return std::abs(a - b) < 1e-12; });
  };
  CHECK_MESSAGE(is(errors("performer"), {0.2, 0.5, 0.05}), plot.script);
  CHECK_MESSAGE(is(errors("least at no more cost"), {0.2, 0.05}), plot.script);
}

TEST_CASE("choose: points of a plot are filled where they are chosen, and open where they lead") {
  const TemporaryFolder folder;
  write_text(folder / "c.csv", kChoiceHeader + choice_row(0, 0.1, "performer", 0.08, "chosen") +
                                   choice_row(1, 0.1, "performer", 0.15, "undecided"));
  const DrawnPlot plot = drawn_plot("plot c.csv --out c.svg", folder.path());
  const auto marker = [&](const std::string& title) {
    const std::size_t end = plot.script.find(title + '"');
    REQUIRE_MESSAGE(end != std::string::npos, plot.script);
    const std::size_t begin = plot.script.rfind(" pt ", end) + 4;
    return std::stoi(plot.script.substr(begin));
  };
  CHECK(marker("performer, chosen") == marker("performer, leads, undecided") + 1);  // of gnuplot's pairs
}

TEST_CASE("choose: on the page a head that is undecided costs what exact attention does, and has a point of its own") {
  const TemporaryFolder folder;
  const auto row = [](int head, double cost, const char* status) {
    return fmt::format(
        "model:m;layer=2;head={0},2,{0},0.1,0.05,0.95,frobenius_rel,informer,paper,64,{1},1,{1},0.07,0.08,0.04,96,1,"
        "{2},NA,0,435,flops,1,double,softmax,1,1,NA\n",
        head, cost, status);
  };
  write_text(folder / "c.csv", kChoiceHeader + row(0, 0.5, "chosen") + row(1, 0.25, "undecided"));
  REQUIRE(run_croquis("report c.csv", folder.path()).status == 0);
  const std::string page = read_text(folder / "c.html");
  CHECK_MESSAGE(contains(between(page, "<h3>Cost over layers and heads</h3>", "</figure>"), "\"values\":[0.5,1.0]"),
                page);
  for (const auto& [name, cost] : {std::pair("informer", "0.5"), {"informer, undecided", "0.25"}}) {
    const std::string curve = fmt::format("\"label\":\"{}\",", name);
    CHECK(contains(between(page, curve, "\"style\""), fmt::format("\"points\":[[[{}],", cost)));
    CHECK(count_of(between(page, curve, "\"style\""), "[model:m;") == 2);  // of one point: both of its numbers
  }
}
