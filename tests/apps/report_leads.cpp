// When an answer says that a method leads, and when that there is no clear lead.
#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <utility>

#include "apps/made_rows.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("croquis report: a lead within two standard errors of the means is said to be none") {
  TemporaryFolder folder;
  const auto shown = [&](double other) {
    std::string text = kErrorHeader;
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
    std::string text = kErrorHeader;
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
    write_text(folder / "r.csv", kSampledHeader + rows);
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
  write_text(folder / "r.csv", kErrorHeader + report_row("a", "informer", 16, 1, 0.25));
  CHECK_FALSE(contains(run_croquis("show r.csv", folder.path()).output, "rackets"));
}

TEST_CASE("croquis show: of several inputs a lead that is within the errors of the draws is not clear") {
  TemporaryFolder folder;
  // The medians of the means of three inputs, 0.3 and 0.33, are those of b, whose draws have the standard error
  // sqrt(2.5 / 5) spread. Those of the others tell nothing of them.
  const auto shown = [&](double of_first, double of_second, double others, int draws = 5) {
    std::string text = kErrorHeader;
    for (const int d : {8, 16}) {
      for (int t = 1; t <= draws; ++t) {
        for (const auto& [method, error, spread] :
             {std::tuple("informer", 0.3, of_first), {"longformer", 0.33, of_second}}) {
          const double part = draws == 1 ? 0 : t - 3;
          text += report_row("a", method, d, t, error - 0.1 + others * part) +
                  report_row("b", method, d, t, error + spread * part) +
                  report_row("c", method, d, t, error + 0.2 + others * part);
        }
      }
    }
    write_text(folder / "r.csv", text);
    const ProgramRun run = run_croquis("show r.csv", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    return run.output;
  };
  // 2 sqrt(2) sqrt(2.5 / 5) spread = 2 spread.
  const std::string close = shown(0.0151, 0.0151, 0.0001), far = shown(0.0149, 0.0149, 0.02), one = shown(0, 0, 0, 1);
  CHECK_MESSAGE(contains(close, "0.3 (0.2 – 0.5), no clear lead over longformer."), close);
  CHECK(contains(close, "d = 8: informer (0.3, no clear lead over longformer)"));
  CHECK(contains(close, "on each of 3 inputs: informer on 2, no clear lead on 1.\n"));
  CHECK(contains(close,
                 "two standard errors of the draws, on the input in the middle, or, of what is heavy-tailed, these "
                 "draws overlap.\n"));
  CHECK_MESSAGE(contains(far, "0.3 (0.2 – 0.5). Equal d"), far);
  CHECK(contains(far, "informer has the smallest one at every d"));
  CHECK(contains(far, "on each of 3 inputs: informer on 1, no clear lead on 2.\n"));
  CHECK_FALSE(contains(far, "chance"));
  // Where one of them alone has a spread, the standard error is sqrt(2) spread for two, and the smallest of the draws
  // are 2 spread nearer to each other than the means are, or farther.
  for (const bool first : {true, false}) {
    const auto one_spread = [&](double spread) { return first ? shown(spread, 0, 0) : shown(0, spread, 0); };
    const std::string near = one_spread(0.0214), apart = one_spread(0.021);
    CHECK_MESSAGE(contains(near, "0.3 (0.2 – 0.5), no clear lead over longformer."), near);
    CHECK_MESSAGE(contains(apart, "0.3 (0.2 – 0.5). Equal d"), apart);
  }
  CHECK_MESSAGE(contains(one, "the smallest and the largest. Of one draw, a lead may be chance.\n"), one);
}

TEST_CASE("croquis show: what is said not to count, here and below, is not said to be exact or to fail below") {
  TemporaryFolder folder;
  const std::string failed = failed_row({.input = "a", .method = "top-keys", .d = 8}, "not finite");
  write_text(folder / "r.csv", kErrorHeader + failed + report_row("a", "top-keys", 16, 1, 1e-16) +
                                   report_row("a", "informer", 8, 1, 0.3) + report_row("a", "informer", 16, 1, 0.2));
  const ProgramRun run = run_croquis("show r.csv", folder.path());
  CHECK_MESSAGE(contains(run.output, " Not counted, here and below: methods that compute all scores."), run.output);
  CHECK_FALSE(contains(run.output, "Not compared"));
  CHECK_FALSE(contains(run.output, "Exact up to rounding"));
}
