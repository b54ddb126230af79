// Results as one page: that of every command, and of files that are hostile, large or extreme.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>

#include "apps/made_rows.hpp"
#include "support/capture.hpp"
#include "support/process.hpp"
#include "support/program.hpp"
#include "support/small_runs.hpp"
#include "support/text.hpp"

TEST_CASE("croquis report and show: of every command that writes rows, with the command line that makes them again") {
  TemporaryFolder folder;
  std::string files;
  for (std::size_t i = 0; i < kSmallRuns.size(); ++i) {
    const std::string name = fmt::format("r{}.csv", i), command = kSmallRuns[i].substr(0, kSmallRuns[i].find(' '));
    CAPTURE(kSmallRuns[i]);
    const ProgramRun made = run_croquis(kSmallRuns[i] + " --out " + name, folder.path());
    REQUIRE_MESSAGE(made.status == 0, made.output);
    files += " " + name;

    // The tables again, as they were: all but the names of the files at the end.
    const ProgramRun shown = run_croquis("show " + name, folder.path());
    REQUIRE_MESSAGE(shown.status == 0, shown.output);
    // Which claims examples of their own decide is lines of the run, and a sentence where it is shown again.
    const std::size_t begin = made.output.find("\n\n") == 0 ? 1 : 0,
                      end = std::min(made.output.find("\nrows     "), made.output.find("\nDecided on examples"));
    REQUIRE(end != std::string::npos);
    CHECK_MESSAGE(contains(shown.output, made.output.substr(begin, end - begin)), made.output << "\n---\n"
                                                                                              << shown.output);
    if (command != "verify") CHECK(contains(shown.output, " against "));
  }
  const ProgramRun run = run_croquis("report" + files + " --out all.html", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const std::string page = read_text(folder / "all.html");
  for (std::size_t i = 0; i < kSmallRuns.size(); ++i) {
    CAPTURE(kSmallRuns[i]);
    CHECK(contains(page, kSmallRuns[i] + fmt::format(" --out r{}.csv</code>", i)));
    CHECK(contains(page, fmt::format("<section id=\"result-{}\">", i + 1)));
  }
  CHECK(count_of(page, "<ul class=\"answers\">") == kSmallRuns.size());
  CHECK(count_of(page, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\"") >= kSmallRuns.size() - 1);
  run_croquis("report" + files + " --out again.html", folder.path());
  CHECK(read_text(folder / "again.html") == page);
}

TEST_CASE("croquis report: nothing of a file is markup or code") {
  TemporaryFolder folder;
  const std::string hostile = "<script>x(1)</script>\"'&]]>\xE2\x80\xA8<img src=x>\x01\xFF-->";
  std::string text = kErrorHeader;
  for (const int d : {8, 16}) {
    for (const int t : {1, 2}) text += report_row(csv_quoted(hostile), csv_quoted(hostile), d, t, 0.1 * t);
  }
  text += failed_row({.input = csv_quoted(hostile), .method = "v-mean", .d = 8}, csv_quoted(hostile));
  write_text(folder / "r.csv", text);
  write_text(folder / "r.meta.json",
             "{\"command_line\": \"</code><script>\", \"seed\": {\"<b>\": 1}, \"environment\": "
             "{\"<i>\": \"<u>\"}, \"configuration\": 7}");
  const ProgramRun run =
      run_command("\"$CROQUIS\" report r.csv --out r.html --title '<script>x(2)</script>'", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const std::string page = read_text(folder / "r.html");
  for (const char* part : {"<script>x", "<img", "<b>", "<i>", "<u>", "</code><script>", "\x01", "\xFF"}) {
    CAPTURE(part);
    CHECK(!contains(page, part));
  }
  // The script, and the data of one chart, in which a separator of lines is an escape.
  CHECK(count_of(page, "<script") == 2);
  CHECK(count_of(page, "</script") == 2);
  const std::size_t data = page.find("<script type=\"application/json\">");
  CHECK(!contains(page.substr(data, page.find("</script>", data) - data), "\xE2\x80\xA8"));
  CHECK(contains(page, "\\u2028"));
  CHECK(contains(page, "1 of 5 rows failed"));
}

TEST_CASE("croquis report: 100,000 rows stay below 5 MB") {
  TemporaryFolder folder;
  std::string text = with_fields(kErrorHeader, ",layer,head");
  for (int head = 0; head < 96; ++head) {
    for (int m = 0; m < 10; ++m) {
      for (int k = 0; k < 5; ++k) {
        for (int t = 1; t <= 21; ++t) {
          const std::string input = fmt::format("model:m;layer={};head={}", head / 8, head % 8);
          text += with_fields(report_row(input, fmt::format("method-{}", m), 16 << k, t, (m + 1.0) / (16 << k) * t),
                              fmt::format(",{},{}", head / 8, head % 8));
        }
      }
    }
  }
  write_text(folder / "r.csv", text);
  const ProgramRun run = run_croquis("report r.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(std::filesystem::file_size(folder / "r.html") < 5'000'000);
  CHECK(contains(read_text(folder / "r.html"), "100800 rows"));
}

TEST_CASE("croquis report and show: numbers at the ends of double, and those that no step tells apart") {
  TemporaryFolder folder;
  constexpr double least = std::numeric_limits<double>::denorm_min(), most = std::numeric_limits<double>::max();
  const std::pair<double, double> pairs[] = {
      {least, least}, {least, most}, {most, most}, {-most, most}, {1e17, std::nextafter(1e17, 1e18)}, {-1e17, 1e-150}};
  for (const auto& [small, large] : pairs) {
    CAPTURE_BINDING(small);
    CAPTURE_BINDING(large);
    write_text(folder / "r.csv",
               kErrorHeader + report_row("x", "skyformer", 8, 1, small) + report_row("x", "skyformer", 16, 1, large));
    for (const char* command : {"show", "report"}) {
      const ProgramRun run = run_process({command, "r.csv"}, folder.path(), {.memory = 1 << 30, .seconds = 10});
      CHECK_MESSAGE(run.status == 0, run.output);
    }
  }
}
