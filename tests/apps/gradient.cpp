// croquis gradient, from the outside.
#include <doctest/doctest.h>

#include <croquis/io/csv.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/files.hpp"
#include "support/gnuplot_script.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

const std::string kSmallGradient =
    "gradient --input gaussian --n 48 --p 6 --norm 2 --features 8,16 --trials 3 --quiet ";

}  // namespace

TEST_CASE("croquis gradient: a row a method, d and draw, with the error of the output beside that of the gradient") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmallGradient + "--methods v-mean,skeinformer,nprf --out g.csv", folder.path()).status == 0);
  const croquis::CsvTable table = croquis::read_csv((folder / "g.csv").string());
  CHECK(table.rows.size() == 2 * (1 + 3 + 3));
  for (const auto& row : table.rows) {
    CHECK(row[table.column("status")] == "ok");
    CHECK(std::stod(row[table.column("output_rel")]) > 0);
    const bool zero = row[table.column("method")] == "v-mean";
    CHECK((row[table.column("qk_rel")] == "1") == zero);
    CHECK((row[table.column("qk_cosine")] == "NA") == zero);
    CHECK(row[table.column("bias_rel")] == "NA");
  }
}

TEST_CASE("croquis plot: of gradients what croquis gradient draws, and tables have one order of functions") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmallGradient + "--methods v-mean,skyformer,skeinformer --out g.csv", folder.path()).status ==
          0);
  const DrawnPlot plot = drawn_plot("plot g.csv", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  const DrawnPlot named = drawn_plot("plot g.csv --metric qk_rel", folder.path());
  CHECK(plot.script == named.script);
  CHECK(drawn_plot("plot g.csv --metric output_rel", folder.path()).script != named.script);
  // v-mean has no cosine, and it alone stands before skyformer.
  const std::string shown = run_croquis("show g.csv", folder.path()).output;
  const std::size_t cosine = shown.find("their cosine");
  REQUIRE(cosine != std::string::npos);
  CHECK(shown.find("approximations of softmax attention", cosine) <
        shown.find("approximations of Gaussian-kernel", cosine));
}

TEST_CASE("croquis gradient: the same rows for any number of threads, in shards, and resumed") {
  TemporaryFolder folder;
  const auto rows_of = [&](const std::string& options, const std::string& file) {
    REQUIRE(run_croquis(kSmallGradient + "--methods skyformer,performer " + options + " --out " + file, folder.path())
                .status == 0);
    const croquis::CsvTable table = croquis::read_csv((folder / file).string());
    std::set<std::vector<std::string>> rows;  // without times
    for (auto row : table.rows) {
      row[table.column("seconds")] = row[table.column("seconds_adjoint")] = "";
      rows.insert(row);
    }
    return rows;
  };
  const auto whole = rows_of("--threads 1", "a.csv");
  CHECK(whole.size() == 2 * 2 * 3);
  CHECK(rows_of("--threads 3", "b.csv") == whole);
  auto shards = rows_of("--shard 1/2", "c.csv");
  shards.merge(rows_of("--shard 2/2", "d.csv"));
  CHECK(shards == whole);
  // The first row alone, as if the run had been stopped within its first cell.
  const std::string text = read_text(folder / "a.csv");
  const std::size_t header = text.find('\n'), first = text.find('\n', header + 1);
  write_text(folder / "a.csv", text.substr(0, first + 1));
  CHECK(rows_of("--resume", "a.csv") == whole);
  // Spreads are over all trials: rows of fewer are of another run.
  const ProgramRun more =
      run_croquis(kSmallGradient + "--methods performer --trials 9 --resume --out a.csv", folder.path());
  CHECK(more.status == 2);
  CHECK(more.output.find("--trials") != std::string::npos);
}

TEST_CASE("croquis gradient: all are the methods with an adjoint, and others are refused by name") {
  TemporaryFolder folder;
  const auto all_with = [&](const std::string& options) {
    REQUIRE(run_croquis(kSmallGradient + options + " --methods all --out g.csv --overwrite", folder.path()).status ==
            0);
    const croquis::CsvTable table = croquis::read_csv((folder / "g.csv").string());
    std::set<std::string> methods;
    for (const auto& row : table.rows) methods.insert(row[table.column("method")]);
    return methods;
  };
  CHECK(all_with("--causal") == std::set<std::string>{"v-mean", "performer", "nprf", "prf-rpe", "nprf-rpe"});
  CHECK(all_with("--causal --bias alibi:0.1") == std::set<std::string>{"prf-rpe", "nprf-rpe"});
  const ProgramRun refused = run_croquis(kSmallGradient + "--methods reformer --out h.csv", folder.path());
  CHECK(refused.status == 2);
  CHECK(refused.output.find("reformer: has no adjoint") != std::string::npos);
  const ProgramRun unbiased =
      run_croquis(kSmallGradient + "--methods v-mean --bias alibi:1 --out h.csv", folder.path());
  CHECK(unbiased.status == 2);
  CHECK(unbiased.output.find("v-mean: takes no bias") != std::string::npos);
}
