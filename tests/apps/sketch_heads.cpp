// croquis sketch on inputs of several heads: arrays of three dimensions and models.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/csv.hpp>
#include <croquis/random/draws.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/formula_folder.hpp"
#include "support/capture.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

constexpr std::size_t kSketchHeads = 3, kSketchNumbers = std::size_t{40} * 4;  // of a head
const std::string kSketchArrays = "sketch --q q.npy --k k.npy --v v.npy ";
const std::string kSketchCurves =
    "--sketches gaussian,srht,importance --landmarks uniform,leverage --features 8,16 --trials 3 --quiet ";

// Arrays of three heads, and head 1 alone: q1.npy, k1.npy, v1.npy.
struct SketchArrays : TemporaryFolder {
  SketchArrays() {
    for (const std::string name : {"q", "k", "v"}) {
      std::vector<double> all(kSketchHeads * kSketchNumbers);
      croquis::fill_normal(croquis::Key(3).child(name), 0, all.size(), all.data());
      write_text(path() / (name + ".npy"), npy_doubles("(3, 40, 4)", all));
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(kSketchNumbers);
      const auto end = begin + static_cast<std::ptrdiff_t>(kSketchNumbers);
      write_text(path() / (name + "1.npy"), npy_doubles("(40, 4)", {begin, end}));
      if (name != "v") continue;
      std::fill(begin, end, 0.0);
      write_text(path() / "zero.npy", npy_doubles("(3, 40, 4)", all));
    }
  }
  ProgramRun run(const std::string& arguments) const {
    ProgramRun run = run_croquis(arguments, path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    return run;
  }
};

}  // namespace

TEST_CASE("croquis sketch: every head of an array has the rows that it has alone, also after an interruption") {
  const SketchArrays folder;
  folder.run("sketch --q q1.npy --k k1.npy --v v1.npy --out one.csv " + kSketchCurves);
  const auto alone = rows_of(folder / "one.csv", "arrays:q1");
  REQUIRE(alone.size() == (3 + 2) * 2 * 3);
  folder.run(kSketchArrays + "--out all.csv " + kSketchCurves);
  CHECK(rows_of(folder / "all.csv", "arrays:q;head=1") == alone);
  CHECK(column_of(folder / "one.csv", "head") == std::vector<std::string>(alone.size(), "NA"));
  const auto rows = rows_of(folder / "all.csv");
  REQUIRE(rows.size() == 3 * alone.size());
  const std::vector<std::string> inputs = column_of(folder / "all.csv", "input"),
                                 heads = column_of(folder / "all.csv", "head");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(heads[i] == std::to_string(i / alone.size()));
    CHECK(inputs[i] == "arrays:q;head=" + heads[i]);
  }
  const std::string whole = read_text(folder / "all.csv");
  for (const std::size_t part : {5, 2}) {  // in the first head, and in the second
    write_text(folder / "all.csv", whole.substr(0, whole.size() / part));
    folder.run(kSketchArrays + "--out all.csv --resume " + kSketchCurves);
    CHECK(rows_of(folder / "all.csv") == rows);
  }
}

TEST_CASE("croquis sketch: shards of several heads merged are one run, with the tables of several heads") {
  const SketchArrays folder;
  folder.run(kSketchArrays + "--out whole.csv " + kSketchCurves);
  for (const char* part : {"1", "2"}) {
    folder.run(fmt::format("{}--shard {}/2 --out p{}.csv {}", kSketchArrays, part, part, kSketchCurves));
  }
  folder.run("merge all.csv p1.csv p2.csv");
  CHECK(rows_of(folder / "all.csv") == rows_of(folder / "whole.csv"));
  const std::vector<std::string> counts = column_of(folder / "all.heads.csv", "heads");
  CHECK(std::count(counts.begin(), counts.end(), "3") > 0);
  CHECK(std::all_of(counts.begin(), counts.end(), [](const std::string& n) { return n == "3" || n == "0"; }));
  const std::string shown = folder.run("show all.csv").output;
  CHECK(contains(shown, "median over 3 heads of the mean over 3 draws (smallest - largest head); 3 heads, matrix = v"));
  folder.run("plot all.csv --out all.svg");
  CHECK(contains(read_text(folder / "all.svg"), "median over 3 heads"));
  folder.run("plot all.csv --heat-map --metric norm_error --out map.svg");
  folder.run("report all.csv --out all.html");
  CHECK(contains(read_text(folder / "all.html"), "all 3: median"));
}

TEST_CASE("croquis sketch: what a head cannot have is one line that names it, before anything is computed") {
  const SketchArrays folder;
  const std::pair<std::string, std::string> wrong[] = {
      {"--v zero.npy", "--matrix v of arrays:q;head=1: it is zero"},
      {"--v v.npy --rank 5", "--rank: 5 is more than the rank 4 of the 40 x 4 matrix v of arrays:q;head=0"},
      {"--v v.npy --sketches srct --features 64", "--sketches srct: 1 <= d <= n"},
      {"--v v.npy --landmarks uniform --features 96", "96 of --features are more than the 80 points there are"}};
  for (const auto& [arguments, says] : wrong) {
    CAPTURE_BINDING(arguments);
    check_refused(run_croquis("sketch --q q.npy --k k.npy --out new.csv " + arguments, folder.path()), says);
    CHECK_FALSE(std::filesystem::exists(folder / "new.csv"));
  }
}

TEST_CASE("croquis sketch: heads of the sequences of a model, with sizes that the shortest one has") {
  const FormulaFolder folder;
  const std::string model = "sketch --model bert/model.safetensors" + kModelTokens +
                            "--sketches gaussian,srct --landmarks uniform --trials 2 --quiet ";
  const ProgramRun all = run_croquis(model + "--layer all --features 2:16 --out all.csv", folder.path());
  REQUIRE_MESSAGE(all.status == 0, all.output);
  const croquis::CsvTable table = croquis::read_csv((folder / "all.csv").string());
  std::set<std::string> inputs, sizes;
  for (const auto& row : table.rows) {
    const auto field = [&](const char* name) { return row[table.column(name)]; };
    inputs.insert(field("input"));
    sizes.insert(field("features"));
    CHECK(field("input") ==
          fmt::format("model:bert;sequence={};layer={};head={}", field("sequence"), field("layer"), field("head")));
    CHECK(field("n") == (field("sequence") == "2" ? "6" : "9"));
    CHECK(field("status") == "ok");
  }
  CHECK(sizes == std::set<std::string>{"2", "4", "6"});
  CHECK(table.rows.size() == inputs.size() * 3 * 3 * 2);
  const ProgramRun one =
      run_croquis(model + "--sequence 2 --layer 1 --head 0 --features 2:16 --out one.csv", folder.path());
  REQUIRE_MESSAGE(one.status == 0, one.output);
  const std::string name = "model:bert;sequence=2;layer=1;head=0";
  CHECK(rows_of(folder / "all.csv", name) == rows_of(folder / "one.csv", name));
  CHECK(rows_of(folder / "one.csv", name).size() == 3 * 3 * 2);

  // A size that some heads have: rows of the others fail.
  REQUIRE(run_croquis(model + "--layer 0 --head 0 --features 8 --out some.csv", folder.path()).status == 0);
  const croquis::CsvTable some = croquis::read_csv((folder / "some.csv").string());
  CHECK(some.rows.size() == 3 * 3 * 2);
  for (const auto& row : some.rows) {
    const bool fails = row[some.column("name")] == "srct" && row[some.column("sequence")] == "2";
    CHECK((row[some.column("status")] == "ok") == !fails);
  }
}

TEST_CASE("croquis sketch: the leading directions are counted where all heads have as many") {
  const SketchArrays folder;
  // Values of head 1 in one dimension, of the others in four.
  std::vector<double> values(kSketchHeads * kSketchNumbers);
  croquis::fill_normal(croquis::Key(4), 0, values.size(), values.data());
  for (std::size_t i = kSketchNumbers; i < 2 * kSketchNumbers; ++i) values[i] = i % 4 == 0 ? values[i] : 0;
  write_text(folder / "flat.npy", npy_doubles("(3, 40, 4)", values));
  const std::string line =
      "sketch --q q.npy --k k.npy --v flat.npy --sketches gaussian --landmarks none --features 8 --trials 1 "
      "--overwrite ";
  const std::string title = "U spanning the leading ";
  CHECK(contains(folder.run(line + "--head 0,2").output, title + "4 directions\n"));
  CHECK(contains(folder.run(line).output, title + "directions, as many as the column rank says\n"));
}
