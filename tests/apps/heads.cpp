// Inputs of several heads: .npy of three dimensions and .npz.
#include <doctest/doctest.h>
#include <armadillo>
#include <croquis/io/csv.hpp>
#include <croquis/random/draws.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "support/archives.hpp"
#include "support/capture.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

constexpr arma::uword kHeads = 3, kHeadTokens = 40, kHeadWidth = 4;
const std::string kHeadOptions = " --methods v-mean,skeinformer,nystromformer --features 8 --trials 2 --quiet ";

// C order, so a head is a contiguous block of rows.
std::vector<double> numbers(const char* name, arma::uword heads = kHeads) {
  std::vector<double> all(heads * kHeadTokens * kHeadWidth);
  croquis::fill_normal(croquis::Key(7).child(name), 0, all.size(), all.data());
  return all;
}

std::string all_heads(const char* name) {
  return npy_doubles("(3, 40, 4)", numbers(name));
}

std::string one_head(const char* name, arma::uword head) {
  const std::vector<double> all = numbers(name);
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(head * kHeadTokens * kHeadWidth);
  return npy_doubles("(40, 4)", std::vector<double>(begin, begin + kHeadTokens * kHeadWidth));
}

}  // namespace

TEST_CASE("heads: every head of an array or an archive has the rows that it has alone") {
  TemporaryFolder folder;
  for (const char* name : {"q", "k", "v"}) {
    write_text(folder / (std::string(name) + ".npy"), all_heads(name));
    write_text(folder / (std::string(name) + "1.npy"), one_head(name, 1));
  }
  write_text(folder / "all.npz",
             zip_file({{"q.npy", all_heads("q")}, {"k.npy", all_heads("k")}, {"v.npy", all_heads("v")}},
                      Compression::deflated));
  REQUIRE(run_croquis("error --q q.npy --k k.npy --v v.npy --out a.csv --plot a.svg" + kHeadOptions, folder.path())
              .status == 0);
  REQUIRE(run_croquis("error --qkv all.npz --head 2,1 --out z.csv" + kHeadOptions, folder.path()).status == 0);
  REQUIRE(run_croquis("error --q q1.npy --k k1.npy --v v1.npy --out one.csv" + kHeadOptions, folder.path()).status ==
          0);
  const auto alone = rows_of(folder / "one.csv", "arrays:q1");
  REQUIRE(alone.size() == 4);
  CHECK(rows_of(folder / "a.csv", "arrays:q;head=1") == alone);
  CHECK(rows_of(folder / "z.csv", "arrays:all;head=1") == alone);
  CHECK(croquis::read_csv((folder / "a.csv").string()).rows.size() == 12);
  CHECK(croquis::read_csv((folder / "z.csv").string()).rows.size() == 8);

  const std::string whole = read_text(folder / "a.csv");
  write_text(folder / "a.csv", whole.substr(0, whole.size() / 2));
  REQUIRE(
      run_croquis("error --q q.npy --k k.npy --v v.npy --out a.csv --resume" + kHeadOptions, folder.path()).status ==
      0);
  for (const char* input : {"arrays:q;head=0", "arrays:q;head=1", "arrays:q;head=2"}) {
    CHECK(rows_of(folder / "a.csv", input).size() == 4);
  }
  CHECK(rows_of(folder / "a.csv", "arrays:q;head=1") == alone);
}

TEST_CASE("heads: many small ones, each measured on a thread of its own, have the rows of one thread, resumed or not") {
  TemporaryFolder folder;
  constexpr std::size_t heads = 9;
  for (const std::string name : {"q", "k", "v"}) {
    write_text(folder / (name + ".npy"), npy_doubles("(9, 40, 4)", numbers(name.c_str(), heads)));
  }
  const std::string run = "error --q q.npy --k k.npy --v v.npy --save-output ";
  const std::string methods = " --methods v-mean,best-rank-d,skeinformer --features 4,8 --trials 2 --quiet --out ";
  REQUIRE(run_croquis(run + "one" + methods + "one.csv --threads 1", folder.path()).status == 0);
  const auto whole = rows_of(folder / "one.csv");
  REQUIRE(whole.size() == heads * 2 * (1 + 1 + 2));
  for (const std::string threads : {"2", "4"}) {
    CAPTURE(threads);
    const std::string again = run + "side" + threads + methods + "side" + threads + ".csv --threads " + threads;
    REQUIRE(run_croquis(again, folder.path()).status == 0);
    const auto file = folder / ("side" + threads + ".csv");
    CHECK(rows_of(file) == whole);
    for (const auto& output : std::filesystem::directory_iterator(folder / "one")) {
      CHECK(read_text(folder / ("side" + threads) / output.path().filename()) == read_text(output.path()));
    }
    const std::string rows = read_text(file);
    write_text(file, rows.substr(0, rows.size() / 3));
    REQUIRE(run_croquis(again + " --resume", folder.path()).status == 0);
    CHECK(rows_of(file) == whole);
  }
}

TEST_CASE("heads: where one of many small ones fails, the others beside it stop soon, and have their rows") {
  TemporaryFolder folder;
  for (const char* name : {"q", "k", "v"}) {
    write_text(folder / (std::string(name) + ".npy"), npy_doubles("(4, 40, 4)", numbers(name, 4)));
  }
  const std::string run =
      "error --q q.npy --k k.npy --v v.npy --features 8 --trials 4000 --threads 2 --quiet "
      "--out rows.csv --save-output outputs --methods v-mean";
  REQUIRE(run_croquis(run, folder.path()).status == 0);
  for (const auto& output : std::filesystem::directory_iterator(folder / "outputs")) {
    if (!output.path().filename().string().starts_with("arrays-q-head=0_exact")) continue;
    const std::filesystem::path taken = output.path();  // no output can be written under this name
    std::filesystem::remove(taken);
    std::filesystem::create_directory(taken);
    break;
  }
  const ProgramRun failed = run_croquis(run + ",skeinformer --resume", folder.path());
  CHECK(failed.status == 2);
  CHECK_MESSAGE(contains(failed.output, "arrays-q-head=0_exact"), failed.output);
  CHECK(croquis::read_csv((folder / "rows.csv").string()).rows.size() < 4 + 4000);
}

TEST_CASE("heads: wrong usage is one line and status 2") {
  TemporaryFolder folder;
  write_text(folder / "q.npy", all_heads("q"));
  write_text(folder / "one.npy", one_head("q", 0));
  write_text(folder / "two.npz", zip_file({{"q.npy", all_heads("q")}, {"k.npy", all_heads("k")}}, Compression::stored));
  const struct {
    const char *arguments, *message;
  } wrong[] = {
      {"error --q q.npy --k q.npy --v q.npy --head 3", "--head: '3' is none of 0 to 2"},
      {"error --q q.npy --k q.npy --v q.npy --head 1,1", "--head: 1 is there twice"},
      {"error --q q.npy --k q.npy --v q.npy --head x", "--head: 'x'"},
      {"error --q q.npy --k q.npy --v one.npy", "Q has 3 heads, K 3, V 1"},
      {"error --qkv two.npz", "two.npz: has no array v; it has q, k"},
      {"error --qkv q.npy", "q.npy: is not an .npz file"},
      {"error --qkv two.npz --q q.npy", "or --qkv FILE.npz"},
      {"error --q q.npy --k q.npy", "needs --q Q.npy --k K.npy --v V.npy"},
      {"error --head 1", "--head: goes with --input arrays"},
  };
  for (const auto& [arguments, message] : wrong) {
    CAPTURE_BINDING(arguments);
    const ProgramRun run = run_croquis(arguments, folder.path());
    CHECK(run.status == 2);
    CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
    CHECK_MESSAGE(run.output.find(message) != std::string::npos, run.output);
  }
}
