// Files that croquis report, show and plot are given: changed, cut off, made by hand, and refused.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "apps/made_rows.hpp"
#include "support/capture.hpp"
#include "support/process.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("croquis show, plot and report: a column that stands twice is named, not counted as two draws") {
  TemporaryFolder folder;
  const std::string header = kErrorHeader, row = report_row("x", "v-mean", 8, 1, 0.5);
  write_text(folder / "r.csv", "frobenius_rel," + header + "0.75," + row);
  for (const std::string command : {"show r.csv", "plot r.csv", "report r.csv"}) {
    CAPTURE(command);
    check_refused(run_croquis(command, folder.path()), "r.csv: has the column 'frobenius_rel' twice");
  }
  CHECK_FALSE(std::filesystem::exists(folder / "r.html"));
  CHECK_FALSE(std::filesystem::exists(folder / "r.svg"));
}

TEST_CASE("croquis show, plot and report: where a file lacks a column that they need, the file is named") {
  TemporaryFolder folder;
  const auto without_last_field = [](const std::string& line) { return line.substr(0, line.rfind(',')) + '\n'; };
  write_text(folder / "whole.csv", kErrorHeader + report_row("x", "v-mean", 8, 1, 0.5));
  write_text(folder / "less.csv",
             without_last_field(kErrorHeader) + without_last_field(report_row("x", "v-mean", 8, 1, 0.5)));
  for (const std::string command : {"show less.csv", "plot less.csv", "report whole.csv less.csv"}) {
    CAPTURE(command);
    const ProgramRun run = run_croquis(command, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(contains(run.output, "croquis: less.csv: no column 'status'; there are input, "), run.output);
  }
}

TEST_CASE("croquis show, plot and report: where columns are removed, those that the rows lack are named") {
  const TemporaryFolder folder;
  const auto check_lacks = [&](const std::string& header, const std::string& says) {
    write_text(folder / "less.csv", header + "\n");
    for (const char* command : {"show less.csv", "plot less.csv", "report less.csv"}) {
      CAPTURE(command);
      check_refused(run_croquis(command, folder.path()), "less.csv: is not " + says);
    }
  };
  check_lacks(
      "input,method,preset,target,n,p,p_v,features,trial,seed,precision,spectral_rel,status",
      "a whole result of croquis error: it lacks the columns frobenius_abs, frobenius_rel, max_abs, spectral_abs\n");
  // Rows of `cost` have all of these, and three more; those of `error` have no threads.
  check_lacks("input,method,preset,n,p,p_v,features,seed,threads,flops,status",
              "a whole result of croquis cost: it lacks the columns peak_bytes, repeat, seconds\n");
  // A column of another program: nothing tells what the rows are.
  check_lacks("input,method,preset,n,p,p_v,features,seed,threads,flops,status,other", "a result of croquis error, ");
}

TEST_CASE("croquis report, show and plot: rows that were changed after their run are said to be") {
  const TemporaryFolder folder;
  REQUIRE(
      run_croquis("error --input gaussian --n 32 --p 4 --methods v-mean,skeinformer --features 4 --trials 3 --quiet "
                  "--out r.csv",
                  folder.path())
          .status == 0);
  const std::string rows = read_text(folder / "r.csv"), says = "r.csv: is not as its run wrote it";
  for (const char* command : {"show r.csv", "report r.csv", "plot r.csv --out r.svg"}) {
    CAPTURE(command);
    write_text(folder / "r.csv", rows);
    CHECK_FALSE(contains(run_croquis(command, folder.path()).output, says));
    write_text(folder / "r.csv", rows.substr(0, rows.rfind('\n', rows.size() - 2) + 1));  // one row less
    const ProgramRun run = run_croquis(command, folder.path());
    CHECK(run.status == 0);
    CHECK(contains(run.output, says));
  }
  REQUIRE(run_croquis("report r.csv", folder.path()).status == 0);
  CHECK(contains(read_text(folder / "r.html"), "The rows were changed after the run."));
}

TEST_CASE("croquis show, plot and report: a file of no run has its last row without a line break, and no row twice") {
  TemporaryFolder folder;
  const std::string first = report_row("x", "v-mean", 8, 1, 0.5), second = report_row("x", "v-mean", 8, 2, 0.25);
  const auto check = [&](const std::string& rows, int status, const std::string& says) {
    write_text(folder / "r.csv", kErrorHeader + rows);
    for (const char* command : {"show r.csv", "plot r.csv", "report r.csv"}) {
      CAPTURE(command);
      const ProgramRun run = run_croquis(command, folder.path());
      CHECK_MESSAGE(run.status == status, run.output);
      CHECK_MESSAGE((status == 0 || contains(run.output, says)), run.output);
    }
  };
  check(first + second.substr(0, second.size() - 1), 0, "");
  CHECK(contains(read_text(folder / "r.html"), "2 rows"));
  check(first + second.substr(0, second.size() / 2), 2, "r.csv: line 3 has ");
  check(first + second + first, 2, "r.csv: line 4 is a second result of what line 2 has; remove one of them");
  std::string other_seed = first;
  other_seed.replace(other_seed.find(",8,1,1,"), 7, ",8,1,2,");
  check(first + second + other_seed, 0, "");
}

TEST_CASE("croquis show, plot and report: rows of two results of which one title would speak wrongly are refused") {
  TemporaryFolder folder;
  const auto with = [](std::string row, const std::string& from, const std::string& to) {
    return row.replace(row.find(from), from.size(), to);
  };
  const auto check = [&](const std::string& header, const std::string& first, const std::string& second,
                         const std::string& says) {
    write_text(folder / "r.csv", header + first + second);
    for (const char* command : {"show r.csv", "plot r.csv", "report r.csv"}) {
      CAPTURE(command);
      check_refused(run_croquis(command, folder.path()),
                    fmt::format("r.csv: line 3 has {}; keep them in two files", says));
    }
  };
  const std::string same = ", otherwise of the same measurement, has ";
  const std::string error = report_row("x", "skeinformer", 8, 1, 0.5),
                    second = report_row("x", "skeinformer", 8, 2, 0.25);
  check(kErrorHeader, error, with(second, ",32,4,4,", ",64,4,4,"), "n = 64 where line 2" + same + "32");
  check(kErrorHeader, error, with(error, ",double,", ",float,"), "precision = float where line 2" + same + "double");
  const std::string cost = cost_row("performer", 8, 1, 0.5), other = cost_row("informer", 8, 1, 0.5);
  check(kCostHeader, cost, with(other, ",double,2,", ",double,1,"), "threads = 1 where line 2 has 2");
  check(kCostHeader, cost, with(other, ",double,", ",float,"), "precision = float where line 2 has double");
  const std::string choice =
      "a;head=0,NA,0,0.5,0.25,0.5,frobenius_rel,exact,paper,0,9,9,1,NA,NA,NA,0,1,exact,NA,0,0,flops,1,"
      "double,softmax,1,1,NA\n";
  const std::string of_other_head = with(choice, "a;head=0,NA,0", "a;head=1,NA,1");
  check(kChoiceHeader, choice, with(of_other_head, ",0.5,0.25,", ",0.75,0.25,"), "eps = 0.75 where line 2 has 0.5");
  check(kChoiceHeader, choice, with(of_other_head, ",0.25,0.5,", ",0.25,0.75,"),
        "confidence = 0.75 where line 2 has 0.5");
  for (const std::string& rows :
       {kErrorHeader + error + second, kCostHeader + cost + other, kChoiceHeader + choice + of_other_head}) {
    write_text(folder / "r.csv", rows);
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    CHECK_MESSAGE(run.status == 0, run.output);
  }
}

TEST_CASE("croquis show: rows that are appended to those of a run, which has them already, are refused") {
  TemporaryFolder folder;
  REQUIRE(run_croquis("error --input gaussian --n 32 --p 4 --methods v-mean --features 4 --quiet --out r.csv",
                      folder.path())
              .status == 0);
  const std::string rows = read_text(folder / "r.csv");
  write_text(folder / "r.csv", rows + rows.substr(rows.find('\n') + 1));
  const ProgramRun run = run_croquis("show r.csv", folder.path());
  CHECK_MESSAGE(run.status == 2, run.output);
  CHECK_MESSAGE(contains(run.output, "r.csv: line 3 is a second result of what line 2 has"), run.output);
}

TEST_CASE("croquis show, plot and report: names of columns and texts may be in quotes, as other programs save them") {
  TemporaryFolder folder;
  const std::string header = kErrorHeader.substr(0, kErrorHeader.size() - 1);
  const std::string row = report_row("x", "v-mean", 8, 1, 0.5);
  std::string quoted = "\"";
  for (const char c : header) quoted += c == ',' ? std::string("\",\"") : std::string(1, c);
  write_text(folder / "bare.csv", kErrorHeader + row);
  write_text(folder / "quoted.csv", quoted + "\"\n\"x\"" + row.substr(row.find(',')));
  for (const char* file : {"bare.csv", "quoted.csv"}) {
    for (const char* command : {"show ", "plot ", "report "}) {
      const ProgramRun run = run_croquis(std::string(command) + file, folder.path());
      CHECK_MESSAGE(run.status == 0, run.output);
    }
  }
  CHECK(run_croquis("show quoted.csv", folder.path()).output == run_croquis("show bare.csv", folder.path()).output);
  std::string semicolons = kErrorHeader + row;
  std::replace(semicolons.begin(), semicolons.end(), ',', ';');
  write_text(folder / "semicolons.csv", semicolons);
  check_refused(run_croquis("show semicolons.csv", folder.path()), "names of columns and commas between them");
}

TEST_CASE("croquis report: a meta file that is nested without end is none") {
  TemporaryFolder folder;
  write_text(folder / "r.csv", kErrorHeader + report_row("x", "v-mean", 8, 1, 0.5));
  constexpr std::size_t deep = 1'000'000;
  write_text(folder / "r.meta.json",
             R"({"seed":1,"command_line":)" + std::string(deep, '[') + std::string(deep, ']') + '}');
  const ProgramRun run = run_process({"report", "r.csv"}, folder.path());
  CHECK_MESSAGE(run.status == 0, run.output);
  CHECK(contains(read_text(folder / "r.html"), "There is no r.meta.json"));
}

TEST_CASE("croquis report and show: what is no result of Croquis is refused in one line, and no page is left") {
  TemporaryFolder folder;
  write_text(folder / "other.csv", "a,b\n1,2\n");
  write_text(folder / "good.other.csv", "a,b\n1,2\n");
  write_text(folder / "lost.summary.csv", "a,b\n1,2\n");
  write_text(folder / "empty.csv", kErrorHeader);
  write_text(folder / "good.csv", kErrorHeader + report_row("x", "v-mean", 8, 1, 0.5));
  const struct {
    const char *arguments, *says;
  } refusals[] = {
      {"report other.csv", "other.csv: is not a result of croquis"},
      {"report good.csv other.csv", "other.csv: is not a result of croquis"},
      {"report none.csv", "none.csv"},
      {"report empty.csv", "empty.csv: has no rows yet"},
      {"report good.csv --out good.csv", "a page ends in .html"},
      {"report good.csv --out none/page.html", "none"},
      {"report", "give CSV files of other commands"},
      {"show other.csv", "other.csv: is not a result of croquis"},
      {"show good.csv other.csv", "show: takes one result, and other.csv is one more; croquis report sets several one"},
      {"plot good.csv other.csv", "plot: takes one result, and other.csv is one more; croquis report sets several one"},
      {"show good.other.csv", "good.other.csv: has no rows of a run; give good.csv"},
      {"show lost.summary.csv",
       "lost.summary.csv: stands beside the rows of a run and has none; the rows, lost.csv, are not"},
      {"show empty.csv", "empty.csv: has no rows yet"},
  };
  for (const auto& [arguments, says] : refusals) {
    CAPTURE_BINDING(arguments);
    check_refused(run_croquis(arguments, folder.path()), says);
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    CHECK(entry.path().extension() == ".csv");
  }
}
