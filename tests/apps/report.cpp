// Results as one page, and again in the terminal.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "support/capture.hpp"
#include "support/process.hpp"
#include "support/program.hpp"
#include "support/small_runs.hpp"
#include "support/text.hpp"

namespace {

const char* const kReportHeader =
    "input,method,preset,target,n,p,p_v,features,trial,seed,precision,spectral_abs,spectral_rel,frobenius_abs,"
    "frobenius_rel,max_abs,row_sum_dev,min_denominator,seconds,flops,status\n";

std::string report_row(const std::string& input, const std::string& method, int d, int trial, double error) {
  return fmt::format("{},{},paper,softmax,32,4,4,{},{},1,double,1,{:.17g},1,{:.17g},1,0,1,0.5,{},ok\n", input, method,
                     d, trial, error, error, 100 * d);
}

// With an interval of both relative errors for the sample of rows.
std::string sampled_header() {
  std::string header = kReportHeader;
  header.insert(header.size() - 1, ",rows,spectral_rel_lo,spectral_rel_hi,frobenius_rel_lo,frobenius_rel_hi");
  return header;
}

std::string sampled_row(const std::string& input, const std::string& method, int d, int trial, double error, double low,
                        double high) {
  std::string row = report_row(input, method, d, trial, error);
  row.insert(row.size() - 1, fmt::format(",20,{0},{1},{0},{1}", low, high));
  return row;
}

std::string cost_row(const std::string& method, int d, int repeat, double seconds) {
  return fmt::format("gaussian,{},paper,1024,64,64,{},{},1,double,2,{},4096,{},ok\n", method, d, repeat, seconds,
                     1000 + d);
}

// Of one n: exact attention, which has no d and takes 0.012 s, and `more`.
std::string costs_at_one_n(const std::string& more) {
  std::string text =
      "input,method,preset,n,p,p_v,features,repeat,seed,precision,threads,seconds,peak_bytes,flops,status\n";
  for (const int repeat : {1, 2, 3}) text += cost_row("exact", 0, repeat, 0.01 + 0.001 * repeat);
  return text + more;
}

std::string csv_quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
  return '"' + text + '"';
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The cells of the row of the page's tables that begins with these two.
std::vector<std::string> cells_after(const std::string& page, const std::string& curve, const std::string& second) {
  static const std::regex cell("<t[hd][^>]*>([^<]*)</t[hd]>");
  for (std::size_t at = page.find("<tr><th scope=\"row\">" + curve + "<"); at != std::string::npos;
       at = page.find("<tr><th scope=\"row\">" + curve + "<", at + 1)) {
    const std::string row = page.substr(at, page.find("</tr>", at) - at);
    std::vector<std::string> cells;
    for (std::sregex_iterator match(row.begin(), row.end(), cell), end; match != end; ++match) {
      cells.push_back((*match)[1]);
    }
    if (cells.size() > 2 && (cells[1] == second || cells[2] == second)) return cells;
  }
  return {};
}

}  // namespace

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

TEST_CASE("croquis report: its table has the median of the draws and their 10 to 90 % quantiles") {
  TemporaryFolder folder;
  std::string text = kReportHeader;
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

TEST_CASE("croquis report: a method is not the best where it computes exact attention") {
  TemporaryFolder folder;
  write_text(folder / "r.csv",
             kReportHeader + report_row("a", "longformer", 16, 1, 0.3) + report_row("a", "longformer", 32, 1, 0.2) +
                 report_row("a", "kriged-coreset", 16, 1, 0.4) + report_row("a", "kriged-coreset", 32, 1, 3e-15));
  const ProgramRun run = run_croquis("show r.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK_MESSAGE(
      contains(run.output,
               "at d = 32, apart from what is exact up to rounding (kriged-coreset), longformer has the smallest"),
      run.output);
  CHECK(contains(run.output, "Exact up to rounding: kriged-coreset at d = 32."));
  write_text(folder / "e.csv", kReportHeader + report_row("a", "v-mean", 32, 1, 0.2) +
                                   report_row("a", "longformer", 32, 1, 0) +
                                   report_row("a", "kriged-coreset", 32, 1, 3e-15));
  const ProgramRun exact = run_croquis("show e.csv", folder.path());
  CHECK_MESSAGE(contains(exact.output, "Exact up to rounding: kriged-coreset at d = 32; longformer at d = 32.\n"),
                exact.output);
}

TEST_CASE("croquis show: what is exact in most draws, and errs or fails in one, is not said to be exact") {
  TemporaryFolder folder;
  std::string exact = kReportHeader, errs, fails;
  for (int t = 1; t <= 9; ++t) {
    exact += report_row("a", "v-mean", 16, t, 0.5) + report_row("a", "longformer", 16, t, 0.3) +
             report_row("a", "skyformer-softmax", 16, t, 1e-15);
  }
  errs = exact + report_row("a", "skyformer-softmax", 16, 10, 0.28);
  fails = exact + "a,skyformer-softmax,paper,softmax,32,4,4,16,10,1,double,NA,NA,NA,NA,NA,NA,NA,0.5,1600,not finite\n";
  for (const std::string& rows : {exact, errs, fails}) {
    write_text(folder / "r.csv", rows);
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    CHECK_MESSAGE(contains(run.output, "xact up to rounding") == (rows == exact), run.output);
    CHECK_MESSAGE(contains(run.output, "skyformer-softmax has the smallest") == (rows != exact), run.output);
  }
}

TEST_CASE("croquis report: of a single point what would be a band is a bar, and the page says so") {
  TemporaryFolder folder;
  const auto page_of = [&](const std::vector<std::pair<std::string, int>>& rows) {
    std::string text = kReportHeader;
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
    std::string text = kReportHeader;
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
    std::string text = kReportHeader;
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
    write_text(folder / "r.csv", kReportHeader + report_row("x", "informer", 8, 1, first) +
                                     report_row("x", "informer", 16, 1, second) +
                                     report_row("x", "longformer", 8, 1, 0.25));
    const ProgramRun show = run_croquis("show r.csv", folder.path());
    REQUIRE_MESSAGE(show.status == 0, show.output);
    REQUIRE(run_croquis("report r.csv", folder.path()).status == 0);
    const std::string page = read_text(folder / "r.html");
    const std::size_t begin = page.find("<p class=\"meaning missing\">") + 27;
    const std::string below = page.substr(begin, page.find("</p>", begin) - begin);
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

TEST_CASE("croquis show, plot and report: a column that stands twice is named, not counted as two draws") {
  TemporaryFolder folder;
  const std::string header = kReportHeader, row = report_row("x", "v-mean", 8, 1, 0.5);
  write_text(folder / "r.csv", "frobenius_rel," + header + "0.75," + row);
  for (const std::string command : {"show r.csv", "plot r.csv", "report r.csv"}) {
    CAPTURE(command);
    check_refused(run_croquis(command, folder.path()), "r.csv: has the column 'frobenius_rel' twice");
  }
  CHECK_FALSE(std::filesystem::exists(folder / "r.html"));
  CHECK_FALSE(std::filesystem::exists(folder / "r.svg"));
}

TEST_CASE("croquis report: eps of a choice is a line across the chart, without marks and no row of its table") {
  TemporaryFolder folder;
  write_text(
      folder / "c.csv",
      "input,layer,head,eps,delta,confidence,metric,method,preset,features,cost,exact_cost,cost_ratio,error_median,"
      "error_q95,failure_upper,draws,sequences,status,needed,open,evaluations,cost_unit,seed,precision,target,"
      "flops_limit,head_count,rows\n"
      "arrays:q,NA,NA,0.1,0.05,0.95,frobenius_rel,informer,paper,64,500,1000,0.5,0.07,0.08,0.04,96,1,chosen,NA,0,435,"
      "flops,1,double,softmax,1,1,NA\n");
  REQUIRE(run_croquis("report c.csv", folder.path()).status == 0);
  const std::string page = read_text(folder / "c.html");
  CHECK(cells_after(page, "eps = 0.1", "0.1").empty());
  CHECK_FALSE(contains(page, "<th scope=\"row\">eps"));
  const std::size_t line = page.find(" unmarked\">");
  REQUIRE(line != std::string::npos);
  // From the left edge of the picture to its right one.
  static const std::regex across("class=\"line\" d=\"M70\\.0 ([0-9.]+)L746\\.0 ([0-9.]+)\"");
  std::smatch ends;
  const std::string drawn = page.substr(line, page.find("</g>", line) - line);
  REQUIRE_MESSAGE(std::regex_search(drawn, ends, across), drawn);
  CHECK(ends[1] == ends[2]);
  CHECK(contains(drawn, "<title>eps = 0.1: 0.1</title>"));
}

TEST_CASE("croquis report: flops of costs are one column") {
  TemporaryFolder folder;
  REQUIRE(run_croquis("cost --n 32 --p 4 --features 4 --methods v-mean --repeats 1 --quiet --out t.csv", folder.path())
              .status == 0);
  REQUIRE(run_croquis("report t.csv", folder.path()).status == 0);
  const std::string page = read_text(folder / "t.html");
  CHECK(count_of(page.substr(0, page.find("</thead>")), ">flops</th>") == 1);
}

TEST_CASE("croquis report: a lead within two standard errors of the means is said to be none") {
  TemporaryFolder folder;
  const auto shown = [&](double other) {
    std::string text = kReportHeader;
    for (const int d : {16, 32}) {
      for (int t = 1; t <= 5; ++t) {
        text +=
            report_row("a", "informer", d, t, 0.30 + 0.01 * t) + report_row("a", "longformer", d, t, other + 0.01 * t);
      }
    }
    write_text(folder / "r.csv", text);
    return run_croquis("show r.csv", folder.path()).output;
  };
  const std::string close = shown(0.305), far = shown(0.4);
  CHECK_MESSAGE(contains(close, ", no clear lead over longformer"), close);
  CHECK(contains(close, "d = 16: informer (0.33, no clear lead over longformer)"));
  CHECK(contains(close, "of what is heavy-tailed, the numbers in parentheses overlap.\n"));
  CHECK_FALSE(contains(far, "no clear lead over"));
  CHECK(contains(far, "informer has the smallest one at every d"));
}

TEST_CASE("croquis show: of heavy-tailed draws, quantiles say whether there is a lead, not their mean") {
  TemporaryFolder folder;
  const auto shown = [&](double smallest) {
    std::string text = kReportHeader;
    for (int t = 1; t <= 5; ++t) {
      text += report_row("a", "wildcat", 16, t, 0.15 + 0.001 * t);
      text += report_row("a", "hyperattention", 16, t, t == 5 ? 6e10 : smallest * t);
    }
    write_text(folder / "r.csv", text);
    return run_croquis("show r.csv", folder.path()).output;
  };
  const std::string far = shown(36), close = shown(0.1);
  CHECK_MESSAGE(contains(far, "wildcat has the smallest"), far);
  CHECK_FALSE(contains(far, "no clear lead over"));
  // From 0.14, the 10 % quantile, where wildcat's draws end at 0.155.
  CHECK_MESSAGE(contains(close, "wildcat has the smallest"), close);
  CHECK(contains(close, ", no clear lead over hyperattention"));
}

TEST_CASE("croquis show: where intervals for the sample of rows overlap there is no clear lead") {
  TemporaryFolder folder;
  const auto shown = [&](const std::string& rows) {
    write_text(folder / "r.csv", sampled_header() + rows);
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    return run.output;
  };
  // Of one draw, from which no standard error is known. Its second line is at another d.
  const auto two = [](const std::string& input, double low) {
    return sampled_row(input, "informer", 16, 1, 0.25, 0.2, 0.28) +
           sampled_row(input, "longformer", 16, 1, 0.4, low, 0.5) +
           sampled_row(input, "informer", 8, 1, 0.25, 0.2, 0.28) +
           sampled_row(input, "longformer", 8, 1, 0.4, low, 0.5);
  };
  const std::string close = shown(two("a", 0.28)), far = shown(two("a", 0.281));
  CHECK_MESSAGE(contains(close, "spectral norm: 0.25 [rows: 0.2, 0.28], no clear lead over longformer."), close);
  CHECK(contains(close, "d = 8: informer (0.25, no clear lead over longformer)"));
  CHECK_MESSAGE(contains(far, "spectral norm: 0.25 [rows: 0.2, 0.28]."), far);
  CHECK(contains(far, "informer has the smallest one at every d"));
  for (const std::string& text : {close, far})
    CHECK(contains(text, "\nIn brackets is the 95 % interval for the sample"));
  // Of several inputs too: the intervals of the medians over them.
  const std::string both = shown(two("a", 0.28) + two("b", 0.28)), one = shown(two("a", 0.28) + two("b", 0.281)),
                    none = shown(two("a", 0.281) + two("b", 0.281));
  CHECK(contains(both, "[rows: 0.2, 0.28], no clear lead over longformer."));
  CHECK_FALSE(contains(none, "no clear lead over longformer"));
  const std::string on_each = "The smallest at d = 16, on each of 2 inputs: ";
  CHECK_MESSAGE(contains(both, on_each + "no clear lead on 2.\n"), both);
  CHECK_MESSAGE(contains(one, on_each + "informer on 1, no clear lead on 1.\n"), one);
  CHECK_MESSAGE(contains(none, on_each + "informer on 2.\n"), none);
  // Draws that are near each other are no lead where all rows were computed either.
  std::string drawn;
  for (int t = 1; t <= 5; ++t) {
    for (const auto& [method, error] : {std::pair("informer", 0.3 + 0.01 * t), {"longformer", 0.305 + 0.01 * t}})
      drawn += sampled_row("a", method, 16, t, error, error, error);
  }
  CHECK(contains(shown(drawn), ", no clear lead over longformer"));
  CHECK(contains(shown(drawn), "the numbers in parentheses overlap, or the intervals in brackets do.\n"));
  write_text(folder / "r.csv", kReportHeader + report_row("a", "informer", 16, 1, 0.25));
  CHECK_FALSE(contains(run_croquis("show r.csv", folder.path()).output, "rackets"));
}

TEST_CASE("croquis show: of a sample of rows, an error is at most what the upper end of its interval is") {
  TemporaryFolder folder;
  const auto shown = [&](double upper, double lower) {
    write_text(folder / "r.csv", sampled_header() + sampled_row("a", "v-mean", 16, 1, 0.6, 0.45, 0.7) +
                                     sampled_row("a", "informer", 16, 1, 0.25, 0.2, upper) +
                                     sampled_row("a", "performer", 16, 1, 0.8, lower, 0.9));
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    return run.output;
  };
  const std::string small = "The fewest flops with which the sample of rows shows a median error at most 0.3: informer",
                    dear = "at most 0.3: none that is cheaper than exact attention is shown to be.\n",
                    worse = "No better than v-mean, the plain mean of the values, at any size here: performer.";
  CHECK_MESSAGE(contains(shown(0.3, 0.7), small), shown(0.3, 0.7));
  CHECK(contains(shown(0.3, 0.7), "; v-mean has 0.6 [rows: 0.45, 0.7]."));
  CHECK(contains(shown(0.3, 0.7), worse));
  CHECK_FALSE(contains(shown(0.301, 0.7), "a median error at most"));
  // Of 2000 flops, where exact attention takes 17408, and of 20000.
  const std::string rows =
      sampled_row("a", "performer", 20, 1, 0.2, 0.1, 0.4) + sampled_row("a", "informer", 200, 1, 0.2, 0.1, 0.3);
  write_text(folder / "r.csv", sampled_header() + rows);
  const std::string none_shown = run_croquis("show r.csv", folder.path()).output;
  CHECK_MESSAGE(contains(none_shown, dear), none_shown);
  CHECK_FALSE(contains(shown(0.3, 0.699), "No better than v-mean"));
}

TEST_CASE("croquis report: the interval for the sample of rows is that of the statistic beside which it stands") {
  TemporaryFolder folder;
  write_text(folder / "r.csv", sampled_header() + sampled_row("x", "performer", 8, 1, 0.1, 0.05, 0.2) +
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
  write_text(folder / "r.csv", sampled_header() + input("x", 0.1) + input("y", 0.2) + input("z", 0.6));
  REQUIRE(run_croquis("report r.csv", folder.path()).status == 0);
  const std::string several = read_text(folder / "r.html");
  const std::vector<std::string> of_median = cells_after(several, "performer", "8");
  CHECK(contains(fmt::format("{}", fmt::join(of_median, "|")), "|0.2 (0.1 – 0.6) [rows: 0.1, 0.4]|"));
  CHECK_MESSAGE(contains(several, "\"[rows: 0.15, 0.6]\""), several);  // what the script shows of means
  CHECK(contains(run_croquis("show r.csv", folder.path()).output, "0.2 (0.1 - 0.6) [0.1, 0.4]"));
  write_text(folder / "r.csv", kReportHeader + report_row("x", "performer", 8, 1, 0.1));
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

TEST_CASE("croquis show: curves that others cover are named below the legend, and no band is") {
  TemporaryFolder folder;
  const auto shown = [&](double last) {
    std::string text = kReportHeader;
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

TEST_CASE("croquis report: the first sentence says what neither it nor those below count") {
  TemporaryFolder folder;
  const std::string two = kReportHeader + report_row("a", "nystromformer", 16, 1, 0.2) +
                          report_row("a", "longformer", 32, 1, 0.2),
                    mean = report_row("a", "v-mean", 16, 1, 0.1), oracle = report_row("a", "best-rank-d", 16, 1, 0.01);
  const std::string best = "at d = 32, longformer has the smallest ||O - O~|| / ||O||, spectral norm: 0.2.";
  const auto says = [&](const std::string& rows, const std::string& sentence) {
    write_text(folder / "r.csv", rows);
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    CHECK_MESSAGE(contains(run.output, sentence + "\n"), run.output);
    CHECK(contains(run.output, "at most 0.3: nystromformer, d = 16, 1600 flops (0.092 of exact attention).\n"));
  };
  says(two, best);
  says(two + mean, best + " Not counted, here and below: v-mean.");
  says(two + oracle, best + " Not counted, here and below: methods that compute all scores.");
  says(two + mean + oracle, best + " Not counted, here and below: v-mean and methods that compute all scores.");
}

TEST_CASE("croquis show: an error that takes the flops of exact attention is said to take them") {
  TemporaryFolder folder;
  // 32 queries and keys of width 4 have 32^2 or, causal, 32 * 33 / 2 pairs, each of 2 (4 + 4) + 1 flops.
  const std::string rows = report_row("a", "nystromformer", 16, 1, 0.2) + report_row("a", "longformer", 80, 1, 0.09) +
                           report_row("a", "longformer", 100, 1, 0.02) + report_row("a", "longformer", 175, 1, 0.005);
  const auto shown = [&](const std::string& text) {
    write_text(folder / "r.csv", kReportHeader + text);
    return run_croquis("show r.csv", folder.path()).output;
  };
  const std::string full = shown(rows);
  CHECK_MESSAGE(
      contains(full,
               "at most 0.3: nystromformer, d = 16, 1600 flops (0.092 of exact attention); at most 0.1: "
               "longformer, d = 80, 8000 flops (0.46 of exact attention); at most 0.03: longformer, d = 100, "
               "10000 flops (0.57 of exact attention); at most 0.01: none is cheaper than exact attention.\n"),
      full);
  const std::string causal = shown(std::regex_replace("\n" + rows, std::regex("\na,"), "\na;causal,").substr(1));
  CHECK_MESSAGE(contains(causal, "d = 80, 8000 flops (0.89 of exact attention); at most 0.03: none is cheaper"),
                causal);
}

TEST_CASE("croquis report: nothing of a file is markup or code") {
  TemporaryFolder folder;
  const std::string hostile = "<script>x(1)</script>\"'&]]>\xE2\x80\xA8<img src=x>\x01\xFF-->";
  std::string text = kReportHeader;
  for (const int d : {8, 16}) {
    for (const int t : {1, 2}) text += report_row(csv_quoted(hostile), csv_quoted(hostile), d, t, 0.1 * t);
  }
  text += fmt::format("{},v-mean,paper,softmax,32,4,4,8,1,1,double,NA,NA,NA,NA,NA,NA,NA,NA,NA,{}\n",
                      csv_quoted(hostile), csv_quoted(hostile));
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
  std::string text = kReportHeader;
  text.insert(text.size() - 1, ",layer,head");
  for (int head = 0; head < 96; ++head) {
    for (int m = 0; m < 10; ++m) {
      for (int k = 0; k < 5; ++k) {
        for (int t = 1; t <= 21; ++t) {
          const std::string input = fmt::format("model:m;layer={};head={}", head / 8, head % 8);
          std::string row = report_row(input, fmt::format("method-{}", m), 16 << k, t, (m + 1.0) / (16 << k) * t);
          row.insert(row.size() - 1, fmt::format(",{},{}", head / 8, head % 8));
          text += row;
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
               kReportHeader + report_row("x", "skyformer", 8, 1, small) + report_row("x", "skyformer", 16, 1, large));
    for (const char* command : {"show", "report"}) {
      const ProgramRun run = run_process({command, "r.csv"}, folder.path(), {.memory = 1 << 30, .seconds = 10});
      CHECK_MESSAGE(run.status == 0, run.output);
    }
  }
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
    write_text(folder / "r.csv", kReportHeader + rows);
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

TEST_CASE("croquis report: a meta file that is nested without end is none") {
  TemporaryFolder folder;
  write_text(folder / "r.csv", kReportHeader + report_row("x", "v-mean", 8, 1, 0.5));
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
  write_text(folder / "empty.csv", kReportHeader);
  write_text(folder / "good.csv", kReportHeader + report_row("x", "v-mean", 8, 1, 0.5));
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
      {"show good.other.csv", "good.other.csv: has no rows of a run; give good.csv"},
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

TEST_CASE("croquis show: a plot in characters has its points where their numbers are") {
  TemporaryFolder folder;
  std::string text = kReportHeader;
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

TEST_CASE("croquis show: a method that its options make as dear as exact attention is no answer") {
  TemporaryFolder folder;
  const ProgramRun run = run_croquis(
      "error --input gaussian --n 40 --p 4 --methods v-mean,kdeformer,vattention:certain=oracle --features 20 --trials "
      "2 --quiet --out q.csv",
      folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const std::string shown = run_croquis("show q.csv", folder.path()).output;
  CHECK(contains(shown, "vattention (certain=oracle)"));
  CHECK(contains(shown, "kdeformer has the smallest"));
  // Rows of another version may have options that are none any more.
  std::string rows = read_text(folder / "q.csv");
  for (std::size_t at = 0; (at = rows.find("certain=oracle", at)) != std::string::npos;)
    rows.replace(at, 14, "certain=all");
  write_text(folder / "old.csv", rows);
  const ProgramRun old = run_croquis("show old.csv", folder.path());
  CHECK_MESSAGE(old.status == 0, old.output);
  CHECK(contains(old.output, "vattention (certain=all) has the smallest"));
}
