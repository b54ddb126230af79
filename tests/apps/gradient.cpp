// croquis gradient, from the outside.
#include <doctest/doctest.h>

#include <cmath>
#include <croquis/io/csv.hpp>
#include <croquis/random/draws.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/files.hpp"
#include "support/gnuplot_script.hpp"
#include "support/npy_files.hpp"
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

TEST_CASE("croquis gradient: the standard error over heads has the part of the draws, which they share") {
  TemporaryFolder folder;
  constexpr std::size_t heads = 3, draws = 4, numbers = 40 * 4;
  for (const char* name : {"q", "k", "v"}) {  // heads that are nearly equal: what differs comes from the draws
    std::vector<double> all(heads * numbers);
    croquis::fill_normal(croquis::Key(11).child(name), 0, numbers, all.data());
    for (std::size_t i = numbers; i < all.size(); ++i) {
      all[i] = all[i % numbers] * (1 + 1e-3 * static_cast<double>(i / numbers));
    }
    write_text(folder / (std::string(name) + ".npy"), npy_doubles("(3, 40, 4)", all));
  }
  REQUIRE(run_croquis("gradient --q q.npy --k k.npy --v v.npy --methods linformer --features 8 --trials 4 --quiet "
                      "--out g.csv",
                      folder.path())
              .status == 0);
  const croquis::CsvTable table = croquis::read_csv((folder / "g.csv").string()),
                          summary = croquis::read_csv((folder / "g.heads.csv").string());
  REQUIRE(table.rows.size() == heads * draws);
  for (const char* metric : {"output_rel", "q_rel", "v_cosine"}) {
    CAPTURE(metric);
    double value[heads][draws];
    for (const auto& row : table.rows) {
      const std::string& input = row[table.column("input")];  // ends with the number of the head
      value[input.back() - '0'][std::stoi(row[table.column("trial")]) - 1] = std::stod(row[table.column(metric)]);
    }
    // Of a table without gaps: s^2 over the heads' means, and s^2 over the draws' means.
    double by_head[heads] = {}, by_draw[draws] = {}, mean = 0;
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t t = 0; t < draws; ++t) {
        by_head[h] += value[h][t] / draws;
        by_draw[t] += value[h][t] / heads;
        mean += value[h][t] / (heads * draws);
      }
    }
    double between = 0, of_draws = 0;
    for (const double m : by_head) between += (m - mean) * (m - mean) / (heads - 1) / heads;
    for (const double m : by_draw) of_draws += (m - mean) * (m - mean) / (draws - 1) / draws;
    REQUIRE(of_draws > 4 * between);
    for (const auto& line : summary.rows) {
      if (line[summary.column("metric")] != metric) continue;
      CHECK(std::stod(line[summary.column("standard_error")]) ==
            doctest::Approx(std::sqrt(between + of_draws)).epsilon(1e-9));
    }
  }
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
