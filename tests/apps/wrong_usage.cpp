// What cannot be done is refused in one line that says what would do.
#include <doctest/doctest.h>

#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>
#include <filesystem>
#include <string>

#include "support/capture.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("croquis: wrong usage and wrong input give one line that says what would do, and exit status 2") {
  TemporaryFolder folder;
  arma::mat good(12, 4, arma::fill::ones), nan = good;
  nan(3, 2) = arma::datum::nan;
  croquis::write_npy((folder / "good.npy").string(), good);
  croquis::write_npy((folder / "nan.npy").string(), nan);
  croquis::write_npy((folder / "short.npy").string(), good.head_rows(11));
  croquis::write_npy((folder / "wide.npy").string(), arma::mat(12, 5, arma::fill::ones));
  write_text(folder / "text.npy", "not an array");
  write_text(folder / "text.txt", "too few words");
  write_text(folder / "rows.csv", "a,b\n1,2\n");
  write_text(folder / "nested.toml", "[error]\nconfig=\"other.toml\"\n");
  struct Case {
    std::string arguments, says;
  };
  const Case cases[] = {
      {"", "give a command"},
      {"frobnicate", "frobnicate"},
      {"error --frobnicate", "--frobnicate"},
      {"error --n 10 --features 16", "at most n"},
      {"error --n 0", "--n"},
      {"--config nested.toml error", "nested.toml: line 2: --config is for the command line alone"},
      {"error --trials 010", "--trials: '010' is not a whole number from 1"},
      {"error --n -5", "--n"},
      {"error --n ten", "--n"},
      {"error --p 0", "--p"},
      {"error --n 100000000", "--text"},
      {"error --features 16:8", "downwards"},
      {"error --features 0", "--features"},
      {"error --features 16,,32", "empty"},
      {"error --features x", "--features"},
      {"error --features 99999999999999999999", "--features"},
      {"error --trials 0", "--trials"},
      {"error --trials x", "--trials"},
      {"error --seed -1", "--seed"},
      {"error --threads -2", "--threads"},
      {"error --precision half", "--precision"},
      {"spectrum --n 32 --precision float", "--precision: 'float': this command computes in double"},
      {"error --methods nothing", "v-mean"},
      {"error --methods skyformer,skyformer", "twice"},
      {"error --methods skyformer:ridge", "NAME=VALUE"},
      {"error --methods skyformer:ridge=-1", "ridge"},
      {"error --methods skyformer:ridge=nan", "ridge"},
      {"error --methods skyformer:iterations=1.5", "whole"},
      {"error --methods skyformer:preset=mine", "paper code"},
      {"error --methods v-mean:preset=code", "no options"},
      {"error --methods nystromformer:ridge=1", "inverse iterations"},
      {"error --methods ridge=1", "before any name"},
      {"error --input nowhere", "--input"},
      {"error --input arrays", "--q"},
      {"error --q good.npy", "--k"},
      {"error --q good.npy --k good.npy --v missing.npy", "missing.npy: cannot be opened"},
      {"error --q text.npy --k good.npy --v good.npy", "text.npy"},
      {"error --q nan.npy --k good.npy --v good.npy --features 4", "nan.npy: row 3, column 2 (from 0) is NaN"},
      {"error --q good.npy --k good.npy --v nan.npy --features 4", "nan.npy: row 3, column 2 (from 0) is NaN"},
      {"error --q good.npy --k short.npy --v good.npy",
       "K and V need as many rows as each other; Q is (12, 4), K (11, 4), V (12, 4)"},
      {"error --q good.npy --k wide.npy --v good.npy",
       "Q and K need the same width; Q is (12, 4), K (12, 5), V (12, 4)"},
      {"error --q good.npy --k good.npy --v short.npy",
       "K and V need as many rows as each other; Q is (12, 4), K (12, 4), V (11, 4)"},
      {"error --q good.npy --k good.npy --v good.npy --n 12", "--n"},
      {"error --q good.npy --k good.npy --v good.npy --length 13", "--length"},
      {"error --q good.npy --k good.npy --v good.npy --length 0", "--length"},
      {"error --text text.txt", "3 tokens"},
      {"error --text missing.txt", "missing.txt"},
      {"error --text .", "folder"},
      {"error --norm 3", "--input gaussian"},
      {"error --input gaussian --norm -1 --n 300", "norm"},
      {"error --input gaussian --norm nan --n 300", "norm"},
      {"error --input gaussian --text text.txt", "--input text"},
      {"error --input sphere --clusters 3", "--input clustered"},
      {"error --input clustered --clusters 0", "--clusters"},
      {"error --input clustered --spread -1 --n 300", "spread"},
      {"error --input heavy-norms --tail 0 --n 300", "tail"},
      {"error --input low-rank --token-rank 0 --n 300", "--token-rank"},
      {"error --input duplicates --distinct x", "--distinct"},
      {"error --plot e.bmp", ".svg"},
      {"error --plot nowhere/e.svg", "nowhere"},
      {"error --out nowhere/e.csv", "nowhere/e.csv"},
      {"error --out . ", "cannot be written"},
      {"error --resume --overwrite", "exclude"},
      {"error --config missing.ini", "missing.ini"},
      {"list", "what"},
      {"list nothing", "nothing"},
      {"plot", "give a CSV of another command"},
      {"plot missing.csv", "missing.csv"},
      {"plot rows.csv", "columns are a, b"},
      {"plot rows.csv --metric nothing", "columns are a, b"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.arguments);
    check_refused(run_croquis(c.arguments, folder.path()), c.says);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "error.csv"));
}

TEST_CASE("croquis: what a bias has no effect on is refused with one, and is not among all") {
  TemporaryFolder folder;
  const std::string input = " --input gaussian --n 32 --p 4 --bias alibi:1 --quiet --overwrite --out e.csv";
  const std::pair<const char*, const char*> refused[] = {
      {"error --features 8 --methods v-mean,skeinformer", "v-mean: takes no bias; targets that take one are"},
      {"choose --features 8 --methods v-mean,skeinformer", "v-mean: takes no bias; targets that take one are"},
      {"spectrum", "spectrum: takes no --bias"},
      {"sketch --features 8", "sketch: takes no --bias"}};
  for (const auto& [line, why] : refused) {
    CAPTURE_BINDING(line);
    const ProgramRun run = run_croquis(line + input, folder.path());
    CHECK(run.status == 2);
    CHECK(contains(run.output, why));
    CHECK_FALSE(std::filesystem::exists(folder / "e.csv"));
  }
  REQUIRE(run_croquis("error --methods all --features 8 --trials 1" + input, folder.path()).status == 0);
  const croquis::CsvTable table = croquis::read_csv((folder / "e.csv").string());
  REQUIRE(table.rows.size() == 2);
  for (const auto& row : table.rows) CHECK(row[table.column("target")].ends_with("-rpe"));
  REQUIRE(run_croquis("choose --features 8 --trials 60 --eps 9 --max-cost 99" + input, folder.path()).status == 0);
  const croquis::CsvTable choice = croquis::read_csv((folder / "e.csv").string());
  CHECK(choice.rows.front()[choice.column("method")] == "prf-rpe");
}

TEST_CASE("croquis error: what the library refuses is said of the option that was given") {
  TemporaryFolder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"--methods skyformer:ridge=-1", "skyformer: ridge is a number from 0 to 1e+06, got ridge = -1"},
      {"--methods nystromformer:inverse=none", "nystromformer: inverse is one of"},
      {"--input gaussian --norm -1", "--input gaussian: a finite norm >= 0, got norm = -1"},
      {"--input gaussian --norm inf", "--input gaussian: a finite norm >= 0, got norm = inf"},
      {"--input heavy-norms --tail 0", "--input heavy-norms: tail > 0 and finite, got tail = 0"},
      {"--input heavy-norms --tail inf", "--input heavy-norms: tail > 0 and finite, got tail = inf"},
      {"--input clustered --spread -1", "--input clustered: spread >= 0 and finite, got spread = -1"},
      {"--input gaussian --n 1000000000 --p 100000", "--input gaussian: needs "},
      {"--methods prf-rpe --bias t5:3,8,1", "--bias t5:3,8,1: an even number of buckets"},
      {"--methods prf-rpe --bias random:-1", "--bias random:-1: sigma >= 0 and finite, got sigma = -1"},
      {"--methods prf-rpe --bias alibi:", "--bias: 'alibi:' is none of FILE.npy, alibi:SLOPE"},
      {"--methods prf-rpe --bias alibi:nan", "--bias alibi:nan: a finite slope"}};
  for (const auto& [arguments, says] : cases) {
    CAPTURE_BINDING(arguments);
    const ProgramRun run = run_croquis(std::string("error --out none.csv ") + arguments, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(run.output.starts_with(std::string("croquis: ") + says), run.output);
  }
}
