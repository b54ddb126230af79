// The tables of a page of results, and again in the terminal.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "apps/made_rows.hpp"
#include "apps/report_cells.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

// Of one n: exact attention, which has no d and takes 0.012 s, and `more`.
std::string costs_at_one_n(const std::string& more) {
  std::string text = kCostHeader;
  for (const int repeat : {1, 2, 3}) text += cost_row("exact", 0, repeat, 0.01 + 0.001 * repeat);
  return text + more;
}

}  // namespace

TEST_CASE("croquis report: its table has the median of the draws and their 10 to 90 % quantiles") {
  TemporaryFolder folder;
  std::string text = kErrorHeader;
  std::vector<double> errors;
  for (int t = 1; t <= 11; ++t) {
    errors.push_back(0.1 + 0.01 * ((t * 7) % 11));
    text += report_row("x", "nystromformer", 8, t, errors.back()) + report_row("x", "nystromformer", 16, t, 1.0 / t);
  }
  write_text(folder / "r.csv", text);
  REQUIRE(run_croquis("report r.csv", folder.path()).status == 0);
  const std::string page = read_text(folder / "r.html");
  // Of 0.1, 0.11, ..., 0.2 the median is 0.15; by type 7 the quantiles are the second and the tenth of eleven.
  const std::vector<std::string> cells = cells_after(page, "nystromformer", "8");
  REQUIRE(cells.size() > 5);
  CHECK(contains(fmt::format("{}", fmt::join(cells, "|")), "0.15 (0.11 – 0.19)"));
  CHECK(contains(page, "median of 11 draws; in parentheses 10 to 90 %"));
  CHECK(contains(page, "There is no r.meta.json beside the rows."));
}

TEST_CASE("croquis report: the name of an input is not taken for that of a band") {
  TemporaryFolder folder;
  for (const auto& [trials, says] :
       {std::pair(1, "one draw<"), {2, "median of 2 draws; in parentheses smallest to "}}) {
    std::string text = kErrorHeader;
    for (int t = 1; t <= trials; ++t) text += report_row("band: 3", "performer", 8, t, 0.1 * t);
    write_text(folder / "r.csv", text);
    REQUIRE(run_croquis("report r.csv", folder.path()).status == 0);
    const std::string page = read_text(folder / "r.html");
    CHECK_MESSAGE(contains(page, std::string("<caption>band: 3, n = 32, p = 4; ") + says), page);
  }
}

TEST_CASE("croquis report: flops of costs are one column") {
  TemporaryFolder folder;
  REQUIRE(run_croquis("cost --n 32 --p 4 --features 4 --methods v-mean --repeats 1 --quiet --out t.csv", folder.path())
              .status == 0);
  REQUIRE(run_croquis("report t.csv", folder.path()).status == 0);
  const std::string page = read_text(folder / "t.html");
  CHECK(count_of(page.substr(0, page.find("</thead>")), ">flops</th>") == 1);
}

TEST_CASE("croquis report: the interval for the sample of rows is that of the statistic beside which it stands") {
  TemporaryFolder folder;
  write_text(folder / "r.csv", kSampledHeader + sampled_row("x", "performer", 8, 1, 0.1, 0.05, 0.2) +
                                   sampled_row("x", "performer", 8, 2, 0.2, 0.15, 0.4) +
                                   sampled_row("x", "performer", 8, 3, 0.24, 0.19, 0.9));
  REQUIRE(run_croquis("report r.csv", folder.path()).status == 0);
  const std::string page = read_text(folder / "r.html");
  const std::vector<std::string> cells = cells_after(page, "performer", "8");
  CHECK(contains(fmt::format("{}", fmt::join(cells, "|")), "|0.2 (0.1 – 0.24) [rows: 0.15, 0.4]|"));
  CHECK(contains(page, "\"[rows: 0.13, 0.5]\""));  // what the script shows of means
  CHECK(count_of(page, "; in brackets the 95 % interval for the sample of rows\"") == 2);  // of medians and of means
  CHECK(contains(page, "; in brackets the 95 % interval for the sample of rows</p>"));
  // Of three inputs the number of the printed table and of the first view is the median.
  const auto input = [](const std::string& name, double error) {
    return sampled_row(name, "performer", 8, 1, error, error / 2, 2 * error);
  };
  write_text(folder / "r.csv", kSampledHeader + input("x", 0.1) + input("y", 0.2) + input("z", 0.6));
  REQUIRE(run_croquis("report r.csv", folder.path()).status == 0);
  const std::string several = read_text(folder / "r.html");
  const std::vector<std::string> of_median = cells_after(several, "performer", "8");
  CHECK(contains(fmt::format("{}", fmt::join(of_median, "|")), "|0.2 (0.1 – 0.6) [rows: 0.1, 0.4]|"));
  CHECK_MESSAGE(contains(several, "\"[rows: 0.15, 0.6]\""), several);  // what the script shows of means
  CHECK(contains(run_croquis("show r.csv", folder.path()).output, "0.2 (0.1 - 0.6) [0.1, 0.4]"));
  write_text(folder / "r.csv", kErrorHeader + report_row("x", "performer", 8, 1, 0.1));
  REQUIRE(run_croquis("report r.csv", folder.path()).status == 0);
  CHECK_FALSE(contains(read_text(folder / "r.html"), "in brackets the 95"));
}

TEST_CASE("croquis show and report of costs at one n: exact attention has no d, is a line across and compared with") {
  TemporaryFolder folder;
  std::string more;
  for (const int repeat : {1, 2, 3}) {
    for (const int d : {16, 64}) {
      more += cost_row("skeinformer", d, repeat, 0.003) + cost_row("nystromformer", d, repeat, d == 16 ? 0.002 : 0.036);
    }
  }
  write_text(folder / "t.csv", costs_at_one_n(more));
  const ProgramRun run = run_croquis("show t.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK_MESSAGE(contains(run.output,
                         "\nExact softmax attention takes 0.012 s.\n"
                         "At d = 64: skeinformer (n = 1024) 0.003 s (0.25 of exact attention), "
                         "nystromformer (n = 1024) 0.036 s (3 of exact attention).\n"),
                run.output);
  CHECK(contains(run.output, " no d "));
  CHECK_FALSE(contains(run.output, "d = 0"));
  CHECK(contains(run.output, "  a exact (n = 1024)\n"));
  CHECK(contains(run.output, " |a" + std::string(66, '.') + "a\n"));

  REQUIRE(run_croquis("report t.csv", folder.path()).status == 0);
  const std::string page = read_text(folder / "t.html");
  CHECK(contains(page, "<title>exact (n = 1024): 0.012 (0.011 – 0.013)</title>"));
  static const std::regex across("class=\"line\" d=\"M70\\.0 ([0-9.]+)L746\\.0 ([0-9.]+)\"");
  std::smatch ends;
  REQUIRE(std::regex_search(page, ends, across));
  CHECK(ends[1] == ends[2]);
  const std::vector<std::string> cells = cells_after(page, "exact (n = 1024)", "softmax attention");
  REQUIRE(cells.size() > 3);
  CHECK(cells[2] == "-");     // d
  CHECK(cells[3] == "1000");  // flops, which it has
  CHECK(count_of(page, "<th scope=\"row\">exact") == 1);

  // Without a method there is nothing of a size, and the axis is that of flops.
  write_text(folder / "e.csv", costs_at_one_n(""));
  const ProgramRun alone = run_croquis("show e.csv", folder.path());
  CHECK_MESSAGE(contains(alone.output, "time of a call [s] against flops"), alone.output);
  CHECK(contains(alone.output, "  a exact (n = 1024)\n\nExact softmax attention takes 0.012 s.\n"));
}

TEST_CASE("croquis show of costs: exact attention is that of the largest n, and compared at its n alone") {
  TemporaryFolder folder;
  const auto row = [](const std::string& method, int n, double seconds) {
    std::string text = cost_row(method, method == "exact" ? 0 : 8, 1, seconds);
    return text.replace(text.find(",1024,"), 6, fmt::format(",{},", n));
  };
  const std::string methods = row("skyformer", 256, 0.25) + row("skyformer", 512, 0.5), exact = row("exact", 256, 0.5),
                    larger = row("exact", 512, 2);
  for (const auto& [rows, says] :
       {std::pair(exact + larger + methods,
                  "Exact softmax attention takes 2 s at n = 512.\nAt n = 512: skyformer (d = 8) 0.5 s (0.25 of exact "
                  "attention).\n"),
        {exact + methods, "Exact softmax attention takes 0.5 s at n = 256.\nAt n = 512: skyformer (d = 8) 0.5 s.\n"}}) {
    write_text(folder / "t.csv", kCostHeader + rows);
    const ProgramRun run = run_croquis("show t.csv", folder.path());
    CHECK_MESSAGE(contains(run.output, says), run.output);
  }
}

TEST_CASE("croquis show of costs: the median of the repeats, and their 10 to 90 % quantiles, below each other") {
  TemporaryFolder folder;
  std::string rows = kCostHeader;
  for (int repeat = 1; repeat <= 11; ++repeat)
    rows += cost_row("plain", 8, repeat, repeat) + cost_row("naïve", 8, repeat, 1);
  write_text(folder / "t.csv", rows);
  const ProgramRun run = run_croquis("show t.csv", folder.path());
  std::vector<std::size_t> ends;
  for (const std::string& line : lines_of(run.output)) {
    if (line.starts_with("plain") && contains(line, " 6 (2-10)")) ends.push_back(line.size());
    if (line.starts_with("naïve") && contains(line, " 1 (1-1)"))
      ends.push_back(line.size() - 1);  // a letter of two bytes
  }
  REQUIRE_MESSAGE(ends.size() == 2, run.output);
  CHECK_MESSAGE(ends[0] == ends[1], run.output);
}
