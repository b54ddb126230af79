// The tables of croquis variance: heavy tails, known expectations and norms.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/csv.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "support/gnuplot_script.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("croquis variance: heavy-tailed cells are those of the definition, marked and explained below the table") {
  TemporaryFolder folder;
  const ProgramRun run =
      run_croquis("variance --maps prf --norms 1,4 --features 4,16 --trials 30 --p 8 --keys 32 --seed 2 --out v.csv",
                  folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const croquis::CsvTable table = croquis::read_csv((folder / "v.csv").string());
  const std::size_t title = run.output.find("mean of (estimate / exp(x.y) - 1)^2");
  REQUIRE(title != std::string::npos);
  const std::string printed = run.output.substr(title, run.output.find("its expectation", title) - title);
  int marks = 0;
  for (const std::string norm : {"1", "4"}) {
    for (const std::string d : {"4", "16"}) {
      std::vector<double> values;
      for (const auto& row : table.rows) {
        if (row[table.column("norm")] == norm && row[table.column("features")] == d)
          values.push_back(std::stod(row[table.column("squared_error")]));
      }
      REQUIRE(values.size() == 30);
      std::sort(values.begin(), values.end());
      const double sum = std::accumulate(values.begin(), values.end(), 0.0), mean = sum / 30;
      // The 10 % and 90 % quantiles lie at 2.9 and 26.1 of 29.
      const double q10 = 0.1 * values[2] + 0.9 * values[3], q90 = 0.9 * values[26] + 0.1 * values[27];
      const bool heavy = values.back() > 0.5 * sum || mean > q90 || mean < q10;
      double squares = 0;
      for (const double x : values) squares += (x - mean) * (x - mean);
      const std::string cell = fmt::format("{:.4g} ({:.1g})", mean, std::sqrt(squares / 29 / 30));
      CAPTURE(cell);
      CHECK(contains(printed, cell + "*") == heavy);
      CHECK(contains(printed, cell));
      marks += heavy ? 1 : 0;
    }
  }
  CHECK(marks > 0);  // at R = 4 a few draws of thirty are all there is
  CHECK(marks < 4);
  CHECK(contains(printed, "\n* heavy-tailed: one draw has more than half"));
}

TEST_CASE("croquis variance: a mean far below its known expectation is marked, and the brackets are explained") {
  TemporaryFolder folder;
  const auto shown = [&](const std::string& norm) {
    const ProgramRun run =
        run_croquis("variance --norms " + norm + " --features 64 --trials 5 --overwrite", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    CHECK(contains(run.output, "(e^{||x+y||^2} - 1) / d, mean over the points of the draws (standard error 0"));
    return run.output;
  };
  const auto answers = [&] { return run_croquis("show variance.csv", folder.path()).output; };
  const auto title = [&] { return drawn_plot("plot variance.csv --metric squared_error", folder.path()).title; };
  CHECK(contains(shown("6"), "~ less than a tenth of the expectation"));
  CHECK_MESSAGE(contains(title(), "\nmean below a tenth of the expectation: prf (iid, R = 6) (d = 64)\n"), title());
  CHECK_MESSAGE(contains(answers(), "and says nothing about it: prf (iid, R = 6) at d = 64.\n"), answers());
  CHECK_FALSE(contains(shown("0.5"), "~ less than"));
  CHECK_FALSE(contains(title(), "expectation:"));
  CHECK_FALSE(contains(answers(), "less than a tenth"));
}

TEST_CASE("croquis variance: a norm has the digits that it was given with in names of curves, and 17 in the rows") {
  const TemporaryFolder folder;
  const ProgramRun run = run_croquis("variance --norms 0.2,1 --p 4 --features 4 --trials 2 --out v.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  for (const std::string& output : {run.output, run_croquis("show v.csv", folder.path()).output}) {
    CHECK_MESSAGE(contains(output, "prf (iid, R = 0.2) "), output);
    CHECK_FALSE(contains(output, "0.2000000"));
  }
  CHECK(contains(read_text(folder / "v.csv"), ",0.20000000000000001,"));
}
