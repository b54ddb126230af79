// croquis cost, from the outside. Nothing here looks at how long anything took.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>
#include <set>
#include <string>

#include "apps/small_errors.hpp"
#include "support/program.hpp"

// A build without optimisation refuses to time anything.
#ifdef NDEBUG

namespace {

const std::string kSmall = "cost --n 64,96 --p 8 --features 8 --repeats 2 --warmup 0 --quiet ";

std::set<std::string> methods_in(const std::filesystem::path& file) {
  const croquis::CsvTable table = croquis::read_csv(file.string());
  std::set<std::string> methods;
  for (const auto& row : table.rows) {
    methods.insert(row[table.column("method")]);
    CAPTURE(row[table.column("method")]);
    CHECK(row[table.column("status")] == "ok");
    CHECK(std::stod(row[table.column("seconds")]) > 0);
  }
  return methods;
}

}  // namespace

TEST_CASE("croquis cost: a row a method, n, d and repeat, and exact attention for the targets of the methods") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmall + "--methods skyformer,nprf-rpe,linformer --out c.csv", folder.path()).status == 0);
  const croquis::CsvTable table = croquis::read_csv((folder / "c.csv").string());
  CHECK(table.rows.size() == 2 * 5 * 2);
  for (const auto& row : table.rows) CHECK(row[table.column("input")] == "gaussian");
  // Without a bias the target of nprf-rpe costs what softmax does.
  const std::set<std::string> expected = {"exact", "exact-kernelized", "skyformer", "nprf-rpe", "linformer"};
  CHECK(methods_in(folder / "c.csv") == expected);
}

TEST_CASE("croquis cost: exact attention is timed in any case, and refused among the methods in words") {
  TemporaryFolder folder;
  for (const std::string name : {"exact", "exact-kernelized", "exact:x=1"}) {
    const ProgramRun run = run_croquis(kSmall + "--methods v-mean," + name + " --out c.csv", folder.path());
    CHECK(run.status == 2);
    CHECK(run.output ==
          "croquis: --methods: '" + name +
              "' is no method, exact attention is timed beside them; leave it out, or give exact alone\n");
    CHECK_FALSE(std::filesystem::exists(folder / "c.csv"));
  }
  REQUIRE(run_croquis(kSmall + "--methods exact --out c.csv", folder.path()).status == 0);
  CHECK(methods_in(folder / "c.csv") == std::set<std::string>{"exact"});
  REQUIRE(
      run_croquis(kSmall + "--methods kdeformer:probabilities=exact --out c.csv --overwrite", folder.path()).status ==
      0);
  CHECK(methods_in(folder / "c.csv") == std::set<std::string>{"exact", "kdeformer"});
}

TEST_CASE("croquis cost: exact attention up to a size, where it takes too long beyond") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmall + "--methods skyformer --exact-to 64 --out c.csv", folder.path()).status == 0);
  const croquis::CsvTable table = croquis::read_csv((folder / "c.csv").string());
  std::set<std::string> rows;
  for (const auto& row : table.rows) rows.insert(row[table.column("method")] + " " + row[table.column("n")]);
  CHECK(rows == std::set<std::string>{"exact 64", "exact-kernelized 64", "skyformer 64", "skyformer 96"});
  const ProgramRun nothing = run_croquis(kSmall + "--methods exact --exact-to 10 --out d.csv", folder.path());
  CHECK(nothing.status == 2);
  CHECK(nothing.output.find("--exact-to: 10 is below every n") != std::string::npos);
}

TEST_CASE("croquis cost: a bias is paid for by the methods that have one and by their exact targets") {
  TemporaryFolder folder;
  const std::string methods = kSmall + "--methods prf-rpe,nprf-rpe ";
  REQUIRE(run_croquis(methods + "--bias t5:8,32,1 --out c.csv", folder.path()).status == 0);
  const std::set<std::string> expected = {"exact", "exact-softmax-rpe", "exact-normalized-rpe", "prf-rpe", "nprf-rpe"};
  CHECK(methods_in(folder / "c.csv") == expected);
  const croquis::CsvTable table = croquis::read_csv((folder / "c.csv").string());
  CHECK(table.rows.front()[table.column("input")] == "gaussian;bias=t5:8,32,1");

  // The work that nprf-rpe declares is that of a Toeplitz product, more than that of sums.
  REQUIRE(run_croquis(methods + "--out plain.csv", folder.path()).status == 0);
  const auto flops = [&](const char* file) {
    const croquis::CsvTable rows = croquis::read_csv((folder / file).string());
    for (const auto& row : rows.rows) {
      if (row[rows.column("method")] == "nprf-rpe" && row[rows.column("n")] == "96") {
        return std::stod(row[rows.column("flops")]);
      }
    }
    return std::nan("");
  };
  CHECK(flops("c.csv") > 1.5 * flops("plain.csv"));

  // Rows with another bias, or none, are not gone on with.
  CHECK(run_croquis(methods + "--out c.csv --resume", folder.path()).status == 2);
  CHECK(run_croquis(methods + "--bias t5:8,32,1 --out c.csv --resume", folder.path()).status == 0);
}

TEST_CASE("croquis cost: causal attention is half the pairs, and a method without a causal form is refused") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmall + "--methods v-mean,prf-rpe --causal --out c.csv", folder.path()).status == 0);
  CHECK(methods_in(folder / "c.csv") == std::set<std::string>{"exact", "v-mean", "prf-rpe"});
  const croquis::CsvTable table = croquis::read_csv((folder / "c.csv").string());
  for (const auto& row : table.rows) {
    CHECK(row[table.column("input")] == "gaussian;causal");
    if (row[table.column("method")] != "exact") continue;
    const double n = std::stod(row[table.column("n")]), p = std::stod(row[table.column("p")]);
    CHECK(std::stod(row[table.column("flops")]) == n * (n + 1) / 2 * (4 * p + 1));
  }
  const ProgramRun refused = run_croquis(kSmall + "--methods linformer --causal --out d.csv", folder.path());
  CHECK(refused.status == 2);
  CHECK(refused.output.find("linformer: has no causal form; methods that have one are") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "d.csv"));
}

TEST_CASE("croquis cost: a d beyond every n is refused; beyond some of them its rows there have failed") {
  TemporaryFolder folder;
  const std::string cost = "cost --p 8 --features 48 --repeats 1 --quiet --methods skeinformer --out c.csv ";
  const ProgramRun refused = run_croquis(cost + "--n 16,32", folder.path());
  CHECK(refused.status == 2);
  CHECK(refused.output.find("--features: 48 is more than the n = 32 tokens; give at most n") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "c.csv"));
  CHECK(run_croquis(cost + "--n 32,64", folder.path()).status == 0);
}

TEST_CASE("croquis cost: a bias that does not fit is refused before there is a file") {
  TemporaryFolder folder;
  croquis::write_npy((folder / "b.npy").string(), arma::mat(1, 2 * 64 - 1, arma::fill::zeros));
  for (const char* bias : {"nonsense", "alibi:x", "b.npy"}) {  // b.npy is for 64 tokens, not for 96
    CAPTURE(bias);
    CHECK(run_croquis(kSmall + "--methods nprf-rpe --out c.csv --bias " + bias, folder.path()).status == 2);
    CHECK_FALSE(std::filesystem::exists(folder / "c.csv"));
  }
  const std::string fits = "cost --n 64 --p 8 --features 8 --repeats 1 --quiet --methods nprf-rpe --out c.csv ";
  CHECK(run_croquis(fits + "--bias b.npy", folder.path()).status == 0);
}

TEST_CASE("croquis cost --resume: repeats after another number of untimed calls are of another run, either way round") {
  TemporaryFolder folder;
  const std::string run = "cost --n 64 --p 8 --methods v-mean --features 8 --quiet ";
  for (const auto& [first, then] : {std::pair("--warmup 5 ", ""), std::pair("", "--warmup 5 ")}) {
    const std::string out = fmt::format("--out {}.csv ", *first == '\0' ? "a" : "b");
    check_done(folder, run + out + first + "--repeats 1");
    check_refused(folder, run + out + then + "--repeats 2 --resume", "--resume: --warmup was");
  }
}

TEST_CASE("croquis cost --resume: of repeats of which some are there, the others are added, each once") {
  TemporaryFolder folder;
  const std::string run = "cost --n 64 --p 8 --methods v-mean --features 8 --repeats 3 --warmup 0 --quiet --out c.csv ";
  check_done(folder, run);
  const std::vector<std::string> repeats = column_of(folder / "c.csv", "repeat");
  std::vector<std::string> lines = lines_in(folder / "c.csv");
  lines.pop_back();
  write_lines(folder / "c.csv", lines);
  check_done(folder, run + "--resume");
  CHECK(column_of(folder / "c.csv", "repeat") == repeats);
}

#endif
