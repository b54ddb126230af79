// Finite arrays whose squares overflow: refused in one line, by every command; and just below, sound rows.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/attention/problem.hpp>
#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>

#include "support/array_files.hpp"
#include "support/program.hpp"

namespace {

constexpr arma::uword kOverflowTokens = 40;
const std::string kArrays = " --q q.npy --k k.npy --v v.npy --quiet --overwrite --out rows.csv ";

// Rows of Q, K and V with these norms.
void write_with_norms(const TemporaryFolder& folder, double of_queries, double of_keys, double of_values) {
  arma::arma_rng::set_seed(5);  // any numbers will do
  const auto rows = [](double norm) -> arma::mat {
    return norm * arma::normalise(arma::mat(kOverflowTokens, 4, arma::fill::randn), 2, 1);
  };
  write_arrays(folder, rows(of_queries), rows(of_keys), rows(of_values));
}

void check_refusal(const TemporaryFolder& folder, const std::string& line, const std::string& why) {
  CAPTURE(line);
  check_refused(run_croquis(line, folder.path()), why);
  CHECK_FALSE(std::filesystem::exists(folder / "rows.csv"));
}

// Rows that are ok have no infinite number, and errors.
void check_rows(const std::filesystem::path& file) {
  const croquis::CsvTable table = croquis::read_csv(file.string());
  CHECK(!table.rows.empty());
  for (const auto& row : table.rows) {
    if (row[table.column("status")] != "ok") continue;
    CHECK(row[table.column("spectral_abs")] != "NA");
    for (const std::string& field : row) CHECK_FALSE((field == "inf" || field == "-inf" || field == "nan"));
  }
}

}  // namespace

TEST_CASE("croquis: Q, K or V whose squares overflow are refused by every command, with the largest norm that is not") {
  TemporaryFolder folder;
  const std::string why =
      fmt::format("squares of more than {:.3g} overflow", croquis::largest_row_norm<double>(kOverflowTokens));
  const auto commands = {"error --methods v-mean,skyformer --features 4 --trials 1",
                         "error --methods v-mean,skyformer --features 4 --trials 1 --scores",
                         "verify --claims sky.thm2.order,lin.jl-norm --quick",
                         "sketch --matrix v --features 4 --trials 1",
                         "spectrum",
                         "dimension --trials 1"};
  const double norms[][3] = {{1e155, 1e155, 1}, {1e300, 1, 1}, {1, 1e153, 1}, {1, 1, 1.7e308}, {1, 1, 1e153}};
  for (const auto& [q, k, v] : norms) {
    write_with_norms(folder, q, k, v);
    for (const char* command : commands) check_refusal(folder, command + kArrays, why);
  }
}

TEST_CASE("croquis error: the float of an input whose squares overflow in float is refused") {
  TemporaryFolder folder;
  const std::string error = "error --precision float --methods v-mean,skyformer --features 4 --trials 1 --scores";
  const double norms[][3] = {{1e18, 1e18, 1}, {1, 1e18, 1}, {1, 1, 1e18}, {1e39, 1, 1}};
  for (const auto& [q, k, v] : norms) {
    write_with_norms(folder, q, k, v);
    check_refusal(folder, error + kArrays, "--precision float: row ");
  }
  const double most = 0.98 * croquis::largest_row_norm<float>(kOverflowTokens);
  write_with_norms(folder, most, most, most);
  REQUIRE(run_croquis("error --precision float --methods all --features 4 --trials 1 --scores" + kArrays, folder.path())
              .status == 0);
  check_rows(folder / "rows.csv");
}

TEST_CASE("croquis error: norms up to the limit give rows of finite numbers or with a reason, with scores too") {
  TemporaryFolder folder;
  const double most = 0.999 * croquis::largest_row_norm<double>(kOverflowTokens);
  const double norms[][3] = {{most, most, most}, {1, most, 1}, {most, 1, 1}, {1, 1, most}};
  for (const auto& [q, k, v] : norms) {
    write_with_norms(folder, q, k, v);
    for (const char* more : {" --scores", " --rows 30", " --causal --scores", " --causal --bias alibi:0.1 --scores"}) {
      CAPTURE(std::string(more));
      const ProgramRun run = run_croquis("error --methods all --features 4 --trials 1" + kArrays + more, folder.path());
      CAPTURE(run.output);
      REQUIRE(run.status == 0);
      check_rows(folder / "rows.csv");
    }
  }
}

TEST_CASE("croquis verify: at norms up to the limit no claim that holds is refuted by numbers that overflowed") {
  TemporaryFolder folder;
  const double most = 0.999 * croquis::largest_row_norm<double>(kOverflowTokens);
  write_with_norms(folder, most, most, most);
  const ProgramRun run =
      run_croquis("verify --claims sky.thm2.order,sky.lemma1,lin.jl-norm,lin.jl-product.corrected --quick" + kArrays,
                  folder.path());
  CAPTURE(run.output);
  REQUIRE(run.status == 0);
  const croquis::CsvTable table = croquis::read_csv((folder / "rows.csv").string());
  for (const auto& row : table.rows) {
    CAPTURE(row[table.column("claim")] + " " + row[table.column("input")]);
    CHECK(row[table.column("verdict")] != "REFUTED");
  }
}

TEST_CASE("croquis sketch and variance: numbers whose squares overflow are refused, or are a status") {
  TemporaryFolder folder;
  arma::mat m(40, 3, arma::fill::randn);
  const std::string end = " --features 4 --trials 1 --quiet --overwrite --out rows.csv";
  for (const double size : {1e160, 1e307}) {
    croquis::write_npy((folder / "m.npy").string(), arma::mat(size * m / arma::abs(m).max()));
    check_refusal(folder, "sketch --matrix m.npy" + end, "m.npy: its Frobenius norm");
  }
  croquis::write_npy((folder / "m.npy").string(), arma::mat(1e150 * m));
  CHECK(run_croquis("sketch --matrix m.npy --sketches all" + end, folder.path()).status == 0);
  const croquis::CsvTable sketches = croquis::read_csv((folder / "rows.csv").string());
  for (const auto& row : sketches.rows) CHECK(row[sketches.column("status")] == "ok");
  std::filesystem::remove(folder / "rows.csv");

  check_refusal(folder, "variance --p 4 --keys 8 --norms 1,1e200" + end, "--norms: 1e200 is more than");
  CHECK(run_croquis("variance --p 4 --keys 8 --maps all --norms 20,1e10,1e150" + end, folder.path()).status == 0);
  const croquis::CsvTable table = croquis::read_csv((folder / "rows.csv").string());
  for (const auto& row : table.rows) {
    for (const std::string& field : row) CHECK_FALSE((field == "inf" || field == "-inf" || field == "nan"));
  }
}
