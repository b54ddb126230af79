// croquis error, from the outside.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <croquis/io/csv.hpp>
#include <map>
#include <string>

#include "support/array_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

const std::string kSmallError = "error --n 96 --p 16 --features 8:32 --trials 3 --quiet ";

}  // namespace

TEST_CASE("croquis error: rows, summary, meta file and plot are written, a row a method, d and trial") {
  TemporaryFolder folder;
  const ProgramRun run = run_croquis(
      "error --n 96 --p 16 --features 8:32 --trials 3 --out e.csv --plot e.svg --methods v-mean,best-rank-d,"
      "skyformer,skyformer-softmax,nystromformer,linformer-unreduced,skeinformer",
      folder.path());
  CHECK(run.status == 0);
  CHECK(run.output.find("skyformer-softmax") != std::string::npos);
  const croquis::CsvTable table = croquis::read_csv((folder / "e.csv").string());
  const std::vector<std::string> columns = {
      "input",        "method",        "preset",        "target",  "n",           "p",
      "p_v",          "features",      "trial",         "seed",    "precision",   "spectral_abs",
      "spectral_rel", "frobenius_abs", "frobenius_rel", "max_abs", "row_sum_dev", "min_denominator",
      "seconds",      "flops",         "status",        "layer",   "head",        "n_q"};
  CHECK(table.header == columns);
  std::map<std::string, int> count;
  for (const auto& row : table.rows) {
    ++count[row[table.column("method")]];
    CHECK(row[table.column("status")] == "ok");
    CHECK(row[table.column("n")] == "96");
    CHECK(std::isfinite(std::stod(row[table.column("spectral_rel")])));
  }
  const std::map<std::string, int> expected = {
      {"v-mean", 3},      {"best-rank-d", 3},        {"skyformer", 9}, {"nystromformer", 3}, {"skyformer-softmax", 9},
      {"skeinformer", 9}, {"linformer-unreduced", 9}};
  CHECK(count == expected);
  CHECK(read_text(folder / "e.svg").find("<svg") != std::string::npos);
  CHECK(read_text(folder / "e.meta.json").find("\"seed\": 1") != std::string::npos);
  const croquis::CsvTable summary = croquis::read_csv((folder / "e.summary.csv").string());
  CHECK(summary.rows.size() == 7 * 3 * 5);
  CHECK(run_croquis("plot e.csv --out again.png --metric frobenius_abs", folder.path()).status == 0);
  CHECK(read_text(folder / "again.png").substr(1, 3) == "PNG");
}

TEST_CASE("croquis error: where no picture can be drawn the tables are there all the same") {
  TemporaryFolder folder;
  const std::string run =
      "$CROQUIS error --input gaussian --n 12 --p 4 --features 4 --methods v-mean --plot r.svg --out r.csv";
  const ProgramRun failed = run_command("PATH=/nowhere " + run, folder.path());
  CHECK(failed.status == 2);
  for (const char* part : {"v-mean", "rows     r.csv", "r.svg: not drawn"})
    CHECK_MESSAGE(contains(failed.output, part), failed.output);
  CHECK_FALSE(contains(failed.output, "plot     r.svg"));
}

TEST_CASE("croquis error: the summary's mean and standard error are those of the rows") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmallError + "--methods skeinformer --out e.csv", folder.path()).status == 0);
  const croquis::CsvTable table = croquis::read_csv((folder / "e.csv").string());
  double values[3] = {};
  for (int i = 0; i < 3; ++i) {
    values[i] = std::stod(table.rows[static_cast<std::size_t>(i)][table.column("max_abs")]);
  }
  const double mean = (values[0] + values[1] + values[2]) / 3;
  double squares = 0;
  for (const double x : values) squares += (x - mean) * (x - mean);
  const croquis::CsvTable summary = croquis::read_csv((folder / "e.summary.csv").string());
  const auto& row = summary.rows[4];  // d = 8, the fifth metric
  REQUIRE(row[summary.column("metric")] == "max_abs");
  CHECK(std::stod(row[summary.column("mean")]) == doctest::Approx(mean).epsilon(1e-14));
  CHECK(std::stod(row[summary.column("standard_error")]) == doctest::Approx(std::sqrt(squares / 2 / 3)).epsilon(1e-12));
}

TEST_CASE("croquis error: the same seed gives the same rows for 1, 2 and 4 threads, another seed other rows") {
  TemporaryFolder folder;
  for (const std::string threads : {"1", "2", "4"}) {
    REQUIRE(run_croquis(
                "error --n 300 --features 16,40 --trials 4 --quiet --threads " + threads + " --out " + threads + ".csv",
                folder.path())
                .status == 0);
  }
  CHECK(rows_of(folder / "1.csv") == rows_of(folder / "2.csv"));
  CHECK(rows_of(folder / "1.csv") == rows_of(folder / "4.csv"));
  REQUIRE(run_croquis(kSmallError + "--out a.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(kSmallError + "--seed 2 --out b.csv", folder.path()).status == 0);
  CHECK(rows_of(folder / "a.csv") != rows_of(folder / "b.csv"));
}

TEST_CASE("croquis error: an interrupted result resumes to the rows of an uninterrupted one, a torn line dropped") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmallError + "--out whole.csv", folder.path()).status == 0);
  const std::string whole = read_text(folder / "whole.csv");
  for (const double part : {0.05, 0.4, 0.73, 1.0}) {
    const auto cut = static_cast<std::size_t>(part * static_cast<double>(whole.size()));
    write_text(folder / "part.csv", whole.substr(0, cut));
    write_text(folder / "part.meta.json", read_text(folder / "whole.meta.json"));
    const ProgramRun run = run_croquis(kSmallError + "--out part.csv --resume", folder.path());
    CHECK_MESSAGE(run.status == 0, run.output);
    CHECK(rows_of(folder / "part.csv") == rows_of(folder / "whole.csv"));
  }
  const ProgramRun other_seed = run_croquis(kSmallError + "--seed 5 --out part.csv --resume", folder.path());
  CHECK(other_seed.status == 2);
  CHECK(other_seed.output.find("--seed was 1 and is 5") != std::string::npos);
  const ProgramRun other_precision =
      run_croquis(kSmallError + "--precision float --out part.csv --resume", folder.path());
  CHECK(other_precision.status == 2);
  CHECK(other_precision.output.find("--precision was double and is float") != std::string::npos);
  CHECK(rows_of(folder / "part.csv") == rows_of(folder / "whole.csv"));
}

TEST_CASE("croquis error: a result that is there is not overwritten unasked") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmallError + "--out e.csv", folder.path()).status == 0);
  const std::string before = read_text(folder / "e.csv");
  CHECK(run_croquis(kSmallError + "--out e.csv", folder.path()).status == 2);
  CHECK(read_text(folder / "e.csv") == before);
  CHECK(run_croquis(kSmallError + "--out e.csv --overwrite", folder.path()).status == 0);
  write_text(folder / "mine.csv", "a,b\n1,2\nno line break at the end");
  CHECK(run_croquis(kSmallError + "--out mine.csv --resume", folder.path()).status == 2);
  CHECK(read_text(folder / "mine.csv") == "a,b\n1,2\nno line break at the end");
}

TEST_CASE("croquis error: padding gives the rows of the shorter input") {
  TemporaryFolder folder;
  arma::arma_rng::set_seed(7);  // any numbers will do
  arma::mat q(60, 8, arma::fill::randn), k(60, 8, arma::fill::randn), v(60, 5, arma::fill::randn);
  write_arrays(folder, q, k, v);
  const std::string arrays = "error --q q.npy --k k.npy --v v.npy --features 8,20 --trials 2 --quiet ";
  REQUIRE(run_croquis(arrays + "--length 41 --out padded.csv", folder.path()).status == 0);
  write_arrays(folder, q.head_rows(41), k.head_rows(41), v.head_rows(41));
  REQUIRE(run_croquis(arrays + "--out short.csv", folder.path()).status == 0);
  CHECK(rows_of(folder / "padded.csv") == rows_of(folder / "short.csv"));
}

TEST_CASE("croquis error: duplicated tokens, zero rows and large norms give finite rows or a status") {
  TemporaryFolder folder;
  arma::arma_rng::set_seed(8);
  arma::mat q(50, 8, arma::fill::randn), k(50, 8, arma::fill::randn), v(50, 4, arma::fill::randn);
  q.rows(10, 30).zeros();
  k.rows(0, 20) = arma::repmat(k.row(40), 21, 1);
  for (const double norm : {1.0, 100.0, 1e4}) {
    write_arrays(folder, norm * q, norm * k, v);
    for (const std::string precision : {"float", "double"}) {
      const ProgramRun run = run_croquis(
          "error --q q.npy --k k.npy --v v.npy --features 7,50 --trials 3 --overwrite "
          "--quiet --out e.csv --precision " +
              precision,
          folder.path());
      CHECK_MESSAGE(run.status == 0, run.output);
      const croquis::CsvTable table = croquis::read_csv((folder / "e.csv").string());
      for (const auto& row : table.rows) {
        const bool ok = row[table.column("status")] == "ok";
        CHECK(ok == (row[table.column("spectral_abs")] != "NA"));
        if (ok) CHECK(std::isfinite(std::stod(row[table.column("spectral_abs")])));
      }
    }
  }
}

TEST_CASE("croquis error --bounds: four columns beside the measured errors, a line of the picture, not with --rows") {
  TemporaryFolder folder;
  const std::string command =
      "error --methods linformer-unreduced,v-mean --n 64 --features 8,16 --trials 3 --quiet --overwrite ";
  REQUIRE(run_croquis(command + "--out plain.csv", folder.path()).status == 0);
  const ProgramRun run = run_croquis(command + "--bounds --plot error.svg", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const croquis::CsvTable plain = croquis::read_csv((folder / "plain.csv").string()),
                          table = croquis::read_csv((folder / "error.csv").string());
  CHECK(table.header.size() == plain.header.size() + 4);
  for (const auto& row : table.rows) {
    const bool has = row[table.column("method")] == "linformer-unreduced";
    CHECK((row[table.column("bound_abs")] != "NA") == has);
    CHECK(row[table.column("bound_source")] == (has ? "linformer T1" : "NA"));
  }
  CHECK(contains(read_text(folder / "error.svg"), "guarantee: "));
  const ProgramRun refused = run_croquis(command + "--bounds --rows 10", folder.path());
  CHECK(refused.status == 2);
  CHECK(contains(refused.output, "--bounds: goes without --rows"));
}
