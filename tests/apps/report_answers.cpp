// The answers above the tables of a page and in the terminal: what is best, and what it takes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <regex>
#include <string>
#include <tuple>
#include <utility>

#include "apps/made_rows.hpp"
#include "support/capture.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("croquis report: a method is not the best where it computes exact attention") {
  TemporaryFolder folder;
  write_text(folder / "r.csv",
             kErrorHeader + report_row("a", "longformer", 16, 1, 0.3) + report_row("a", "longformer", 32, 1, 0.2) +
                 report_row("a", "kriged-coreset", 16, 1, 0.4) + report_row("a", "kriged-coreset", 32, 1, 3e-15));
  const ProgramRun run = run_croquis("show r.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK_MESSAGE(
      contains(run.output,
               "at d = 32, apart from what is exact up to rounding (kriged-coreset), longformer has the smallest"),
      run.output);
  CHECK(contains(run.output, "Exact up to rounding: kriged-coreset at d = 32."));
  write_text(folder / "e.csv", kErrorHeader + report_row("a", "v-mean", 32, 1, 0.2) +
                                   report_row("a", "longformer", 32, 1, 0) +
                                   report_row("a", "kriged-coreset", 32, 1, 3e-15));
  const ProgramRun exact = run_croquis("show e.csv", folder.path());
  CHECK_MESSAGE(contains(exact.output, "Exact up to rounding: kriged-coreset at d = 32; longformer at d = 32.\n"),
                exact.output);
}

TEST_CASE("croquis show: what is exact in most draws, and errs or fails in one, is not said to be exact") {
  TemporaryFolder folder;
  std::string exact = kErrorHeader, errs, fails;
  for (int t = 1; t <= 9; ++t) {
    exact += report_row("a", "v-mean", 16, t, 0.5) + report_row("a", "longformer", 16, t, 0.3) +
             report_row("a", "skyformer-softmax", 16, t, 1e-15);
  }
  errs = exact + report_row("a", "skyformer-softmax", 16, 10, 0.28);
  fails = exact + failed_row({.input = "a", .method = "skyformer-softmax", .d = 16, .trial = 10}, "not finite");
  for (const std::string& rows : {exact, errs, fails}) {
    write_text(folder / "r.csv", rows);
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    CHECK_MESSAGE(contains(run.output, "xact up to rounding") == (rows == exact), run.output);
    CHECK_MESSAGE(contains(run.output, "skyformer-softmax has the smallest") == (rows != exact), run.output);
  }
}

TEST_CASE("croquis show: of a sample of rows, an error is at most what the upper end of its interval is") {
  TemporaryFolder folder;
  const auto shown = [&](double upper, double lower) {
    write_text(folder / "r.csv", kSampledHeader + sampled_row("a", "v-mean", 16, 1, 0.6, 0.45, 0.7) +
                                     sampled_row("a", "informer", 16, 1, 0.25, 0.2, upper) +
                                     sampled_row("a", "performer", 16, 1, 0.8, lower, 0.9));
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    return run.output;
  };
  const std::string small = "The fewest flops with which the sample of rows shows a median error at most 0.3: informer",
                    dear = "at most 0.3: none that is cheaper than exact attention is shown to be.\n",
                    worse = "No better than v-mean, the plain mean of the values, at any size here: performer.";
  const std::string below = shown(0.3, 0.7);
  CHECK_MESSAGE(contains(below, small), below);
  CHECK(contains(below, "; v-mean has 0.6 [rows: 0.45, 0.7]."));
  CHECK(contains(below, worse));
  CHECK_FALSE(contains(shown(0.301, 0.7), "a median error at most"));
  // Of 2000 flops, where exact attention takes 17408, and of 20000.
  const std::string rows =
      sampled_row("a", "performer", 20, 1, 0.2, 0.1, 0.4) + sampled_row("a", "informer", 200, 1, 0.2, 0.1, 0.3);
  write_text(folder / "r.csv", kSampledHeader + rows);
  const std::string none_shown = run_croquis("show r.csv", folder.path()).output;
  CHECK_MESSAGE(contains(none_shown, dear), none_shown);
  CHECK_FALSE(contains(shown(0.3, 0.699), "No better than v-mean"));
}

TEST_CASE("croquis report: the first sentence says what neither it nor those below count") {
  TemporaryFolder folder;
  const std::string two = kErrorHeader + report_row("a", "nystromformer", 16, 1, 0.2) +
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
    write_text(folder / "r.csv", kErrorHeader + text);
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

TEST_CASE("croquis show: in float a method is exact up to the rounding of float") {
  TemporaryFolder folder;
  const auto shown = [&](const std::string& inputs, double error, const char* precision) {
    std::string rows = kErrorHeader;
    for (const char input : inputs) {
      rows += report_row({input}, "longformer", 32, 1, 0.2) + report_row({input}, "informer", 32, 1, 0.3) +
              report_row({input}, "kriged-coreset", 32, 1, error);
    }
    write_text(folder / "r.csv", std::regex_replace(rows, std::regex(",double,"), fmt::format(",{},", precision)));
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    return run.output;
  };
  // Of several inputs too, which are counted one by one.
  for (const std::string inputs : {"a", "ab"}) {
    CAPTURE(inputs);
    for (const auto& [error, precision, is_exact] :
         {std::tuple(2e-7, "float", true), {2e-7, "double", false}, {2e-5, "float", false}, {2e-15, "double", true}}) {
      const std::string text = shown(inputs, error, precision);
      CHECK_MESSAGE(contains(text, "Exact up to rounding: kriged-coreset at d = 32.") == is_exact, text);
      CHECK_MESSAGE(contains(text, "kriged-coreset has the smallest") != is_exact, text);
      CHECK(contains(text, "on each of 2 inputs: kriged-coreset (exact) on 2.") == (is_exact && inputs == "ab"));
      CHECK(contains(text, "precision = float") == (precision == std::string("float")));
    }
  }
}

TEST_CASE("croquis show: of a file in both precisions each method is as exact as its own rows can be") {
  TemporaryFolder folder;
  const auto shown = [&](const std::string& inputs, bool second_in_float) {
    std::string rows = kErrorHeader;
    for (const char input : inputs) {
      const std::string other = report_row({input}, "informer", 32, 1, 0.3),
                        second = report_row({input}, "kriged-coreset", 32, 2, 2e-7);
      rows += report_row({input}, "longformer", 32, 1, 0.2) + report_row({input}, "kriged-coreset", 32, 1, 2e-7) +
              std::regex_replace(other, std::regex(",double,"), ",float,") +
              (second_in_float ? std::regex_replace(second, std::regex(",double,"), ",float,") : second);
    }
    write_text(folder / "r.csv", rows);
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    return run.output;
  };
  for (const std::string inputs : {"a", "ab"}) {
    for (const bool second_in_float : {false, true}) {
      const std::string text = shown(inputs, second_in_float);
      CHECK_MESSAGE(contains(text, "Exact up to rounding: kriged-coreset at d = 32.") == second_in_float, text);
      CHECK_MESSAGE(contains(text, "kriged-coreset has the smallest") != second_in_float, text);
      CHECK_FALSE(contains(text, "precision = "));
    }
  }
}

TEST_CASE("croquis show: what computes exact attention at some d is better than v-mean there") {
  TemporaryFolder folder;
  write_text(folder / "r.csv", kErrorHeader + report_row("a", "v-mean", 32, 1, 0.5) +
                                   report_row("a", "longformer", 16, 1, 0.8) + report_row("a", "longformer", 32, 1, 0) +
                                   report_row("a", "linformer", 16, 1, 0.9) + report_row("a", "linformer", 32, 1, 0.7));
  const std::string text = run_croquis("show r.csv", folder.path()).output;
  CHECK_MESSAGE(contains(text, "No better than v-mean, the plain mean of the values, at any size here: linformer.\n"),
                text);
}

TEST_CASE("croquis show: a method does not lead by the draws in which it has not failed") {
  TemporaryFolder folder;
  const auto shown = [&](const std::string& inputs, int failures) {
    std::string rows = kErrorHeader;
    for (const char input : inputs) {
      for (int t = 1; t <= 10; ++t) {
        rows += report_row({input}, "informer", 16, t, 0.25 + 0.001 * t);
        if (t > failures) rows += report_row({input}, "skyformer-softmax", 16, t, 0.02 + 0.0001 * t);
      }
    }
    for (int t = 1; t <= failures; ++t) {
      rows += failed_row({.input = "a", .method = "skyformer-softmax", .d = 16, .trial = t}, "bad");
    }
    // The same draws of the other inputs have no rows.
    write_text(folder / "r.csv", rows);
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    return run.output;
  };
  const std::string excluded = "Not compared, as half of the draws or more failed: skyformer-softmax at d = 16.\n",
                    leads = "at d = 16, skyformer-softmax has the smallest", instead = "at d = 16, informer has the";
  const std::string none = shown("a", 0), some = shown("a", 4), half = shown("a", 5), all = shown("a", 10);
  CHECK_MESSAGE(contains(none, leads), none);
  CHECK(contains(none, "at most 0.1: skyformer-softmax, d = 16"));
  CHECK_FALSE(contains(none, "failed"));
  CHECK_MESSAGE(contains(some, leads), some);
  CHECK(contains(some, ", though 4 of 10 draws failed"));
  CHECK(contains(some,
                 "at most 0.3: informer, d = 16, 1600 flops (0.092 of exact attention). What has failed draws is "
                 "left out.\n"));
  for (const std::string& text : {half, all}) {
    CHECK_MESSAGE(contains(text, instead), text);
    CHECK(contains(text, excluded));
    CHECK_FALSE(contains(text, "though"));
  }
  // Of several inputs, all draws count: 5 of 15, and 7 of 13.
  const std::string fewer = shown("ab", 5), most = shown("ab", 7);
  CHECK_MESSAGE(contains(fewer, ", though 5 of 15 draws failed"), fewer);
  CHECK_MESSAGE(contains(most, excluded), most);
}

TEST_CASE("croquis show: rows in float and in double that are put into one file are said to be taken together") {
  TemporaryFolder folder;
  const auto in_float = [](const std::string& rows) {
    return std::regex_replace(rows, std::regex(",double"), ",float");
  };
  const std::string errors = report_row("a", "longformer", 16, 1, 0.2),
                    losses = loss_row({.method = "linear", .sequence = 0, .loss = 2.5});
  const std::string more_errors = in_float(report_row("a", "longformer", 16, 2, 0.2)),
                    more_losses = in_float(loss_row({.method = "linear", .sequence = 1, .loss = 2.5}));
  const std::string together = "Rows in double and in float are compared, and of one method taken together; ";
  for (const auto& [header, rows, more] :
       {std::tuple(kErrorHeader, errors, more_errors), {kLossHeader, losses, more_losses}}) {
    for (const bool both : {false, true}) {
      write_text(folder / "r.csv", header + rows + (both ? more : ""));
      const ProgramRun run = run_croquis("show r.csv", folder.path());
      REQUIRE_MESSAGE(run.status == 0, run.output);
      CHECK_MESSAGE(contains(run.output, together) == both, run.output);
    }
  }
}

TEST_CASE("croquis show: the fewest flops within an error are those of the cheapest method, wherever it stands") {
  TemporaryFolder folder;
  const std::string dear = report_row("a", "longformer", 80, 1, 0.2), cheap = report_row("a", "informer", 16, 1, 0.25);
  for (const std::string& rows : {dear + cheap, cheap + dear}) {
    write_text(folder / "r.csv", kErrorHeader + rows);
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    CHECK_MESSAGE(contains(run.output, " error at most 0.3: informer, d = 16, 1600 flops"), run.output);
  }
}

TEST_CASE("croquis show: five draws have quantiles, four their smallest and largest") {
  TemporaryFolder folder;
  for (const auto& [draws, numbers, words] :
       {std::tuple(4, "2.5 (1 – 4)", "the smallest and the largest"), {5, "3 (1.4 – 4.6)", "10 to 90 % of them"}}) {
    std::string rows = kErrorHeader;
    for (int t = 1; t <= draws; ++t) rows += report_row("a", "informer", 16, t, t);
    write_text(folder / "r.csv", rows);
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    CHECK_MESSAGE(contains(run.output, fmt::format("spectral norm: {}.", numbers)), run.output);
    CHECK(contains(run.output, fmt::format("the median of {} draws, in parentheses {}.", draws, words)));
  }
}

TEST_CASE(
    "croquis show: of rows that failed, the first reason is told and those that stand by themselves are counted") {
  TemporaryFolder folder;
  std::string first = report_row("a", "informer", 16, 2, 0.2), second = report_row("a", "informer", 16, 3, 0.2);
  first.replace(first.rfind("ok"), 2, "not finite");
  second.replace(second.rfind("ok"), 2, "no inverse");
  write_text(folder / "r.csv", kErrorHeader + report_row("a", "informer", 16, 1, 0.2) + first + second +
                                   report_row("a", "informer", 16, 4, 0.2));
  const ProgramRun run = run_croquis("show r.csv", folder.path());
  CHECK_MESSAGE(contains(run.output, "2 of 4 rows failed and are left out; the first reason: not finite.\n"),
                run.output);
}

TEST_CASE("croquis show: a target whose rows all failed has its block in the table") {
  TemporaryFolder folder;
  const std::string failed =
      failed_row({.input = "a", .method = "skyformer", .target = "kernelized", .d = 16}, "not finite");
  write_text(folder / "r.csv", kErrorHeader + report_row("a", "informer", 16, 1, 0.2) + failed);
  const ProgramRun run = run_croquis("show r.csv", folder.path());
  const std::size_t block = run.output.find("approximations of Gaussian-kernel attention C V");
  REQUIRE_MESSAGE(block != std::string::npos, run.output);
  CHECK(run.output.find(" failed", block) != std::string::npos);
}

TEST_CASE("croquis show: of two inputs a lead is that of the medians over them") {
  TemporaryFolder folder;
  std::string rows = kErrorHeader;
  for (int t = 1; t <= 5; ++t) {
    const double part = 1e-4 * t;
    rows += report_row("a", "informer", 16, t, 0.1 + part) + report_row("b", "informer", 16, t, 0.3 + part) +
            report_row("a", "longformer", 16, t, 0.25 + part) + report_row("b", "longformer", 16, t, 0.26 + part);
  }
  write_text(folder / "r.csv", rows);
  // 0.2 and 0.255, though the larger error of informer is above both of longformer.
  const ProgramRun run = run_croquis("show r.csv", folder.path());
  CHECK_MESSAGE(contains(run.output, "informer has the smallest"), run.output);
  CHECK_FALSE(contains(run.output, "no clear lead over"));
  CHECK(contains(run.output, "on each of 2 inputs: longformer on 1, informer on 1."));
}

TEST_CASE("croquis show: how often a method is the best is counted among those of its target") {
  TemporaryFolder folder;
  std::string rows = kErrorHeader;
  for (const char* input : {"a", "b"}) {
    for (const auto& [method, target, error] :
         {std::tuple("skyformer", "kernelized", 0.1), {"informer", "softmax", 0.2}, {"longformer", "softmax", 0.3}}) {
      rows += plot_row(input, method, target, 16, 1, error);
    }
  }
  write_text(folder / "r.csv", rows);
  const ProgramRun run = run_croquis("show r.csv", folder.path());
  CHECK_MESSAGE(contains(run.output, "on each of 2 inputs: informer on 2.\n"), run.output);
}

TEST_CASE("croquis show: of more than four rivals the others are counted") {
  TemporaryFolder folder;
  std::string rows = kErrorHeader;
  const char* methods[] = {"informer", "longformer", "performer", "linear", "bigbird", "reformer", "nystromformer"};
  for (std::size_t m = 0; m < std::size(methods); ++m) {
    for (int t = 1; t <= 3; ++t)
      rows += report_row("a", methods[m], 16, t, 0.3 + 0.01 * t + 1e-5 * static_cast<double>(m));
  }
  write_text(folder / "r.csv", rows);
  const ProgramRun run = run_croquis("show r.csv", folder.path());
  CHECK_MESSAGE(contains(run.output, ", no clear lead over longformer, performer, linear, bigbird and 2 more"),
                run.output);
}

TEST_CASE("croquis show: with fewer queries than keys the share is that of so many rows of exact attention") {
  TemporaryFolder folder;
  const auto shown = [&](const char* n_q) {
    write_text(folder / "r.csv",
               with_fields(kErrorHeader, ",n_q") + with_fields(report_row("a", "informer", 16, 1, 0.2), n_q));
    return run_croquis("show r.csv", folder.path()).output;
  };
  // 1600 flops where exact attention takes 32 * 32 or 8 * 32 pairs of 17 each.
  const std::string square = shown(",32"), few = shown(",8");
  CHECK_MESSAGE(contains(square, "1600 flops (0.092 of exact attention)"), square);
  CHECK_MESSAGE(contains(few, "1600 flops (0.37 of exact attention)"), few);
}

TEST_CASE("croquis show: rows of several seeds are several heads, where the seed draws the input too") {
  const TemporaryFolder folder;
  for (const auto& [input, drawn] :
       {std::pair("text:sample", true), {"gaussian:4", true}, {"arrays:q;head=1", false}}) {
    CAPTURE_BINDING(input);
    std::string rows = kErrorHeader;
    for (int trial = 1; trial <= 2; ++trial) {
      const std::string row = report_row(input, "skeinformer", 16, trial, 0.5);
      rows += row;
      std::string other = row;  // the seed stands after the trial
      const std::string seed = ",16," + std::to_string(trial) + ",1,double,";
      REQUIRE(contains(other, seed));
      other.replace(other.find(seed), seed.size(), ",16," + std::to_string(trial) + ",5,double,");
      rows += other;
    }
    write_text(folder / "e.csv", rows);
    const ProgramRun shown = run_croquis("show e.csv", folder.path());
    REQUIRE_MESSAGE(shown.status == 0, shown.output);
    const std::string sentence = std::string(input) + " is another head with each seed (1, 5)";
    CHECK_MESSAGE(contains(shown.output, sentence) == drawn, shown.output);
  }
}
