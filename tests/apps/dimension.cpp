// croquis dimension, from the outside.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <croquis/io/csv.hpp>
#include <string>
#include <tuple>

#include "support/capture.hpp"
#include "support/gnuplot_script.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

const std::string kSmallDimension =
    "dimension --input gaussian --p 6 --n 40,80 --norms 2,4 --widths 0.5,1 --epsilons 0.1,0.5 --trials 8 --quiet ";

}  // namespace

TEST_CASE("croquis dimension: a row for every input, n, width and epsilon, within the limits that hold for each") {
  TemporaryFolder folder;
  const ProgramRun run = run_croquis(kSmallDimension + "--plot d.svg", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const croquis::CsvTable table = croquis::read_csv((folder / "dimension.csv").string());
  REQUIRE(table.rows.size() == 16);
  for (const auto& row : table.rows) {
    const auto text = [&](const char* name) { return row[table.column(name)]; };
    const auto number = [&](const char* name) { return std::stod(text(name)); };
    CHECK(text("status") == "ok");
    CHECK(text("method") == "dense");
    const double points = 2 * number("n");
    CHECK(number("lambda") == doctest::Approx(number("epsilon") * number("norm_c")));
    CHECK(number("norm_c") <= number("norm_lift") * (1 + 1e-10));
    CHECK(number("d_stat") > 0);
    CHECK(number("d_stat") <= points);
    CHECK(number("d_stat_lo") == number("d_stat_hi"));
    CHECK(number("leverage_max") <= 1);
    CHECK(number("leverage_q10") <= number("leverage_q50"));
    CHECK(number("beta") <= 1);
    CHECK(number("beta") == doctest::Approx(number("d_stat") / points / number("leverage_max")));
    CHECK(number("stable_rank_lift") >= 1);
    CHECK(number("d_theorem") ==
          std::ceil(56.0 / 3 * number("d_stat") / number("beta") * std::log(4 * number("n") / 0.1)));
    if (text("d_suffices") != "NA") {
      CHECK(number("d_suffices") <= points);
      CHECK(number("d_suffices") < number("d_theorem"));
      CHECK(number("failures") == 0);  // 8 trials at delta = 0.1 allow none
      CHECK(number("failure_hi") == doctest::Approx(1 - std::pow(0.025, 1.0 / 8)));
    } else {
      CHECK(number("failures") >= 1);  // with 2n draws
    }
  }
  const croquis::CsvTable summary = croquis::read_csv((folder / "dimension.summary.csv").string());
  CHECK(summary.rows.size() == 2 * 2 * 2 * 3);
  CHECK(read_text(folder / "d.svg").find("<svg") != std::string::npos);
  CHECK(run_croquis("plot dimension.csv --out again.svg", folder.path()).status == 0);
}

// gnuplot ends a long axis at powers of ten.
TEST_CASE("croquis dimension: landmarks that are 10 at every n do not lie on the frame of the plot") {
  TemporaryFolder folder;
  std::string text =
      "input,n,p,norm,width,epsilon,delta,lambda,norm_c,norm_lift,stable_rank_c,stable_rank_lift,d_stat,d_stat_lo,"
      "d_stat_hi,leverage_max,leverage_q90,leverage_q50,leverage_q10,beta,d_theorem,d_suffices,failures,trials,"
      "failure_lo,failure_hi,method,seed,status,layer,head\n";
  for (const auto& [n, d_stat, theorem] : {std::tuple(256, 34, 6000), {512, 45, 7000}}) {
    text +=
        fmt::format("x,{},4,2,1,0.5,0.1,5,10,20,1,1,{},{},{},0.5,0.4,0.3,0.2,0.9,{},10,1,20,0,0.2,dense,1,ok,NA,NA\n",
                    n, d_stat, d_stat, d_stat, theorem);
  }
  write_text(folder / "d.csv", text);
  const DrawnPlot plot = drawn_plot("plot d.csv", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  const std::size_t below = plot.script.find("landmarks d");
  REQUIRE(below != std::string::npos);
  const std::string panels[] = {plot.script.substr(0, below), plot.script.substr(below)};
  CHECK_MESSAGE(contains(panels[0], "set yrange [30:50]\nset ytics (30, 40, 50)\n"), plot.script);
  // The labels above are not those below.
  CHECK_MESSAGE(contains(panels[1], "set yrange [*:*]\nset ytics autofreq\nset yrange [9.09091:*]\n"), plot.script);
}

TEST_CASE("croquis dimension: the table says whose theorem it is, what suffices, and what a missing number means") {
  TemporaryFolder folder;
  const ProgramRun run = run_croquis("dimension --n 64 --epsilons 0.01,0.5 --trials 8", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(contains(run.output, "landmarks that Skyformer's Theorem 2 asks for, and that suffice"));
  CHECK(contains(run.output, "at most 10 % of 8 draws of uniform landmarks have ||C - C~|| > eps ||C||"));
  CHECK(contains(run.output, "d suffices -: not even 2n landmarks do"));
  CHECK(contains(run.output, "it asks for more landmarks than the lift has points"));
  const std::string without =
      run_croquis("dimension --n 64 --epsilons 0.5 --trials 0 --overwrite", folder.path()).output;
  CHECK_FALSE(contains(without, "d suffices -:"));
}

TEST_CASE("croquis dimension: Lanczos and quadrature agree with the dense eigenvalues, scores from above") {
  TemporaryFolder folder;
  const std::string input =
      "dimension --input gaussian --p 6 --n 150 --norms 3 --epsilons 0.01,0.1 --trials 0 --quiet ";
  REQUIRE(run_croquis(input + "--out dense.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(input + "--method lanczos --leading 24 --out lanczos.csv", folder.path()).status == 0);
  const croquis::CsvTable dense = croquis::read_csv((folder / "dense.csv").string());
  const croquis::CsvTable lanczos = croquis::read_csv((folder / "lanczos.csv").string());
  REQUIRE(lanczos.rows.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto exact = [&](const char* name) { return std::stod(dense.rows[i][dense.column(name)]); };
    const auto found = [&](const char* name) { return std::stod(lanczos.rows[i][lanczos.column(name)]); };
    CHECK(lanczos.rows[i][lanczos.column("method")] == "lanczos");
    CHECK(found("norm_c") == doctest::Approx(exact("norm_c")).epsilon(1e-5));
    CHECK(found("stable_rank_lift") == doctest::Approx(exact("stable_rank_lift")).epsilon(1e-5));
    // At 95 %; three times as wide it misses with probability 1e-5. The seed is fixed.
    const double width = found("d_stat_hi") - found("d_stat_lo");
    CHECK(found("d_stat_lo") - width <= exact("d_stat"));
    CHECK(exact("d_stat") <= found("d_stat_hi") + width);
    CHECK(width <= 0.1 * exact("d_stat"));
    CHECK(found("leverage_max") >= exact("leverage_max") * (1 - 1e-6));
    CHECK(found("beta") <= exact("beta") * (1 + 1e-6));
    CHECK(found("d_theorem") >= exact("d_theorem") * (1 - 1e-6));
    CHECK(lanczos.rows[i][lanczos.column("d_suffices")] == "NA");
    CHECK(lanczos.rows[i][lanczos.column("failures")] == "NA");
  }
}

TEST_CASE("croquis dimension: the same rows for 1 and 3 threads, and after an interruption") {
  TemporaryFolder folder;
  for (const std::string method : {"dense", "lanczos --leading 10"}) {
    REQUIRE(
        run_croquis(kSmallDimension + "--overwrite --threads 1 --out a.csv --method " + method, folder.path()).status ==
        0);
    REQUIRE(
        run_croquis(kSmallDimension + "--overwrite --threads 3 --out b.csv --method " + method, folder.path()).status ==
        0);
    const std::string whole = read_text(folder / "a.csv");
    CHECK(whole == read_text(folder / "b.csv"));
    write_text(folder / "a.csv", whole.substr(0, whole.size() / 2));
    const ProgramRun run = run_croquis(kSmallDimension + "--out a.csv --resume --method " + method, folder.path());
    CHECK_MESSAGE(run.status == 0, run.output);
    CHECK(read_text(folder / "a.csv") == whole);
  }
  CHECK(run_croquis(kSmallDimension + "--out a.csv --resume --delta 0.2", folder.path()).status == 2);
}

TEST_CASE("croquis dimension: wrong usage is one line and status 2") {
  TemporaryFolder folder;
  const std::pair<std::string, std::string> cases[] = {{"--epsilons 1", "--epsilons"},
                                                       {"--epsilons 0.5,1", "--epsilons: 1 is not below 1"},
                                                       {"--epsilons 0.1,x", "--epsilons"},
                                                       {"--widths 0", "--widths"},
                                                       {"--norms -1", "--norms"},
                                                       {"--widths inf", "--widths: 'inf' is not positive and finite"},
                                                       {"--norms 1,nan", "--norms"},
                                                       {"--delta 0.5", "--delta"},
                                                       {"--delta 0", "--delta"},
                                                       {"--trials -1", "--trials"},
                                                       {"--leading 0", "--leading"},
                                                       {"--probes 1", "--probes"},
                                                       {"--n 0", "--n"},
                                                       {"--method qr", "--method"},
                                                       {"--input text --norms 3", "--norm"},
                                                       {"--norm 3", "--norm"}};
  for (const auto& [arguments, says] : cases) {
    CAPTURE_BINDING(arguments);
    check_refused(run_croquis("dimension --out new.csv " + arguments, folder.path()), says);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "new.csv"));
}

TEST_CASE("croquis dimension: the report has the numbers of the rows, each in its place") {
  TemporaryFolder folder;
  REQUIRE(run_croquis("dimension --input gaussian --n 32,64 --p 4 --epsilons 0.1 --trials 5 --quiet", folder.path())
              .status == 0);
  REQUIRE(run_croquis("report dimension.csv --out d.html", folder.path()).status == 0);
  const std::string page = read_text(folder / "d.html");
  const auto numbers = [&](const char* name) { return column_of(folder / "dimension.csv", name); };
  const auto n = numbers("n"), d_stat = numbers("d_stat"), suffices = numbers("d_suffices"),
             theorem = numbers("d_theorem");
  REQUIRE(suffices[0] != theorem[0]);
  const auto digits = [](const std::string& number) { return fmt::format("{:.4g}", std::stod(number)); };
  CHECK_MESSAGE(
      contains(page, fmt::format("d_stat is {} at n = 32 and {} at n = 64; ", digits(d_stat[0]), digits(d_stat[1]))),
      page);
  for (const std::size_t i : {0, 1}) {
    CHECK(contains(page, fmt::format(">{}</td><td class=\"n\" data-v=\"{}\">{}</td><td class=\"n\" data-v=\"{}\">",
                                     digits(d_stat[i]), suffices[i], suffices[i], theorem[i])));
  }
}
