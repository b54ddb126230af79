// Files that a run is given or finds: damaged, edited, replaced, links, pipes. Nobody's file is lost, and no row
// either.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <croquis/io/csv.hpp>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "apps/small_errors.hpp"
#include "support/process.hpp"
#include "support/text.hpp"

namespace {

// How many there were.
std::size_t remove_hidden_files(const TemporaryFolder& folder) {
  std::vector<std::filesystem::path> hidden;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    if (file.path().filename().string().starts_with('.')) hidden.push_back(file.path());
  }
  for (const auto& path : hidden) std::filesystem::remove(path);
  return hidden.size();
}

}  // namespace

TEST_CASE(
    "a result that is removed and made again by another run: each run ends with its rows, or says where they are") {
  TemporaryFolder folder;
  const std::string line = "error --n 64 --p 8 --methods v-mean,performer --features 8,16 --quiet --out e.csv ";
  Process first(words(line + "--trials 900000"), folder.path());
  while (!std::filesystem::exists(folder / "e.csv") || read_text(folder / "e.csv").size() < 20000) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::filesystem::remove(folder / "e.csv");
  const ProgramRun second = run_process(words(line + "--trials 40 --seed 2"), folder.path());
  CHECK_MESSAGE(second.status == 0, second.output);
  const ProgramRun run = first.wait();
  CHECK(run.status == 2);
  CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
  CHECK_MESSAGE(contains(run.output, "e.csv: was removed or replaced while this run was writing it"), run.output);
  CHECK_MESSAGE(contains(run.output, "e.rescued-1.csv"), run.output);
  const croquis::CsvTable others = croquis::read_csv((folder / "e.csv").string());
  CHECK(others.rows.size() == 2 + 2 * 40);
  for (const auto& row : others.rows) CHECK(row[others.column("seed")] == "2");
  CHECK(nlohmann::json::parse(read_text(folder / "e.meta.json"))["finished"]["rows"] == others.rows.size());
  const croquis::CsvTable rescued = croquis::read_csv((folder / "e.rescued-1.csv").string());
  CHECK(rescued.rows.size() > 50);
  for (const auto& row : rescued.rows) CHECK(row[rescued.column("seed")] == "1");
}

TEST_CASE("a result that is moved while it is made: the run says what its name is now, and leaves no copy") {
  // Removed from under one of its names, it has no name that is known, and its rows are copied as if it had none.
  enum class Change { file, folder, other_link };
  for (const Change change : {Change::file, Change::folder, Change::other_link}) {
    CAPTURE(static_cast<int>(change));
    TemporaryFolder folder;
    std::filesystem::create_directory(folder / "in");
    const std::filesystem::path file = folder / "in" / "e.csv";
    const std::string line = "error --n 64 --p 8 --methods v-mean,performer --features 8,16 --quiet --out in/e.csv ";
    Process process(words(line + "--trials 900000"), folder.path());
    while (!std::filesystem::exists(file) || read_text(file).size() < 20000) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::filesystem::path now = folder / "in" / "was.csv";
    if (change == Change::other_link) {
      std::filesystem::create_hard_link(file, now);
      std::filesystem::remove(file);
      now = folder / "in" / "e.rescued-1.csv";
    } else if (change == Change::file) {
      std::filesystem::rename(file, now);
    } else {
      std::filesystem::rename(folder / "in", folder / "moved");
      now = folder / "moved" / "e.csv";
    }
    const ProgramRun run = process.wait();
    check_refused(run, now.filename().string());
    if (change != Change::other_link) {
      CHECK_MESSAGE(contains(run.output, "in/e.csv: was moved while this run was writing it"), run.output);
      CHECK_MESSAGE(run.output.ends_with("are in " + std::filesystem::canonical(now).string() + "\n"), run.output);
    }
    CHECK(std::filesystem::exists(now.parent_path() / "e.rescued-1.csv") == (change == Change::other_link));
    const croquis::CsvTable rows = croquis::read_csv(now.string());
    CHECK(rows.rows.size() > 50);
  }
}

TEST_CASE("a result whose rows somebody removes while it is made: the run does not end as finished") {
  TemporaryFolder folder;
  const std::string line = "error --n 64 --p 8 --methods v-mean,performer --features 8,16 --quiet --out e.csv ";
  Process run(words(line + "--trials 300"), folder.path());
  while (!std::filesystem::exists(folder / "e.csv") || read_text(folder / "e.csv").size() < 5000) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::string header = lines_in(folder / "e.csv").front();
  std::filesystem::resize_file(folder / "e.csv", header.size() + 1);
  const ProgramRun end = run.wait();
  CHECK(end.status == 2);
  CHECK_MESSAGE(contains(end.output, "are gone"), end.output);
  check_done(folder, line + "--trials 300 --resume");
  CHECK(croquis::read_csv((folder / "e.csv").string()).rows.size() == 2 + 2 * 300);
}

TEST_CASE(
    "links: --out and --plot write what they point to, with any number of threads, and planted ones are not followed") {
  for (const char* threads : {"1", "2"}) {
    TemporaryFolder folder;
    std::filesystem::create_directory(folder / "far");
    for (const char* name : {"e.csv", "e.svg"}) {
      std::filesystem::create_symlink(std::filesystem::path("far") / name, folder / name);
    }
    write_text(folder / "victim", "keep\n");
    for (const char* name : {".part-e.csv", ".part-e.meta.json", ".part-e.svg", ".part-e.summary.csv"}) {
      std::filesystem::create_symlink("victim", folder / name);
    }
    check_done(folder, kSmallGivenFiles + "--features 8,16 --trials 40 --out e.csv --plot e.svg --threads " + threads);
    CHECK(std::filesystem::is_symlink(folder / "e.csv"));
    CHECK(std::filesystem::is_symlink(folder / "e.svg"));
    CHECK(croquis::read_csv((folder / "far" / "e.csv").string()).rows.size() == 2 + 2 * 40);
    CHECK(contains(read_text(folder / "far" / "e.svg"), "</svg>"));
    CHECK(read_text(folder / "victim") == "keep\n");
  }
}

TEST_CASE("pipes, devices and open descriptors are refused as results, at once and without files beside them") {
  TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe.csv").c_str(), 0600) == 0);
  REQUIRE(::mkfifo((folder / "pipe.svg").c_str(), 0600) == 0);
  std::filesystem::create_symlink("/dev/stdout", folder / "out.csv");
  std::filesystem::create_symlink("loop.csv", folder / "loop.csv");
  for (const char* how : {"", " --resume", " --overwrite"}) {
    check_refused(folder, kSmallGivenFiles + kTrials + "--out pipe.csv" + how,
                  "pipe.csv: cannot be written: it is not a regular file");
    check_refused(folder, kSmallGivenFiles + kTrials + "--out /dev/stdout" + how, "/dev/stdout: cannot be written");
    check_refused(folder, kSmallGivenFiles + kTrials + "--out out.csv" + how, "out.csv: cannot be written");
    check_refused(folder, kSmallGivenFiles + kTrials + "--out loop.csv" + how,
                  "loop.csv: is a link that leads nowhere");
    check_refused(folder, kSmallGivenFiles + kTrials + "--out e.csv --plot pipe.svg" + how,
                  "pipe.svg: cannot be written");
  }
  const ProgramRun redirected = run_croquis(kSmallGivenFiles + kTrials + "--out /dev/stdout >all.txt", folder.path());
  CHECK(redirected.status == 2);
  CHECK(read_text(folder / "all.txt").empty());
  CHECK_FALSE(std::filesystem::exists("/dev/stdout.meta.json"));
  check_done(folder, kSmallGivenFiles + kTrials + "--out e.csv");
  std::filesystem::remove(folder / "e.meta.json");
  REQUIRE(::mkfifo((folder / "e.meta.json").c_str(), 0600) == 0);
  check_refused(folder, kSmallGivenFiles + kTrials + "--out e.csv --resume", "e.meta.json: is missing or damaged");
}

TEST_CASE("files of one run that would be one file, or another result's: refused before anything is written") {
  TemporaryFolder folder;
  check_refused(folder, kSmallGivenFiles + kTrials + "--out z.svg --plot z.svg", "z.svg would be --plot too");
  check_refused(folder, kSmallGivenFiles + kTrials + "--out z.svg --plot ./z.svg", "z.svg would be --plot too");
  CHECK(std::filesystem::is_empty(folder.path()));
  check_done(folder, kSmallGivenFiles + kTrials + "--out a.csv");
  const std::string meta = read_text(folder / "a.meta.json");
  check_refused(folder, kSmallGivenFiles + kTrials + "--out a", "a: its meta file would be that of a.csv");
  check_refused(folder, kSmallGivenFiles + kTrials + "--out a --overwrite", "a: its meta file would be that of a.csv");
  CHECK(read_text(folder / "a.meta.json") == meta);
  // Renamed together, they are a result as before.
  std::filesystem::rename(folder / "a.csv", folder / "b.csv");
  std::filesystem::rename(folder / "a.meta.json", folder / "b.meta.json");
  check_done(folder, kSmallGivenFiles + kTrials + "--out b.csv --resume");
  write_text(folder / "Q.npy", std::string("\x93NUMPY\x01\0", 8));
  check_refused(folder, kSmallGivenFiles + kTrials + "--out Q.npy --overwrite",
                "Q.npy: is not a table that --overwrite could replace");
  CHECK(read_text(folder / "Q.npy").size() == 8);
}

TEST_CASE("--overwrite: what the earlier result had beside its rows goes with it, and nothing else does") {
  TemporaryFolder folder;
  const std::string error = kSmallGivenFiles + kTrials + "--out r.csv", results[] = {"r.summary.csv", "r.heads.csv"};
  check_done(folder, error);
  write_text(folder / "r.heads.csv", "method,features,metric,heads,failed,median\nv-mean,8,max_abs,3,0,0.5\n");
  write_text(folder / "r.layers.csv", "my own notes\n");
  check_done(folder, kSmallGivenFiles + kTrials + "--out r.steps.csv");  // another result
  check_done(folder,
             "choose --input gaussian --n 32 --p 4 --eps 5 --methods v-mean --features 4 --quiet --out r.csv "
             "--overwrite");
  for (const std::string& name : results) CHECK_FALSE(std::filesystem::exists(folder.path() / name));
  CHECK(std::filesystem::exists(folder / "r.draws.csv"));
  CHECK(read_text(folder / "r.layers.csv") == "my own notes\n");
  check_done(folder, error + " --overwrite");
  CHECK_FALSE(std::filesystem::exists(folder / "r.draws.csv"));
  CHECK(std::filesystem::exists(folder / "r.summary.csv"));
  CHECK(std::filesystem::exists(folder / "r.steps.csv"));
  // Of a name without rows nothing is known.
  write_text(folder / "new.heads.csv", "a,b\n1,2\n");
  check_done(folder, kSmallGivenFiles + kTrials + "--out new.csv --overwrite");
  CHECK(std::filesystem::exists(folder / "new.heads.csv"));
}

TEST_CASE("--out of a table beside the rows of a run, or of no table: refused in any way, and nothing else advised") {
  TemporaryFolder folder;
  check_done(folder, kSmallGivenFiles + kTrials + "--out a.csv");
  const std::string summary = read_text(folder / "a.summary.csv");
  write_text(folder / "notes.csv", "my own notes\n");
  for (const char* option : {"", "--overwrite"}) {
    check_refused(folder, kSmallGivenFiles + kTrials + "--out a.summary.csv " + option,
                  "a.summary.csv: is a table beside the rows of a run; remove it, or give another --out");
    check_refused(folder, fmt::format("merge a.summary.csv a.csv {}", option), "is a table beside the rows of a run");
    check_refused(folder, kSmallGivenFiles + kTrials + "--out notes.csv " + option,
                  "notes.csv: is not a table that --overwrite could replace; remove it, or give another --out");
  }
  check_refused(folder, kSmallGivenFiles + kTrials + "--out a.summary.csv --resume",
                "a.summary.csv: has other columns");
  CHECK(read_text(folder / "a.summary.csv") == summary);
  CHECK(read_text(folder / "notes.csv") == "my own notes\n");
  CHECK_FALSE(std::filesystem::exists(folder / "a.summary.meta.json"));
  // Rows under such a name are rows.
  check_done(folder, kSmallGivenFiles + kTrials + "--out b.summary.csv");
  check_done(folder, kSmallGivenFiles + kTrials + "--out b.summary.csv --overwrite");
}

TEST_CASE("croquis choose: X.json that is no choice is not replaced") {
  TemporaryFolder folder;
  const std::string choose =
      "choose --input gaussian --n 32 --p 4 --eps 5 --methods v-mean --features 4 --quiet --out config.csv";
  write_text(folder / "config.json", "{\"hidden_size\": 4}\n");
  for (const char* how : {"", " --overwrite", " --resume"}) {
    check_refused(folder, choose + how, "config.json: is there, is no choice, and would be replaced");
  }
  CHECK(read_text(folder / "config.json") == "{\"hidden_size\": 4}\n");
  CHECK_FALSE(std::filesystem::exists(folder / "config.csv"));
  std::filesystem::remove(folder / "config.json");
  check_done(folder, choose);
  check_done(folder, choose + " --overwrite");
}

TEST_CASE("names that are none of a file are refused as results") {
  TemporaryFolder folder;
  check_refused(folder, kSmallGivenFiles + kTrials + "--out -",
                "-: cannot be written: it is not a regular file but an open descriptor; give a file");
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--out", ""}, {"--plot", ""}, {"--out=", "--quiet"}}) {
    std::vector<std::string> arguments = words(kSmallGivenFiles + kTrials);
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramRun run = run_process(arguments, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE((contains(run.output, ": is empty, perhaps from a shell variable that is not set") ||
                   contains(run.output, "'--quiet' looks like an option; of a file, write ./--quiet")),
                  run.output);
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("killed at any moment, a run leaves no file but its own, or one between two calls of the system") {
  TemporaryFolder folder;
  int left = 0;
  for (int delay = 0; delay < 40; ++delay) {
    Process process(words(kSmallGivenFiles + kTrials + "--out e.csv --plot e.svg --overwrite"), folder.path());
    std::this_thread::sleep_for(std::chrono::milliseconds(5 * delay));
    process.send(SIGKILL);
    process.wait();
    left += static_cast<int>(remove_hidden_files(folder));
  }
  CHECK(left <= 2);
}

TEST_CASE("a pipe under the name of a table that the run does not write is not waited for") {
  TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "e.heads.csv").c_str(), 0600) == 0);
  const ProgramRun run =
      run_command("timeout -s KILL 60 $CROQUIS " + kSmallGivenFiles + kTrials + "--out e.csv", folder.path());
  CHECK_MESSAGE(run.status == 0, run.output);
  CHECK(std::filesystem::is_fifo(folder / "e.heads.csv"));
}
