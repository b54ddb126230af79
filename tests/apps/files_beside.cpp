// Files beside X.csv that a run would replace: those of another result, or of nobody's, stay as they are, and a run
// that is refused changes no file.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <croquis/io/csv.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/capture.hpp"
#include "support/npy_files.hpp"
#include "support/process.hpp"
#include "support/text.hpp"

namespace {

const std::string kBesideRun = "error --input gaussian --n 32 --p 4 --methods v-mean --features 8 --quiet ";

const std::string kBesideHeads =
    "error --q heads.npy --k heads.npy --v heads.npy --methods v-mean --features 4 --quiet ";

std::map<std::string, std::string> contents_of(const TemporaryFolder& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (file.is_regular_file()) contents[file.path().string()] = read_text(file.path());
  }
  return contents;
}

// One line with the reason, status 2, and every file as it was.
void check_nothing_changes(const TemporaryFolder& folder, const std::string& arguments, const std::string& reason) {
  CAPTURE(arguments);
  const auto before = contents_of(folder);
  const ProgramRun run = run_process(words(arguments), folder.path());
  CHECK(run.status == 2);
  CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
  CHECK_MESSAGE(contains(run.output, reason), run.output);
  CHECK(contents_of(folder) == before);
}

void check_runs(const TemporaryFolder& folder, const std::string& arguments) {
  const ProgramRun run = run_process(words(arguments), folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
}

}  // namespace

TEST_CASE("a folder of --save-output that cannot be is refused before the earlier result is replaced") {
  TemporaryFolder folder;
  write_text(folder / "file", "a file\n");
  check_runs(folder, kBesideRun + "--out x.csv");
  for (const char* bad : {"file", "file/below", "/proc"}) {
    check_nothing_changes(folder, kBesideRun + "--out x.csv --overwrite --save-output " + bad, bad);
  }
  check_runs(folder, kBesideRun + "--out x.csv --overwrite --save-output outs");
}

TEST_CASE("a table of somebody else under the name of a summary is not replaced, whatever the run is told") {
  TemporaryFolder folder;
  const std::string arrays = npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 8, 2), }\n",
                                      bytes_of(std::vector<double>(2 * 8 * 2, 1.0)));
  write_text(folder / "heads.npy", arrays);
  for (const auto& [end, input] : {std::pair(".summary.csv", kBesideRun), std::pair(".heads.csv", kBesideHeads)}) {
    CAPTURE_BINDING(end);
    write_text(folder / (std::string("x") + end), "my own,notes\n1,2\n");
    for (const char* how : {"", " --resume", " --overwrite"}) {
      check_nothing_changes(folder, input + "--out x.csv" + how,
                            std::string("x") + end + ": is there and is not of this result");
    }
    std::filesystem::remove(folder / (std::string("x") + end));
  }
  check_runs(folder, kBesideRun + "--out x.summary.csv");  // rows of another run
  for (const char* how : {"", " --resume", " --overwrite"}) {
    check_nothing_changes(folder, kBesideRun + "--out x.csv" + how, "x.summary.csv: is there and is not of this");
  }
  check_runs(folder, kBesideRun + "--shard 1/1 --out part.csv");
  check_nothing_changes(folder, "merge x.csv part.csv --overwrite", "x.summary.csv: is there and is not of this");
  // What this command does not write stays where it is.
  write_text(folder / "y.draws.csv", "my own,notes\n1,2\n");
  check_runs(folder, kBesideRun + "--out y.csv");
  CHECK(read_text(folder / "y.draws.csv") == "my own,notes\n1,2\n");
}

TEST_CASE("the summary of a result goes with its rows; that of rows which are elsewhere now is not replaced unasked") {
  TemporaryFolder folder;
  check_runs(folder, kBesideRun + "--out x.csv");
  const std::string summary = read_text(folder / "x.summary.csv");
  check_runs(folder, kBesideRun + "--out x.csv --resume");
  std::filesystem::remove(folder / "x.csv");
  check_runs(folder, kBesideRun + "--out x.csv");  // the meta file says whose summary it was
  CHECK(read_text(folder / "x.summary.csv") == summary);
  std::filesystem::rename(folder / "x.csv", folder / "moved.csv");
  std::filesystem::rename(folder / "x.meta.json", folder / "moved.meta.json");
  check_nothing_changes(folder, kBesideRun + "--out x.csv", "x.summary.csv: is there and is not of this result");
  check_runs(folder, kBesideRun + "--out x.csv --overwrite");
}

TEST_CASE("X.meta.json that no run has written is not replaced") {
  TemporaryFolder folder;
  for (const char* text : {"{\"title\": \"my album\"}\n", "[1, 2]\n", "notes\n"}) {
    write_text(folder / "x.meta.json", text);
    for (const char* how : {"", " --resume", " --overwrite"}) {
      check_nothing_changes(folder, kBesideRun + "--out x.csv" + how, "x.meta.json: is there and is no meta file");
    }
  }
  write_text(folder / "x.meta.json", "");
  check_runs(folder, kBesideRun + "--out x.csv");
}

TEST_CASE("--overwrite: a run whose cells are refused leaves the earlier result as it was, and no new file") {
  TemporaryFolder folder;
  const std::string error = "error --input gaussian --n 32 --p 4 --features 8 --quiet --out x.csv --methods ";
  const std::string twice = error + "skyformer,skyformer:preset=paper ";
  check_nothing_changes(folder, twice, "is asked for twice");
  check_runs(folder, error + "v-mean");
  check_nothing_changes(folder, twice + "--overwrite", "is asked for twice");
  const std::string cost = "cost --n 64 --p 8 --methods exact --repeats 1 --warmup 0 --quiet --out c.csv ";
  check_runs(folder, cost);
  check_nothing_changes(folder, cost + "--exact-to 1 --overwrite", "--exact-to: 1 is below every n");
}

TEST_CASE("--resume: a file without a line break that is not the beginning of a result stays as it is") {
  TemporaryFolder folder;
  for (const char* text : {R"({"a": 1, "b": 2})", "notes", "input,methods"}) {
    write_text(folder / "x.csv", text);
    check_nothing_changes(folder, kBesideRun + "--out x.csv --resume",
                          "x.csv: is not a table that --resume could go on with");
  }
  std::filesystem::remove(folder / "x.csv");
  check_runs(folder, kBesideRun + "--out whole.csv");
  const std::string whole = read_text(folder / "whole.csv");
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, whole.find('\n')}) {  // killed in the first line
    write_text(folder / "x.csv", whole.substr(0, length));
    check_runs(folder, kBesideRun + "--out x.csv --resume");
    CHECK(read_text(folder / "x.csv").substr(0, whole.find('\n')) == whole.substr(0, whole.find('\n')));
  }
}

TEST_CASE(
    "a folder of --save-output with the outputs of another result is not written into, whatever the run is told") {
  TemporaryFolder folder;
  check_runs(folder, kBesideRun + "--seed 1 --out a.csv --save-output outs");
  check_runs(folder, kBesideRun + "--seed 2 --out b.csv --save-output others");
  for (const char* how : {"", " --resume", " --overwrite"}) {
    check_nothing_changes(folder, kBesideRun + "--seed 2 --out c.csv --save-output outs" + how, "has files already");
  }
  check_nothing_changes(folder, kBesideRun + "--seed 2 --out b.csv --save-output outs --overwrite",
                        "has files already");
  check_runs(folder, kBesideRun + "--seed 2 --out b.csv --save-output others --overwrite");
}

TEST_CASE("X.heads.csv says whose draws have a heavy tail, and does not stay beside rows of one head") {
  const TemporaryFolder folder;
  std::vector<double> numbers(std::size_t{2} * 8 * 2);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<double>(i * i));
  write_text(folder / "h.npy", npy_doubles("(2, 8, 2)", numbers));
  const std::string run = "error --q h.npy --k h.npy --v h.npy --methods performer --features 4 --trials 3 --quiet ";
  check_runs(folder, run + "--out x.csv");
  // As if the draws of both heads had the errors 1, 1 and 10 in one norm, and 1, 1.1 and 1.2 in the other.
  croquis::CsvTable table = croquis::read_csv((folder / "x.csv").string());
  for (auto& row : table.rows) {
    const int trial = std::stoi(row[table.column("trial")]);
    row[table.column("spectral_rel")] = trial == 3 ? "10" : "1";
    row[table.column("frobenius_rel")] = fmt::format("{}", 0.9 + 0.1 * trial);
  }
  std::string text = fmt::format("{}\n", fmt::join(table.header, ","));
  for (const auto& row : table.rows) text += fmt::format("{}\n", fmt::join(row, ","));
  write_text(folder / "x.csv", text);
  check_runs(folder, run + "--out x.csv --resume");
  const auto metrics = column_of(folder / "x.heads.csv", "metric"),
             tails = column_of(folder / "x.heads.csv", "heavy_tailed");
  for (const auto& [metric, tail] : {std::pair("spectral_rel", "yes"), {"frobenius_rel", "no"}}) {
    CAPTURE_BINDING(metric);
    CHECK(tails.at(static_cast<std::size_t>(std::find(metrics.begin(), metrics.end(), metric) - metrics.begin())) ==
          tail);
  }
  for (const char* end : {".csv", ".meta.json", ".summary.csv"})
    std::filesystem::remove(folder / (std::string("x") + end));
  check_runs(folder, run + "--head 0 --out x.csv");
  CHECK_FALSE(std::filesystem::exists(folder / "x.heads.csv"));
}

TEST_CASE("rows of another run that come under the name of a summary while a run goes on are not replaced") {
  TemporaryFolder folder;
  const std::string long_run =
      "error --input gaussian --n 512 --p 16 --methods skeinformer --features 256 --trials 300 --threads 1 --quiet "
      "--out x.csv ";
  Process run(words(long_run), folder.path());
  while (!std::filesystem::exists(folder / "x.meta.json")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  check_runs(folder, kBesideRun + "--out x.summary.csv");
  const std::string rows = read_text(folder / "x.summary.csv");
  const ProgramRun ended = run.wait();
  CHECK(ended.status == 2);
  CHECK_MESSAGE(contains(ended.output, "x.summary.csv: was made by somebody else while this run went on"),
                ended.output);
  CHECK(read_text(folder / "x.summary.csv") == rows);
  for (const char* end : {".csv", ".meta.json"}) {
    std::filesystem::rename(folder / (std::string("x.summary") + end), folder / (std::string("moved") + end));
  }
  check_runs(folder, long_run + "--resume");
  CHECK(contains(read_text(folder / "x.summary.csv"), "metric,count,failed,"));
}
