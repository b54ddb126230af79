// A run that is killed, wherever it is, and resumed, gives the rows of one that was not.
#include <doctest/doctest.h>
#include <croquis/random/key.hpp>

#include <chrono>
#include <csignal>
#include <thread>

#include "support/process.hpp"
#include "support/seed.hpp"
#include "support/small_runs.hpp"

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::vector<std::string> command(const std::string& line, const std::string& out) {
  std::vector<std::string> arguments = words(line);
  for (const char* common : {"--quiet", "--resume", "--threads=2", "--out"}) arguments.emplace_back(common);
  arguments.push_back(out);
  return arguments;
}

void remove_results(const TemporaryFolder& folder, const std::string& name) {
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    if (file.path().filename().string().starts_with(name)) std::filesystem::remove(file.path());
  }
}

}  // namespace

TEST_CASE("killed at fifty random moments and resumed, every command has the rows of an uninterrupted run") {
  for (const std::string& line : kSmallRuns) {
    CAPTURE(line);
    TemporaryFolder folder;
    croquis::Engine engine = croquis::Key(test_seed()).child("killed").engine();
    const auto start = std::chrono::steady_clock::now();
    REQUIRE(run_process(command(line, "whole.csv"), folder.path()).status == 0);
    const auto length = std::chrono::steady_clock::now() - start;
    const Rows whole = sorted_rows(folder / "whole.csv");
    const auto compare = [&] {
      const Rows rows = sorted_rows(folder / "part.csv");
      CHECK(rows == whole);
    };
    for (int kills = 0; kills < 50;) {
      Process process(command(line, "part.csv"), folder.path());
      std::this_thread::sleep_for(length * static_cast<double>(engine() % 1000) / 1000);
      process.send(SIGKILL);
      const ProgramRun run = process.wait();
      CHECK_MESSAGE((run.status == 0 || run.status == 128 + SIGKILL), run.output);
      kills += run.status != 0;
      if (run.status != 0) continue;
      compare();  // it was faster
      remove_results(folder, "part.");
    }
    const ProgramRun last = run_process(command(line, "part.csv"), folder.path());
    CHECK_MESSAGE(last.status == 0, last.output);
    compare();
  }
}

TEST_CASE("killed within a write, at any byte of the rows or of the meta file, and resumed: the same rows") {
  for (const std::string& line : kSmallRuns) {
    CAPTURE(line);
    TemporaryFolder folder;
    croquis::Engine engine = croquis::Key(test_seed()).child("torn").engine();
    REQUIRE(run_process(command(line, "whole.csv"), folder.path()).status == 0);
    const Rows whole = sorted_rows(folder / "whole.csv");
    const std::string bytes = read_text(folder / "whole.csv");
    const std::size_t size = bytes.size();
    // Not in the last quarter: times have fewer digits in some runs, which might end within the limit.
    const std::size_t most_of_it = size - size / 4;
    // The second end is within the meta file of a resumed run, before or after some rows.
    for (int times = 0; times < 4; ++times) {
      for (const std::size_t most : {most_of_it, std::min<std::size_t>(most_of_it, 1000)}) {
        const std::size_t limit = std::max(kSmallestFile, 1 + engine() % most);
        CAPTURE(limit);
        const ProgramRun torn = run_process(command(line, "part.csv"), folder.path(), {.largest_file = limit});
        CHECK_MESSAGE(torn.status == 2, torn.output);
        // A death within the write of a row leaves its beginning; that of a meta file leaves the one before.
        const std::size_t from = bytes.find('\n') + 1 + engine() % (size / 2);
        const std::size_t begin = bytes.find('\n', from) + 1, length = bytes.find('\n', begin) - begin;
        if (std::filesystem::exists(folder / "part.csv") && begin < size) {
          write_text(folder / "part.csv",
                     read_text(folder / "part.csv") + bytes.substr(begin, engine() % (length + 1)));
        }
      }
      const ProgramRun last = run_process(command(line, "part.csv"), folder.path());
      CHECK_MESSAGE(last.status == 0, last.output);
      CHECK(sorted_rows(folder / "part.csv") == whole);
      remove_results(folder, "part.");
    }
  }
}

TEST_CASE("SIGINT and SIGTERM: the row is finished, a line says how to go on, exit status 130 and 143") {
  TemporaryFolder folder;
  for (const int signal : {SIGINT, SIGTERM}) {
    // More rows than it can make until the signal comes.
    const char* line = "error --n 64 --p 8 --methods v-mean,performer --features 8,16 --trials 900000";
    Process process(command(line, "stopped.csv"), folder.path());
    while (!std::filesystem::exists(folder / "stopped.csv") || read_text(folder / "stopped.csv").size() < 5000) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    process.send(signal);
    const ProgramRun run = process.wait();
    CHECK(run.status == (signal == SIGINT ? 130 : 143));
    CHECK(run.output ==
          "croquis error: stopped; finished rows are in stopped.csv, the same command with --resume continues it\n");
    CHECK(read_text(folder / "stopped.csv").ends_with(",ok,NA,NA,64\n"));
    CHECK_FALSE(std::filesystem::exists(folder / "stopped.summary.csv"));
    remove_results(folder, "stopped.");
  }
}

TEST_CASE("choose: what has been computed when a signal comes is in X.draws.csv, which the line names") {
  TemporaryFolder folder;
  const char* line =
      "choose --input gaussian --n 64 --p 8 --eps 99 --delta 0.00001 --trials 900000 --methods performer";
  write_text(folder / "stopped.json", "{\"choices\": []}\n");  // of an earlier result
  Process process(command(line, "stopped.csv"), folder.path());
  while (!std::filesystem::exists(folder / "stopped.draws.csv") ||
         read_text(folder / "stopped.draws.csv").size() < 5000) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  process.send(SIGINT);
  const ProgramRun run = process.wait();
  CHECK(run.status == 130);
  CHECK(
      run.output ==
      "croquis choose: stopped; finished rows are in stopped.draws.csv, the same command with --resume continues it\n");
  CHECK(read_text(folder / "stopped.csv").find('\n') == read_text(folder / "stopped.csv").size() - 1);
  CHECK_FALSE(std::filesystem::exists(folder / "stopped.json"));
}

TEST_CASE("a result of a file whose name is not UTF-8 is resumed, and noted in JSON that is") {
  TemporaryFolder folder;
  const std::string text = "\xff\xfe.txt";
  write_text(folder / text, "a b c d e f g h i j k l m n o p\n");
  std::vector<std::string> arguments = command("error --n 12 --p 4 --methods v-mean --features 4", "r.csv");
  for (const std::string& more : {std::string("--text"), text}) arguments.push_back(more);
  for (int times = 0; times < 2; ++times) {
    const ProgramRun run = run_process(arguments, folder.path());
    CHECK_MESSAGE(run.status == 0, run.output);
  }
  CHECK(read_text(folder / "r.meta.json").find('\xff') == std::string::npos);
}
