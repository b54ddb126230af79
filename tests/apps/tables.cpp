// The tables that commands print: what each number is, against sums over the rows.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <armadillo>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/made_rows.hpp"
#include "apps/table_numbers.hpp"
#include "support/capture.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("croquis error: the printed table has a block for each target, with a line that says whose function it is") {
  TemporaryFolder folder;
  const ProgramRun run = run_croquis(
      "error --n 64 --p 8 --features 8 --trials 2 --methods skyformer,nystromformer,nprf,v-mean,prf-rpe,nprf-rpe",
      folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const std::vector<std::pair<std::string, std::string>> blocks = {
      {"Gaussian-kernel attention C V, another function than softmax attention", "skyformer"},
      {"softmax attention", "nystromformer"},
      {"softmax attention of unit queries and keys, another function than softmax attention", "nprf"},
      {"softmax attention with the relative position bias, if one is given", "prf-rpe"},
      {"softmax attention of unit queries and keys with the relative position bias, another function than softmax "
       "attention",
       "nprf-rpe"}};
  std::size_t at = 0;
  for (const auto& [meaning, method] : blocks) {
    CAPTURE_BINDING(meaning);
    at = run.output.find("\napproximations of " + meaning + "\n", at);
    REQUIRE(at != std::string::npos);
    const std::size_t end = run.output.find("\n\n", at);
    const std::string block = run.output.substr(at, end - at);
    CHECK(contains(block, "\n" + method + " "));
    CHECK(contains(block, "\nv-mean ") == (method == "nystromformer"));
    CHECK(contains(block, " d = 8\n"));
  }
}

TEST_CASE("croquis error: methods of an output that is zero are named, since they have no relative error") {
  TemporaryFolder folder;
  const std::string zeros(40 * 4 * sizeof(double), '\0');
  write_text(folder / "v.npy", npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (40, 4), }", zeros));
  const std::vector<double> numbers(40 * 4, 0.5);
  for (const char* name : {"q", "k"}) {
    write_text(folder / (std::string(name) + ".npy"),
               npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (40, 4), }", bytes_of(numbers)));
  }
  const ProgramRun run = run_croquis(
      "error --q q.npy --k k.npy --v v.npy --features 8 --trials 2 --methods v-mean,skyformer", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(contains(run.output, "no relative error (column spectral_abs): v-mean, skyformer\n"));
  // Where one draw of two failed the other one has no relative error either; where both did nothing is known of it.
  const auto failed = [](const char* method, int trial) {
    return failed_row({.input = "x", .method = method, .d = 8, .trial = trial}, "diverged");
  };
  write_text(folder / "r.csv", kErrorHeader +
                                   "x,skyformer,paper,softmax,32,4,4,8,1,1,double,1,NA,1,NA,1,0,1,0.5,100,ok\n" +
                                   failed("skyformer", 2) + failed("nprf", 1) + failed("nprf", 2));
  CHECK(contains(run_croquis("show r.csv", folder.path()).output,
                 "no relative error (column spectral_abs): skyformer\n"));
}

TEST_CASE("a run whose rows have nothing to draw is complete: a line says so, and no earlier picture stays beside it") {
  TemporaryFolder folder;
  write_text(folder / "e.svg", "<svg/>");
  const ProgramRun run = run_croquis(
      "error --input gaussian --norm 1e6 --n 40 --p 4 --features 8 --trials 2 --methods skyformer-softmax --quiet "
      "--out e.csv --plot e.svg",
      folder.path());
  CHECK_MESSAGE(run.status == 0, run.output);
  REQUIRE(values_of(folder / "e.csv", "skyformer-softmax", "8").empty());  // denominators underflow
  CHECK(run.output ==
        "croquis error: e.svg: is not drawn: no row has a spectral_rel that an axis can show; the picture that was "
        "there is removed\n");
  CHECK_FALSE(std::filesystem::exists(folder / "e.svg"));
  const ProgramRun plot = run_croquis("plot e.csv", folder.path());
  CHECK(plot.status == 2);
  CHECK(plot.output == "croquis: e.svg: no row has a spectral_rel that an axis can show\n");
}

TEST_CASE("croquis cost: the table of times has the blocks too") {
#ifdef NDEBUG
  TemporaryFolder folder;
  const ProgramRun run = run_croquis(
      "cost --n 32,64 --p 4 --features 8 --repeats 2 --warmup 0 --methods skyformer,linformer", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const std::size_t other = run.output.find("\napproximations of Gaussian-kernel attention C V, another function");
  REQUIRE(other != std::string::npos);
  CHECK(contains(run.output.substr(other), "\nexact-kernelized "));
  CHECK(run.output.find("\nexact ") < other);
  CHECK(run.output.find("\nlinformer") < other);
#endif
}

TEST_CASE("croquis error: where a method computes exact attention, the table says that it is no approximation") {
  TemporaryFolder folder;
  const std::string command =
      "error --input gaussian --n 32 --p 4 --methods skeinformer --trials 2 --overwrite --features ";
  const std::string footnote = "= exact up to rounding: no approximation any more";
  CHECK_FALSE(contains(run_croquis(command + "8", folder.path()).output, footnote));
  const std::string both = run_croquis(command + "8,32", folder.path()).output;  // d = n is exact
  CHECK(contains(both, ")=\n"));
  CHECK(contains(both, footnote));
}

TEST_CASE("croquis error --rows: the table has the interval and the number of rows") {
  TemporaryFolder folder;
  const std::string rows = "error --input clustered --n 300 --p 6 --methods skyformer --features 16 --trials 3 ";
  const ProgramRun run = run_croquis(rows + "--rows 100 --out r.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(contains(run.output, "mean of 3 draws (standard error on these rows) [95 % interval for the sample of rows]"));
  CHECK(contains(run.output, "n = 300, p = 6, 100 of n rows\n"));
  const auto ends = [&](const char* column) {
    return mean_of(values_of(folder / "r.csv", "skyformer", "16", column).begin()->second);
  };
  CHECK(contains(line_of(run.output, "skyformer"),
                 fmt::format(") [{:.3g}, {:.3g}]", ends("spectral_rel_lo"), ends("spectral_rel_hi"))));
  const ProgramRun whole = run_croquis(rows + "--out w.csv", folder.path());
  CHECK_FALSE(contains(whole.output, "of n rows"));
  CHECK(contains(whole.output, "mean of 3 draws (standard error); "));
  CHECK_FALSE(contains(whole.output, "["));
}

TEST_CASE("croquis error --causal: the table says that attention is causal") {
  TemporaryFolder folder;
  const std::string methods = "error --n 48 --p 8 --features 8 --trials 2 --methods prf-rpe ";
  CHECK(contains(run_croquis(methods + "--causal --out c.csv", folder.path()).output, ", p = 8, causal attention\n"));
  CHECK_FALSE(contains(run_croquis(methods + "--out p.csv", folder.path()).output, "causal"));
}

TEST_CASE("croquis error: no entry of a table runs into the next") {
  TemporaryFolder folder;
  const ProgramRun run = run_croquis(
      "error --n 48 --p 8 --features 8,16 --trials 2 --methods "
      "skyformer-softmax:ridge=0.001,preset=code,iterations=9,v-mean",
      folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const std::vector<std::string> lines = lines_of(run.output);
  const auto header =
      std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return contains(line, "d = 16"); });
  REQUIRE(header != lines.end());
  const std::size_t end = header->find("d = 8") + 5;
  for (auto line = header + 1; line != lines.end() && !line->empty(); ++line) {
    REQUIRE(line->size() > end);
    CHECK((*line)[end - 1] != ' ');  // columns end in one place
    CHECK(line->substr(end, 2) == "  ");
  }
}

TEST_CASE("X.summary.csv: the mean, its standard error and the quantiles of the rows, each in its column") {
  const TemporaryFolder folder;
  REQUIRE(run_croquis("error --input gaussian --n 24 --p 4 --methods performer --features 8 --trials 21 --quiet",
                      folder.path())
              .status == 0);
  std::vector<double> errors;
  for (const std::string& error : column_of(folder / "error.csv", "spectral_rel")) errors.push_back(std::stod(error));
  REQUIRE(errors.size() == 21);
  std::sort(errors.begin(), errors.end());
  const arma::vec all(errors);
  const auto metrics = column_of(folder / "error.summary.csv", "metric");
  const auto line = std::find(metrics.begin(), metrics.end(), "spectral_rel") - metrics.begin();
  const auto is = [&](const char* column, double right) {
    const double found = std::stod(column_of(folder / "error.summary.csv", column).at(static_cast<std::size_t>(line)));
    CAPTURE(column);
    CHECK(std::abs(found - right) <= 1e-13 * right);  // 21 terms, each rounded a few times
  };
  is("count", 21);
  is("mean", arma::mean(all));
  is("standard_error", std::sqrt(arma::accu(arma::square(all - arma::mean(all))) / 20 / 21));
  is("q10", all(2));
  is("q50", all(10));
  is("q90", all(18));
}
