// What docs/reproducibility.md promises, a test a promise.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/npy.hpp>
#include <croquis/random/draws.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "support/process.hpp"
#include "support/small_runs.hpp"
#include "support/text.hpp"

namespace {

croquis::CsvTable result_of(const std::string& line, const TemporaryFolder& folder,
                            const ProcessSettings& settings = {}) {
  const ProgramRun run = run_process(words(line + " --quiet --overwrite --out r.csv"), folder.path(), settings);
  REQUIRE_MESSAGE(run.status == 0, run.output);
  return fixed_table(folder / "r.csv");
}

ProcessSettings with_kernels(const std::string& name) {
  return {.environment = {{"OPENBLAS_CORETYPE", name}}};
}

// The kernels that OpenBLAS takes when these are asked for: others, where the processor cannot run them.
std::string kernels_used(const std::string& name, const TemporaryFolder& folder) {
  const std::string text = run_process({"--version"}, folder.path(), with_kernels(name)).output;
  const std::size_t start = text.find("kernels ") + 8;
  return text.substr(start, text.find_first_of(",)", start) - start);
}

std::optional<double> number(const std::string& field) {
  if (field.empty() || field.find_first_not_of("0123456789.+-e") != std::string::npos) return {};
  return std::stod(field);
}

// Texts are the same; numbers differ by at most `bound`, of themselves or of 1.
void check_close(const croquis::CsvTable& a, const croquis::CsvTable& b, double bound) {
  REQUIRE(a.header == b.header);
  REQUIRE(a.rows.size() == b.rows.size());
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    for (std::size_t j = 0; j < a.header.size(); ++j) {
      const auto x = number(a.rows[i][j]), y = number(b.rows[i][j]);
      CAPTURE(a.header[j]);
      if (!x || !y) {
        if (a.header[j] != "hypotheses") CHECK(a.rows[i][j] == b.rows[i][j]);  // a sentence with rounded numbers
        continue;
      }
      CHECK(std::abs(*x - *y) <= bound * std::max({1.0, std::abs(*x), std::abs(*y)}));
    }
  }
}

}  // namespace

TEST_CASE("reproducible: the same bytes for 1 to 4 threads, and once more") {
  TemporaryFolder folder;
  for (const std::string& line : kSmallRuns) {
    CAPTURE(line);
    const croquis::CsvTable first = result_of(line + " --threads 1", folder);
    for (const char* threads : {"1", "2", "3", "4"}) {
      CAPTURE(std::string(threads));
      const croquis::CsvTable again = result_of(line + " --threads " + threads, folder);
      CHECK(again.header == first.header);
      CHECK(again.rows == first.rows);
    }
  }
}

TEST_CASE("reproducible: a row is the same whichever other methods, d and trials are asked for") {
  TemporaryFolder folder;
  const std::string line = "error --n 64 --p 8 ";
  const croquis::CsvTable all = result_of(line + "--methods all --features 8,16,32 --trials 6", folder),
                          some = result_of(line + "--methods performer,linformer --features 16 --trials 3", folder);
  CHECK(some.rows.size() == 6);
  for (const auto& row : some.rows) CHECK(std::count(all.rows.begin(), all.rows.end(), row) == 1);
}

TEST_CASE("reproducible: the same numbers from a file of another name") {
  TemporaryFolder folder;
  arma::mat head(80, 8);
  croquis::fill_normal(croquis::Key(1), 0, head.n_elem, head.memptr());
  croquis::write_npy((folder / "one.npy").string(), head);
  std::filesystem::copy_file(folder / "one.npy", folder / "two.npy");
  for (const char* command :
       {"error --methods skeinformer --features 8 --trials 2", "gradient --methods linformer --features 8 --trials 2",
        "dimension --trials 9", "spectrum --method lanczos --leading 8",
        "sketch --sketches gaussian --features 8 --trials 2", "variance --features 8 --trials 9"}) {
    CAPTURE(std::string(command));
    const auto rows_of = [&](const std::string& file) {
      croquis::CsvTable table = result_of(fmt::format("{0} --q {1} --k {1} --v {1}", command, file), folder);
      for (auto& row : table.rows) row[table.column("input")].clear();
      return table.rows;
    };
    CHECK(rows_of("one.npy") == rows_of("two.npy"));
  }
}

TEST_CASE("reproducible: another seed, other numbers") {
  TemporaryFolder folder;
  const std::string line = "error --n 64 --p 8 --methods performer --features 16 --trials 3 ";
  const croquis::CsvTable one = result_of(line + "--seed 1", folder), two = result_of(line + "--seed 2", folder);
  const std::size_t error = one.column("spectral_rel");
  for (std::size_t i = 0; i < one.rows.size(); ++i) CHECK(one.rows[i][error] != two.rows[i][error]);
}

TEST_CASE("reproducible: kernels of one family give the same bytes, of any two the same numbers within the bound") {
  TemporaryFolder folder;
  std::vector<std::string> lines = kSmallRuns;
  lines.emplace_back("error --n 64 --p 8 --methods all --features 16 --trials 2 --precision float");
  const std::map<std::string, std::string> family = {{"Zen", "Haswell"}, {"Cooperlake", "SkylakeX"}};
  for (const std::string& line : lines) {
    CAPTURE(line);
    const double bound = contains(line, "float") ? 1e-3 : 1e-10;
    std::map<std::string, croquis::CsvTable> results;
    for (const char* name : {"Prescott", "Sandybridge", "Haswell", "Zen", "SkylakeX", "Cooperlake"}) {
      const std::string used = kernels_used(name, folder);
      if (!results.contains(used)) results.emplace(used, result_of(line, folder, with_kernels(name)));
    }
    REQUIRE(results.contains("Prescott"));  // every processor runs them
    for (const auto& one : results) {
      const std::string& name = one.first;
      const croquis::CsvTable& result = one.second;
      CAPTURE(name);
      check_close(result, results.at("Prescott"), bound);
      const auto relative = family.find(name);
      if (relative != family.end() && results.contains(relative->second)) {
        CHECK(result.rows == results.at(relative->second).rows);
      }
    }
  }
}
