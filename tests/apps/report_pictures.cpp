// The pictures of a page of results, and those of characters in the terminal.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/made_rows.hpp"
#include "apps/report_cells.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("croquis report: of a single point what would be a band is a bar, and the page says so") {
  TemporaryFolder folder;
  const auto page_of = [&](const std::vector<std::pair<std::string, int>>& rows) {
    std::string text = kErrorHeader;
    for (const auto& [method, d] : rows) {
      for (const int trial : {1, 2, 3}) text += report_row("x", method, d, trial, trial * 8.0 / d);
    }
    write_text(folder / "r.csv", text);
    REQUIRE(run_croquis("report r.csv --out r.html", folder.path()).status == 0);
    return read_text(folder / "r.html");
  };
  static const std::regex bar("<path class=\"bar\" d=\"M([0-9.]+) ([0-9.]+)L([0-9.]+) ([0-9.]+)\"/>");
  const std::string one = page_of({{"informer", 8}, {"performer", 8}});
  CHECK(contains(one, "median of 3 draws; bar: smallest to largest</p>"));
  CHECK(count_of(one, "<path class=\"band\"") == 0);
  std::size_t bars = 0;
  for (std::sregex_iterator match(one.begin(), one.end(), bar), end; match != end; ++match, ++bars) {
    CHECK((*match)[1] == (*match)[3]);
    CHECK(std::stod((*match)[2]) + 100 < std::stod((*match)[4]));  // from 3 down to 1, on an axis of the same numbers
  }
  CHECK(bars == 2);
  const std::string both = page_of({{"informer", 8}, {"informer", 16}, {"performer", 8}});
  CHECK(contains(both, "median of 3 draws; band or bar: smallest to largest</p>"));
  CHECK(count_of(both, "<path class=\"band\"") == 1);
  CHECK(count_of(both, "<path class=\"bar\"") == 1);
  const std::string none = page_of({{"informer", 8}, {"informer", 16}});
  CHECK(contains(none, "median of 3 draws; band: smallest to largest</p>"));
  CHECK(count_of(none, "<path class=\"bar\"") == 0);
  // What counts is what is drawn: zero has no place on the axis, and draws that are equal have no spread.
  const auto page_of_two = [&](double first, double spread) {
    std::string text = kErrorHeader;
    for (const int trial : {1, 2, 3}) {
      text += report_row("x", "informer", 8, trial, first * trial) + report_row("x", "informer", 16, trial, trial) +
              report_row("x", "performer", 8, trial, 1 + spread * trial);
    }
    write_text(folder / "r.csv", text);
    REQUIRE(run_croquis("report r.csv --out r.html", folder.path()).status == 0);
    return read_text(folder / "r.html");
  };
  CHECK(contains(page_of_two(0, 0), "median of 3 draws; bar: smallest to largest</p>"));
  CHECK(contains(page_of_two(1, 0), "median of 3 draws; band: smallest to largest</p>"));
  CHECK(contains(page_of_two(1, 1), "median of 3 draws; band or bar: smallest to largest</p>"));
}

TEST_CASE("croquis report: what a logarithmic axis cannot show is named below the legend") {
  TemporaryFolder folder;
  const auto page = [&](double last) {
    std::string text = kErrorHeader;
    for (const int d : {8, 16, 32}) {
      text += report_row("x", "informer", d, 1, 0.5) + report_row("x", "longformer", d, 1, d == 8 ? 0.1 : last);
    }
    write_text(folder / "r.csv", text);
    REQUIRE(run_croquis("report r.csv", folder.path()).status == 0);
    return read_text(folder / "r.html");
  };
  CHECK(contains(page(0), "Not on this logarithmic axis, zero: longformer (features = 16, 32).</p>"));
  CHECK(contains(page(0.01), "<p class=\"meaning missing\"></p>"));
}

TEST_CASE("croquis report and show: what is too large or too small for an axis is named") {
  TemporaryFolder folder;
  const auto said = [&](double first, double second) {
    write_text(folder / "r.csv", kErrorHeader + report_row("x", "informer", 8, 1, first) +
                                     report_row("x", "informer", 16, 1, second) +
                                     report_row("x", "longformer", 8, 1, 0.25));
    const ProgramRun show = run_croquis("show r.csv", folder.path());
    REQUIRE_MESSAGE(show.status == 0, show.output);
    REQUIRE(run_croquis("report r.csv", folder.path()).status == 0);
    const std::string page = read_text(folder / "r.html");
    const std::string below = between(page, "<p class=\"meaning missing\">", "</p>");
    std::string last;
    for (const std::string& line : lines_of(show.output)) {
      if (line.starts_with("Not on ")) last += line;
    }
    CHECK(last == below);
    return below;
  };
  CHECK(said(0.5, 1e150) == "");
  CHECK(said(0.5, 1e200) == "Not on this logarithmic axis, beyond 1e150: informer (features = 16).");
  CHECK(said(2e150, 1e300) == "Not on this logarithmic axis, beyond 1e150: informer (features = 8, 16).");
  CHECK(said(0.5, 1e-150) == "");
  CHECK(said(1e-200, 0.5) == "Not on this logarithmic axis, below 1e-150: informer (features = 8).");
  CHECK(said(0, 1e200) ==
        "Not on this logarithmic axis, zero: informer (features = 8). Not on this logarithmic axis, beyond 1e150: "
        "informer (features = 16).");
}

TEST_CASE("croquis report: eps of a choice is a line across the chart, without marks and no row of its table") {
  TemporaryFolder folder;
  write_text(folder / "c.csv", kChoiceHeader +
                                   "arrays:q,NA,NA,0.1,0.05,0.95,frobenius_rel,informer,paper,64,500,1000,0.5,0.07,0."
                                   "08,0.04,96,1,chosen,NA,0,435,"
                                   "flops,1,double,softmax,1,1,NA\n");
  REQUIRE(run_croquis("report c.csv", folder.path()).status == 0);
  const std::string page = read_text(folder / "c.html");
  CHECK(cells_after(page, "eps = 0.1", "0.1").empty());
  CHECK_FALSE(contains(page, "<th scope=\"row\">eps"));
  const std::string drawn = between(page, " unmarked\">", "</g>");
  REQUIRE_FALSE(drawn.empty());
  // From the left edge of the picture to its right one.
  static const std::regex across("class=\"line\" d=\"M70\\.0 ([0-9.]+)L746\\.0 ([0-9.]+)\"");
  std::smatch ends;
  REQUIRE_MESSAGE(std::regex_search(drawn, ends, across), drawn);
  CHECK(ends[1] == ends[2]);
  CHECK(contains(drawn, "<title>eps = 0.1: 0.1</title>"));
}

TEST_CASE("croquis report and show: of a choice by the loss the divergence of the search is drawn, as what it is") {
  TemporaryFolder folder;
  const auto row = [](int layer, const char* method, int d, double cost, const char* divergence, const char* status) {
    return fmt::format(
        "model:m;layer={},{},NA,0.05,NA,0.95,loss,{},paper,{},{},1000,{},{},NA,NA,6,6,{},NA,0,56,flops,1,double,"
        "softmax,1,6,NA\n",
        layer, layer, method, d, 1000 * cost, cost, divergence, status);
  };
  write_text(folder / "c.csv", kChoiceHeader + row(0, "longformer", 16, 0.25, "0.027", "chosen") +
                                   row(1, "streaming", 32, 0.5, "0.012", "chosen") +
                                   row(2, "exact", 0, 1, "NA", "exact"));
  REQUIRE(run_croquis("report c.csv", folder.path()).status == 0);
  const std::string page = read_text(folder / "c.html");
  CHECK(contains(page, "Divergence against cost of what is chosen"));
  CHECK(contains(page, "KL(exact || approximated) with this layer alone replaced"));
  CHECK(contains(page, "one point a layer, mean over the sequences of the search"));
  CHECK_FALSE(contains(page, "median of loss"));
  CHECK_FALSE(contains(page, "quantile of loss"));
  CHECK_FALSE(contains(page, "eps = "));
  CHECK(contains(page, "<title>longformer"));
  for (const auto& [method, cost, divergence] :
       {std::tuple("longformer", "0.25", "0.027"), {"streaming", "0.5", "0.012"}}) {
    const std::vector<std::string> cells = cells_after(page, method, cost);
    REQUIRE(cells.size() == 3);
    CHECK(cells[2].starts_with(divergence));
  }
  const std::string shown = run_croquis("show c.csv", folder.path()).output;
  CHECK_MESSAGE(contains(shown, "one point a layer"), shown);
  CHECK(contains(shown, "\n  a longformer\n  b streaming\n"));
}

TEST_CASE(
    "croquis report: the vertical axis has room for bands and bars where they are drawn, and else for the points") {
  TemporaryFolder folder;
  // Medians from 0.5 to 0.6, of draws of a thousandth and of a thousand times that.
  const auto span_of_marks = [&](int methods) {
    std::string text = kErrorHeader;
    for (int m = 0; m < methods; ++m) {
      const double median = 0.5 + 0.1 * m / (methods - 1);
      for (const int d : {8, 16}) {
        for (const auto& [trial, factor] : {std::pair(1, 1e-3), {2, 1.0}, {3, 1e3}})
          text += report_row("x", fmt::format("m{}", m), d, trial, factor * median);
      }
    }
    write_text(folder / "r.csv", text);
    REQUIRE(run_croquis("report r.csv", folder.path()).status == 0);
    const std::string page = read_text(folder / "r.html");
    static const std::regex mark("class=\"mark\" transform=\"translate\\([0-9.]+ ([0-9.]+)\\)\" d=\"[^\"]*\"><title>");
    double lowest = 1e9, highest = 0;
    for (std::sregex_iterator match(page.begin(), page.end(), mark), end; match != end; ++match) {
      lowest = std::min(lowest, std::stod((*match)[1]));
      highest = std::max(highest, std::stod((*match)[1]));
    }
    return highest - lowest;
  };
  // Of 366: without bands all but a margin of 0.04 of the points' range at each end; with bands
  // log(0.6 / 0.5) / (1.08 log(1.2e6)), which is 0.012.
  CHECK(span_of_marks(9) == doctest::Approx(366 / 1.08).epsilon(0.002));
  CHECK(span_of_marks(8) == doctest::Approx(366 / 1.08 * std::log(1.2) / std::log(1.2e6)).epsilon(0.02));
}

TEST_CASE("croquis show: curves that others cover are named below the legend, and no band is") {
  TemporaryFolder folder;
  const auto shown = [&](double last) {
    std::string text = kErrorHeader;
    for (const int d : {8, 16}) {
      for (const int t : {1, 2, 3}) {
        text += report_row("x", "informer", d, t, 0.5) + report_row("x", "longformer", d, t, d == 8 ? 0.501 : last) +
                report_row("x", "performer", d, t, d == 8 ? 0.1 : 0.2) + report_row("x", "streaming", d, t, 0.499);
      }
    }
    write_text(folder / "r.csv", text);
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    CHECK(contains(run.output, "p = 4; median of 3 draws\n"));
    return run.output;
  };
  const std::string legend = "  a informer\n  b longformer\n  c performer\n  d streaming\n";
  CHECK_MESSAGE(contains(shown(0.501), legend + "  covered by others: b, d\n"), shown(0.501));
  CHECK(contains(shown(0.3), legend + "  covered by others: d\n"));
}

TEST_CASE("croquis show: a plot in characters has its points where their numbers are") {
  TemporaryFolder folder;
  std::string text = kErrorHeader;
  for (const int d : {8, 16, 32}) text += report_row("x", "nystromformer", d, 1, 0.8 / d);
  write_text(folder / "r.csv", text);
  const ProgramRun run = run_croquis("show r.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  // On logarithmic axes 1/d is a straight line: three letters, equal steps to the right and downwards.
  std::vector<std::pair<long, long>> letters;
  long row = 0;
  for (const std::string& line : lines_of(run.output)) {
    constexpr std::size_t bar = 9;  // of the vertical axis
    if (line.size() <= bar || line.substr(bar - 1, 2) != " |") continue;
    for (std::size_t at = bar; at < line.size(); ++at) {
      if (line[at] == 'a') letters.emplace_back(row, static_cast<long>(at));
    }
    ++row;
  }
  REQUIRE(letters.size() == 3);
  CHECK(std::abs(letters[2].first - 2 * letters[1].first + letters[0].first) <= 1);
  CHECK(std::abs(letters[2].second - 2 * letters[1].second + letters[0].second) <= 1);
  CHECK(letters[2].first > letters[0].first + 10);
  CHECK(contains(run.output, "  a nystromformer\n"));
}

TEST_CASE("croquis show: the points take all of a plot in characters, though they differ by a few percent") {
  TemporaryFolder folder;
  write_text(folder / "r.csv", kErrorHeader + report_row("x", "nystromformer", 8, 1, 6.16) +
                                   report_row("x", "nystromformer", 16, 1, 5.98));
  const ProgramRun run = run_croquis("show r.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  std::vector<bool> has_letter;
  for (const std::string& line : lines_of(run.output)) {
    if (line.size() < 10 || line.substr(8, 2) != " |") continue;
    has_letter.push_back(line.find('a', 10) != std::string::npos);
    const std::string label = line.substr(0, 8);
    if (label == std::string(8, ' ')) continue;
    CHECK(std::stod(label) >= 5.97);  // the range and a margin of 0.04 of it
    CHECK(std::stod(label) <= 6.17);
  }
  REQUIRE(has_letter.size() == 18);
  // The margins are 0.04 / 1.08 of the 17 steps, less than a row and a half.
  CHECK((has_letter[0] || has_letter[1]));
  CHECK((has_letter[16] || has_letter[17]));
}
