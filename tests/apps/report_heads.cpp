// What is said and shown of several heads: of all of them together, and of each at its layer and head.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/made_rows.hpp"
#include "apps/report_cells.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

// A row whose output is to be zero, so that it has no relative errors.
std::string unscaled_row(const std::string& input, const std::string& method) {
  std::string row = report_row(input, method, 8, 1, 0.5);
  const std::string errors = ",1,0.5,1,0.5,";
  return row.replace(row.find(errors), errors.size(), ",1,NA,1,NA,");
}

}  // namespace

TEST_CASE("croquis report: heads lie between the smallest and the largest, and each is at its layer and head") {
  TemporaryFolder folder;
  std::string text = kErrorHeader;
  // Three heads of layer 0 and two of layer 1. Two of three draws are the median, and the mean is twice as large.
  const std::vector<std::vector<double>> medians = {{0.1, 0.11, 0.12}, {0.2, 0.21}};
  for (std::size_t layer = 0; layer < medians.size(); ++layer) {
    for (std::size_t head = 0; head < medians[layer].size(); ++head) {
      for (const int t : {1, 2, 3}) {
        text += report_row(fmt::format("model:m;layer={};head={}", layer, head), "informer", 8, t,
                           medians[layer][head] * (t == 2 ? 4 : 1));
      }
    }
  }
  write_text(folder / "r.csv", text);
  REQUIRE(run_croquis("report r.csv", folder.path()).status == 0);
  const std::string page = read_text(folder / "r.html");
  const auto chart = nlohmann::json::parse(between(page, "<script type=\"application/json\">", "</script>"));
  const auto value_of = [&](const char* view) -> nlohmann::json {  // the number, its lower and its upper end
    for (const auto& one : chart["views"]) {
      if (one["name"] == view) return one["curves"][0]["points"][0][1][0];
    }
    return {NAN, NAN, NAN};
  };
  const auto median = value_of("all 5: median"), mean = value_of("all 5: mean");
  CHECK(median[0] == doctest::Approx(0.24));
  CHECK(median[1] == doctest::Approx(0.2));
  CHECK(median[2] == doctest::Approx(0.42));
  CHECK(mean[0] == doctest::Approx(0.296));
  CHECK(mean[1] < 0.2);
  CHECK(mean[1].get<double>() + mean[2].get<double>() == doctest::Approx(2 * 0.296).epsilon(1e-3));
  const std::string maps = between(page, "<h3>Layers and heads</h3>", "</figure>");
  CHECK_MESSAGE(contains(maps, "; median of 3 draws, of several inputs the median;"), maps);
  CHECK(cells_after(maps, "0", "0.1") == std::vector<std::string>{"0", "0.1", "0.11", "0.12"});
  CHECK(cells_after(maps, "1", "0.2") == std::vector<std::string>{"1", "0.2", "0.21", ""});
}

TEST_CASE("croquis show: of heads on sequences, how many pairs there are where some lack, and how many have no error") {
  TemporaryFolder folder;
  const auto shown = [&](int pairs) {
    std::string text = kErrorHeader;
    for (int i = 0; i < pairs; ++i) {
      const std::string input = fmt::format("model:m;sequence={};layer=0;head={}", i / 2, i % 2);
      text += i < 1 ? unscaled_row(input, "informer") : report_row(input, "informer", 8, 1, 0.5);
      text += i < 2 ? unscaled_row(input, "longformer") : report_row(input, "longformer", 8, 1, 0.5);
    }
    write_text(folder / "r.csv", text);
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    return run.output;
  };
  for (const auto& [pairs, words] : {std::pair(3, "2 heads (3 pairs) on 2 sequences"), {4, "2 heads on 2 sequences"}}) {
    const std::string text = shown(pairs);
    CHECK_MESSAGE(contains(text, words), text);
    CHECK(contains(text, fmt::format("up to 2 of {} pairs of a head and a sequence have no relative error", pairs)));
  }
}

TEST_CASE("croquis show: draws in double and in float are not said to be in float") {
  TemporaryFolder folder;
  std::string second = report_row("a", "informer", 8, 2, 0.5);
  second.replace(second.find(",double,"), 8, ",float,");
  for (const auto& [rows, words] :
       {std::pair(report_row("a", "informer", 8, 1, 0.5) + second, ", precision = double and float"),
        {second, ", precision = float"}}) {
    write_text(folder / "r.csv", kErrorHeader + rows);
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    CHECK_MESSAGE(contains(run.output, std::string("a, n = 32, p = 4") + words + ";"), run.output);
  }
}

TEST_CASE("croquis show and report: a method that is not of all inputs is no candidate, and named") {
  TemporaryFolder folder;
  std::string rows;
  for (const int trial : {1, 2}) {
    rows += report_row("a", "skeinformer", 8, trial, 0.2) + report_row("b", "skeinformer", 8, trial, 0.25) +
            report_row("a", "informer", 8, trial, 0.1);
  }
  const std::string fewer = "ot compared with the others, as they are not of all 2 inputs: informer at d = 8";
  const auto shown = [&](const std::string& more) {
    write_text(folder / "r.csv", kErrorHeader + rows + more);
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    return run.output;
  };
  const std::string some = shown("");
  CHECK_MESSAGE(contains(some, "\nn" + fewer), some);
  CHECK_MESSAGE(contains(some, "\nN" + fewer), some);
  CHECK_MESSAGE(contains(some, "at d = 8, skeinformer has the smallest"), some);
  CHECK_MESSAGE(contains(some, "error at most 0.3: skeinformer"), some);
  const std::string all = shown(report_row("b", "informer", 8, 1, 0.1) + report_row("b", "informer", 8, 2, 0.1));
  CHECK_MESSAGE(!contains(all, fewer), all);
  CHECK_MESSAGE(contains(all, "at d = 8, informer has the smallest"), all);
  REQUIRE(run_croquis("report r.csv", folder.path()).status == 0);
}

TEST_CASE("croquis show: the fewest and the most draws of what is repeated are said") {
  TemporaryFolder folder;
  std::string rows = report_row("a", "v-mean", 8, 1, 0.5);  // not random: one draw
  for (int trial = 1; trial <= 5; ++trial) rows += report_row("a", "skeinformer", 8, trial, 0.2 + 0.01 * trial);
  for (const auto& [draws, words] : {std::pair(5, "mean of 5 draws"), {2, "mean of 2 to 5 draws"}}) {
    std::string others;
    for (int trial = 1; trial <= draws; ++trial) others += report_row("a", "informer", 8, trial, 0.1 + 0.01 * trial);
    write_text(folder / "r.csv", kErrorHeader + rows + others);
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    CHECK_MESSAGE(contains(run.output, words), run.output);
  }
}
