// The rows of croquis model: its losses, against PyTorch, and by sequence, layer, method and draw.
#include <doctest/doctest.h>
#include <croquis/io/csv.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "apps/formula_folder.hpp"
#include "support/formula_model.hpp"
#include "support/gnuplot_script.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("model: every architecture has the loss that PyTorch computed") {
  const FormulaFolder folder;
  for (const FormulaModel& model : formula_models()) {
    CAPTURE(model.name);
    for (const std::string precision : {"double", "float"}) {
      const ProgramRun run = run_croquis("model --model " + model.name + "/model.safetensors" + kLabelled +
                                             "--sequence 0 --methods exact --overwrite --precision " + precision,
                                         folder.path());
      REQUIRE_MESSAGE(run.status == 0, run.output);
      const double loss = std::stod(column_of(folder / "model.csv", "loss").at(0)),
                   expected = model.numbers.at("loss")[0];
      CHECK(std::abs(loss / expected - 1) <= (precision == "double" ? 1e-11 : 1e-4));
    }
  }
}

TEST_CASE("model: rows by sequence, layers, method, d and draw; shards, threads and resuming make the same rows") {
  const FormulaFolder folder;
  const std::string command = "model --model albert/model.safetensors" + kLabelled +
                              "--methods exact,linformer,v-mean --features 2,4 --trials 2 --by-layer --quiet ";
  const ProgramRun run = run_croquis(command + "--out all.csv --plot all.svg", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(column_of(folder / "all.csv", "loss").size() == 3 * (1 + 2 * 2 + 2));
  CHECK(croquis::read_csv((folder / "all.summary.csv").string()).rows.size() == 1 + 2 + 2);
  CHECK(croquis::read_csv((folder / "all.layers.csv").string()).rows.size() == 5 * 4);
  CHECK(std::filesystem::file_size(folder / "all.svg") > 1000);
  CHECK(column_of(folder / "all.csv", "tokens").back() == "6");
  const auto losses = column_of(folder / "all.csv", "loss"), status = column_of(folder / "all.csv", "status");
  CHECK(std::all_of(status.begin(), status.end(), [](const std::string& text) { return text == "ok"; }));
  CHECK(std::set<std::string>(losses.begin(), losses.end()).size() == 3 * (1 + 2 * 2 + 1));  // v-mean has no d

  REQUIRE(run_croquis(command + "--threads 1 --out one.csv", folder.path()).status == 0);
  CHECK(column_of(folder / "one.csv", "loss") == losses);
  for (const char* part : {"1", "2"}) {
    REQUIRE(run_croquis(command + "--shard " + part + "/2 --out part" + part + ".csv", folder.path()).status == 0);
  }
  const ProgramRun merged = run_croquis("merge merged.csv part1.csv part2.csv", folder.path());
  REQUIRE_MESSAGE(merged.status == 0, merged.output);
  CHECK(column_of(folder / "merged.csv", "loss") == losses);
  CHECK(read_text(folder / "merged.layers.csv") == read_text(folder / "all.layers.csv"));
  const std::string whole = read_text(folder / "one.csv");
  write_text(folder / "one.csv", whole.substr(0, whole.size() / 2));
  REQUIRE(run_croquis(command + "--resume --out one.csv", folder.path()).status == 0);
  CHECK(column_of(folder / "one.csv", "loss") == losses);
  write_text(folder / "ids.npy", npy_integers("(3, 9)", std::vector<std::int64_t>(27, 1)));
  CHECK(run_croquis(command + "--resume --out one.csv", folder.path()).status == 2);
}

TEST_CASE("model: --layers each and --heads approximate some heads, and their plot is over layers") {
  const FormulaFolder folder;
  const std::string model =
      "model --model gpt2/model.safetensors" + kModelTokens + "--methods v-mean --features 2 --overwrite ";
  REQUIRE(run_croquis(model + "--layers each --heads 1 --plot each.svg --out each.csv", folder.path()).status == 0);
  const auto names = column_of(folder / "each.csv", "layers");
  CHECK(std::set<std::string>(names.begin(), names.end()) == std::set<std::string>{"0;heads=1", "1;heads=1"});
  REQUIRE(run_croquis(model + "--layers 0 --heads 1 --out zero.csv", folder.path()).status == 0);
  CHECK(column_of(folder / "zero.csv", "loss").at(0) == column_of(folder / "each.csv", "loss").at(0));
  REQUIRE(run_croquis(model + "--layers 0 --out both.csv", folder.path()).status == 0);
  CHECK(column_of(folder / "both.csv", "loss") != column_of(folder / "zero.csv", "loss"));
  // A decoder's labels are the next tokens.
  CHECK(column_of(folder / "zero.csv", "counted") == std::vector<std::string>{"8", "8", "5"});
}

TEST_CASE("model input: a head on several sequences is one head") {
  const FormulaFolder folder;
  const std::string command =
      "error --model llama-tied/model.safetensors --methods v-mean --features 2 --overwrite --out e.csv" + kModelTokens;
  const ProgramRun one = run_croquis(command + "--layer 0 --head 0", folder.path());
  CHECK_MESSAGE(contains(one.output,
                         "median over one head on 3 sequences (smallest - largest head on a sequence); one head on 3"),
                one.output);
  const ProgramRun all = run_croquis(command + "--layer all --sequence 0,1", folder.path());
  CHECK_MESSAGE(contains(all.output, "median over 8 heads on 2 sequences"), all.output);
  CHECK(contains(drawn_plot("plot e.csv --statistic mean", folder.path()).title,
                 "mean over 8 heads on 2 sequences; standard error between sequences"));
  CHECK(contains(run_croquis(command + "--layer all --sequence 1", folder.path()).output, "median over 8 heads ("));
}
