// croquis sketch, from the outside.
#include <doctest/doctest.h>
#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "support/capture.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

const std::string kSmallSketch = "sketch --n 80 --p 12 --features 8,24 --trials 3 --quiet ";

}  // namespace

TEST_CASE("croquis sketch: a row for every operator, policy, d and trial, with the measures that apply") {
  TemporaryFolder folder;
  const ProgramRun run = run_croquis("sketch --n 80 --p 12 --features 8,24 --trials 3 --plot s.svg", folder.path());
  CHECK(run.status == 0);
  CHECK(run.output.find("injectivity") != std::string::npos);
  const croquis::CsvTable table = croquis::read_csv((folder / "sketch.csv").string());
  CHECK(table.rows.size() == (11 + 5) * 2 * 3);
  for (const auto& row : table.rows) {
    const auto field = [&](const char* name) { return row[table.column(name)]; };
    CAPTURE(field("name"));
    CHECK(field("status") == "ok");
    CHECK(field("rank") == "12");
    const bool is_operator = field("kind") == "operator";
    CHECK((field("dilation") != "NA") == is_operator);
    CHECK((field("nystrom_spectral_rel") != "NA") == !is_operator);
    if (is_operator && field("features") == "8")
      CHECK(field("injectivity") == "0");  // 8 rows cannot embed 12 directions
    if (is_operator) CHECK(std::stod(field("dilation")) >= std::stod(field("injectivity")));
    if (!is_operator) {
      CHECK(std::stod(field("nystrom_trace_rel")) >= 0);
      CHECK(std::stod(field("nystrom_trace_rel")) <= 1);
    }
  }
  CHECK(read_text(folder / "s.svg").find("<svg") != std::string::npos);
  CHECK(run_croquis("plot sketch.csv --metric dilation --out d.svg", folder.path()).status == 0);
}

TEST_CASE("croquis sketch: the same rows for 1 and 3 threads, and after an interruption") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmallSketch + "--threads 1 --out a.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(kSmallSketch + "--threads 3 --out b.csv", folder.path()).status == 0);
  CHECK(rows_of(folder / "a.csv") == rows_of(folder / "b.csv"));
  const std::string whole = read_text(folder / "a.csv");
  write_text(folder / "a.csv", whole.substr(0, whole.size() / 3));
  const ProgramRun run = run_croquis(kSmallSketch + "--out a.csv --resume", folder.path());
  CHECK_MESSAGE(run.status == 0, run.output);
  CHECK(rows_of(folder / "a.csv") == rows_of(folder / "b.csv"));
}

TEST_CASE("croquis sketch: d = n without replacement keeps every norm, in a matrix from a file too") {
  TemporaryFolder folder;
  arma::arma_rng::set_seed(9);
  croquis::write_npy((folder / "m.npy").string(), arma::mat(32, 5, arma::fill::randn));
  const ProgramRun run =
      run_croquis("sketch --matrix m.npy --sketches uniform:replacement=0,srct,srht --features 32 --trials 2 --quiet",
                  folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const croquis::CsvTable table = croquis::read_csv((folder / "sketch.csv").string());
  REQUIRE(table.rows.size() == 6);
  for (const auto& row : table.rows) {
    // S is orthogonal: products of n = 32 terms, a few transforms of log n steps.
    CHECK(std::stod(row[table.column("norm_error")]) <= 200 * 1.2e-16);
    CHECK(std::abs(std::stod(row[table.column("injectivity")]) - 1) <= 200 * 1.2e-16);
    CHECK(row[table.column("product_spectral_rel")] == "NA");
  }
}

TEST_CASE("croquis sketch: every matrix of an input, and refusals in one line") {
  TemporaryFolder folder;
  for (const std::string matrix : {"q", "k", "v", "b", "c"}) {
    CHECK(run_croquis(
              "sketch --n 40 --p 6 --features 8 --trials 1 --quiet --overwrite --landmarks none --matrix " + matrix,
              folder.path())
              .status == 0);
  }
  croquis::write_npy((folder / "zero.npy").string(), arma::mat(5, 5, arma::fill::zeros));
  const std::pair<std::string, std::string> cases[] = {
      {"--matrix x", "q, k, v, b, c"},
      {"--matrix missing.npy", "missing.npy"},
      {"--matrix zero.npy", "zero"},
      {"--sketches nothing", "gaussian"},
      {"--sketches sjlt:t=2", "--sketches sjlt:t=2: takes the options s"},
      {"--sketches sparse-stack:zta=3", "got option = zta; did you mean 'zeta'?"},
      {"--sketches sjlt:s=0", "--sketches sjlt:s=0: s a whole number in"},
      {"--sketches sjlt:s=x", "--sketches: s of sjlt is a number, got s = x"},
      {"--sketches sparse-stack:zeta=3", "--sketches sparse-stack:zeta=3:"},
      {"--sketches gaussian,srct --features 48", "--sketches srct: 1 <= d <= n"},
      {"--landmarks uniform --features 96", "96 of --features are more than the 80"},
      {"--rank 41", "--rank: 41 is more than the rank 40"},
      {"--landmarks nothing", "rpcholesky"},
      {"--landmarks given", "rpcholesky"},
      {"--rank -1", "--rank"},
      {"--trials 0", "--trials"},
      {"--features 0", "--features"},
      {"--sketches all:s=2", "takes no options"}};
  for (const auto& [arguments, says] : cases) {
    const std::string input = contains(arguments, ".npy") ? "" : "--n 40 ";
    CAPTURE_BINDING(arguments);
    check_refused(run_croquis("sketch " + input + "--out new.csv " + arguments, folder.path()), says);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "new.csv"));
}

TEST_CASE(
    "croquis sketch: of all operators and policies, those that take no size are left out, with a line that says so") {
  TemporaryFolder folder;
  const ProgramRun run = run_croquis("sketch --n 40 --p 6 --features 96,100 --trials 1 --quiet", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 3);
  CHECK(contains(run.output, "srht is left out"));
  CHECK(contains(run.output, "srct is left out"));
  CHECK(contains(run.output, "landmark policies are left out"));
  const croquis::CsvTable table = croquis::read_csv((folder / "sketch.csv").string());
  CHECK(table.rows.size() == 9 * 2);
  for (const auto& row : table.rows) CHECK(row[table.column("status")] == "ok");
}
