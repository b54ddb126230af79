// croquis error --rows: errors from a sample of the exact rows.
#include <doctest/doctest.h>
#include <croquis/io/csv.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

const std::string kRowOptions =
    "error --input clustered --n 300 --p 6 --norm 3 --methods v-mean,skyformer,performer --features 16 "
    "--trials 3 --quiet ";

double number_in(const std::string& field) {
  return field == "NA" ? std::nan("") : std::stod(field);
}

std::map<std::string, double> numbers_of(const std::filesystem::path& file, const std::string& column) {
  const croquis::CsvTable table = croquis::read_csv(file.string());
  std::map<std::string, double> numbers;
  for (const auto& row : table.rows) {
    if (row[table.column("status")] != "ok") continue;
    numbers[row[table.column("method")] + row[table.column("trial")]] = number_in(row[table.column(column)]);
  }
  return numbers;
}

}  // namespace

TEST_CASE("--rows: all rows give the errors themselves, fewer give intervals about them") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kRowOptions + "--out full.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(kRowOptions + "--rows 300 --out all.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(kRowOptions + "--rows 150 --threads 1 --out some.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(kRowOptions + "--rows 150 --threads 3 --out same.csv", folder.path()).status == 0);
  for (const char* column : {"spectral_abs", "spectral_rel", "frobenius_rel", "max_abs", "row_sum_dev"}) {
    CAPTURE(column);
    auto full = numbers_of(folder / "full.csv", column);
    const auto sampled = numbers_of(folder / "all.csv", column);
    REQUIRE(sampled.size() == full.size());
    for (const auto& [row, number] : sampled) {
      if (std::isnan(number)) continue;
      CHECK(std::abs(number - full[row]) <= 1e-9 * (1 + std::abs(full[row])));
    }
    const auto same = numbers_of(folder / "same.csv", column);
    for (const auto& [row, number] : numbers_of(folder / "some.csv", column)) {
      CHECK((number == same.at(row) || (std::isnan(number) && std::isnan(same.at(row)))));
    }
  }
  const croquis::CsvTable table = croquis::read_csv((folder / "some.csv").string());
  CHECK(table.header.at(table.column("n_q") + 1) == "rows");
  for (const auto& row : table.rows) {
    const auto field = [&](const char* name) { return row[table.column(name)]; };
    CHECK(field("rows") == "150");
    CHECK(std::stod(field("spectral_rel_lo")) <= std::stod(field("spectral_rel")));
    CHECK(std::stod(field("frobenius_rel_hi")) >= std::stod(field("frobenius_rel")));
  }
}

TEST_CASE("--rows: methods that compute all scores are refused by name, and left out of all") {
  TemporaryFolder folder;
  const std::string head =
      "error --input clustered --n 60 --p 6 --features 8 --trials 1 --quiet --rows 30 --out r.csv ";
  for (const char* method : {"best-rank-d", "vattention:certain=oracle", "kdeformer:probabilities=exact"}) {
    CAPTURE(method);
    check_refused(run_croquis(head + "--methods v-mean," + method, folder.path()), "computes all scores");
    CHECK_FALSE(std::filesystem::exists(folder / "r.csv"));
  }
  const ProgramRun all = run_croquis(head + "--methods all", folder.path());
  CHECK(all.status == 0);
  CHECK(contains(all.output, "what computes all scores is left out: best-rank-d"));
  const croquis::CsvTable table = croquis::read_csv((folder / "r.csv").string());
  for (const auto& row : table.rows) CHECK(row[table.column("method")] != "best-rank-d");
}

TEST_CASE("--rows --by-rows: the peak memory of a rank is in megabytes") {
  TemporaryFolder folder;
  write_text(folder / "h.npy", npy_doubles("(40, 3)", std::vector<double>(120, 0.5)));
  const ProgramRun run =
      run_croquis("error --by-rows --q h.npy --k h.npy --v h.npy --rows 20 --methods v-mean --features 4 --out r.csv",
                  folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const std::string line = between(run.output, "peak memory\n", " MB\n");
  // Megabytes, and not a thousand times as many or as few.
  const double megabytes = std::stod(line.substr(line.rfind(' ')));
  CHECK_MESSAGE(megabytes > 1, run.output);
  CHECK_MESSAGE(megabytes < 1000, run.output);
}

TEST_CASE("--rows: what is no number of rows is one line and status 2") {
  TemporaryFolder folder;
  for (const char* rows : {"19", "301", "-1", "0", "x"}) {
    const ProgramRun run = run_croquis(kRowOptions + "--rows " + rows, folder.path());
    CAPTURE(rows);
    CHECK(run.status == 2);
    CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(folder / "error.csv"));
  }
}
