// croquis error --scores, from the outside.
#include <doctest/doctest.h>

#include <croquis/io/csv.hpp>
#include <map>
#include <string>

#include "support/program.hpp"

namespace {

const std::string kSmallScores = "error --n 96 --p 16 --features 8:32 --trials 3 --quiet ";

}  // namespace

TEST_CASE("croquis error: --scores adds two columns and changes nothing else") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmallScores + "--out plain.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(kSmallScores + "--scores --threads 1 --out both.csv", folder.path()).status == 0);
  auto plain = rows_of(folder / "plain.csv"), both = rows_of(folder / "both.csv");
  const croquis::CsvTable table = croquis::read_csv((folder / "both.csv").string());
  REQUIRE(table.header.size() == 26);
  CHECK(table.header[24] == "scores_spectral_abs");
  CHECK(table.header[25] == "scores_spectral_rel");
  const std::size_t method = table.column("method"), features = table.column("features");
  std::map<std::string, double> best;
  for (const auto& row : table.rows) {
    CHECK((row[table.column("status")] == "ok") == (row[25] != "NA"));
    if (row[method] == "best-rank-d") best[row[features]] = std::stod(row[25]);
  }
  // Eckart-Young: no matrix of rank d is nearer to B. Norms are within 1e-3.
  REQUIRE(best.size() == 3);
  for (const auto& row : table.rows) {
    for (const char* of_rank_d : {"v-mean", "skyformer-softmax", "nystromformer", "linformer", "performer"}) {
      if (row[method] == of_rank_d) CHECK(best.at(row[features]) <= 1.001 * std::stod(row[25]));
    }
  }
  for (auto& row : both) row.resize(row.size() - 2);
  CHECK(plain == both);
  CHECK(read_text(folder / "both.summary.csv").find("scores_spectral_rel") != std::string::npos);
  CHECK(read_text(folder / "plain.summary.csv").find("scores_spectral_rel") == std::string::npos);
  CHECK(run_croquis("plot both.csv --metric scores_spectral_rel --out s.svg", folder.path()).status == 0);
  CHECK(run_croquis(kSmallScores + "--resume --out both.csv", folder.path()).status == 2);
}
