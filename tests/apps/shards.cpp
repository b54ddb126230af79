// --shard and croquis merge, from the outside.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <croquis/io/csv.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/shard_runs.hpp"
#include "support/program.hpp"
#include "support/small_runs.hpp"
#include "support/text.hpp"

TEST_CASE("croquis merge: shards of every command make the rows of one run, in its order, with its summary") {
  struct Case {
    std::string command;
    bool same_summary;  // none, or one of measured times, otherwise
  };
  for (const Case& c :
       {Case{kSmallShards + "--trials 3 ", true}, Case{"variance --p 4 --features 4,8 --norms 1,2 --trials 3 ", true},
        Case{"sketch --input gaussian --n 60 --p 6 --sketches gaussian,sjlt --landmarks uniform "
             "--features 8 --trials 2 ",
             false},
#ifdef NDEBUG
        Case{"cost --n 64,96 --p 8 --features 8 --repeats 2 --warmup 0 --methods linformer ", false},
#endif
        Case{"spectrum --input gaussian --n 40 --p 6 ", true},
        Case{"dimension --input gaussian --n 24,32 --p 4 --trials 3 ", true},
        Case{"verify --quick --claims nys.* --input gaussian --n 40 --p 4 --norm 3 ", false}}) {
    CAPTURE(c.command);
    TemporaryFolder folder;
    const ProgramRun whole = run_croquis(c.command + "--quiet --out whole.csv", folder.path());
    REQUIRE_MESSAGE(whole.status == 0, whole.output);
    run_shards(folder, c.command, 3);
    const ProgramRun merge = run_croquis("merge all.csv p3.csv p1.csv p2.csv", folder.path());
    REQUIRE_MESSAGE(merge.status == 0, merge.output);
    CHECK(fixed_table(folder / "all.csv").rows == fixed_table(folder / "whole.csv").rows);
    if (c.same_summary) {
      CHECK(read_text(folder / "all.summary.csv") == read_text(folder / "whole.summary.csv"));
    }
    // Nobody has done another's work.
    std::size_t rows = 0;
    for (const char* part : {"p1.csv", "p2.csv", "p3.csv"}) {
      rows += croquis::read_csv((folder / part).string()).rows.size();
    }
    CHECK(rows == croquis::read_csv((folder / "whole.csv").string()).rows.size());
  }
}

TEST_CASE("croquis merge: the merged result is one that --resume goes on with") {
  TemporaryFolder folder;
  run_shards(folder, kSmallShards + "--trials 2", 2);
  REQUIRE(run_croquis("merge all.csv p1.csv p2.csv", folder.path()).status == 0);
  const std::string before = read_text(folder / "all.csv");
  const ProgramRun again = run_croquis(kSmallShards + "--trials 2 --out all.csv --resume", folder.path());
  CHECK_MESSAGE(again.status == 0, again.output);
  CHECK(again.output.find("skyformer") != std::string::npos);  // the table
  CHECK(read_text(folder / "all.csv") == before);
  REQUIRE(run_croquis(kSmallShards + "--trials 3 --out all.csv --resume --quiet", folder.path()).status == 0);
  REQUIRE(run_croquis(kSmallShards + "--trials 3 --out whole.csv --quiet", folder.path()).status == 0);
  CHECK(rows_of(folder / "all.csv") == rows_of(folder / "whole.csv"));
}

TEST_CASE("croquis --shard: a part that was interrupted resumes; merge takes it then, and as no other shard") {
  TemporaryFolder folder;
  const std::string command = kSmallShards + "--trials 3";
  REQUIRE(run_croquis(command + " --quiet --out whole.csv", folder.path()).status == 0);
  run_shards(folder, command, 2);
  const std::string part = read_text(folder / "p2.csv");
  auto meta = nlohmann::json::parse(read_text(folder / "p2.meta.json"));
  meta.erase("finished");
  write_text(folder / "p2.csv", part.substr(0, part.size() / 2));
  write_text(folder / "p2.meta.json", meta.dump());
  const ProgramRun early = run_croquis("merge all.csv p1.csv p2.csv", folder.path());
  CHECK(early.status == 2);
  CHECK(early.output.find("p2.csv: is not finished") != std::string::npos);
  for (const char* show : {"show ", "report --out r.html "}) {  // what is there is not taken for the whole
    const auto said = [&](const char* file, const char* text) {
      return run_croquis(std::string(show) + file, folder.path()).output.find(text) != std::string::npos;
    };
    CHECK(said("p2.csv", "p2.csv: its run has not finished, and results are missing"));
    CHECK(said("p1.csv", "p1.csv: part 1/2 of a run, and results are missing"));
    CHECK_FALSE(said("whole.csv", "results are missing"));
  }
  const ProgramRun other = run_croquis(command + " --quiet --shard 1/2 --out p2.csv --resume", folder.path());
  CHECK(other.status == 2);
  CHECK(other.output.find("--shard was 2/2 and is 1/2") != std::string::npos);
  // A row of the other shard, which this run would not make.
  const std::string first = read_text(folder / "p1.csv");
  write_text(folder / "p2.csv", part + first.substr(first.find('\n') + 1));
  const std::string mixed = read_text(folder / "p2.csv");
  const ProgramRun rows = run_croquis(command + shard_of(2, 2) + " --resume", folder.path());
  CHECK(rows.status == 2);
  CHECK_MESSAGE(contains(rows.output, fmt::format("line {} (input,method,preset,features,trial = ",
                                                  1 + std::count(part.begin(), part.end(), '\n'))),
                rows.output);
  CHECK_MESSAGE(contains(rows.output, "is none of the rows of this run"), rows.output);
  CHECK(read_text(folder / "p2.csv") == mixed);
  write_text(folder / "p2.csv", part.substr(0, part.size() / 2));
  REQUIRE(run_croquis(command + shard_of(2, 2) + " --resume", folder.path()).status == 0);
  REQUIRE(run_croquis("merge all.csv p1.csv p2.csv", folder.path()).status == 0);
  CHECK(rows_of(folder / "all.csv") == rows_of(folder / "whole.csv"));
}

TEST_CASE("croquis --shard: what is none, and what a part cannot do, is one line and status 2") {
  TemporaryFolder folder;
  for (const std::string arguments :
       {"error --shard 0/2", "error --shard 3/2", "error --shard 1", "error --shard 1/", "error --shard /2",
        "error --shard -1/2", "error --shard 1/2x", "error --shard 1/99999999999999999999", "cost --shard 2/1",
        "error --shard 1/2 --plot e.svg", "verify --shard 1/2 --expect v.txt"}) {
    const ProgramRun run = run_croquis(arguments, folder.path());
    CAPTURE(arguments);
    CAPTURE(run.output);
    CHECK(run.status == 2);
    CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
    CHECK(std::filesystem::is_empty(folder.path()));
  }
}

TEST_CASE("croquis --shard: more shards than cells leave some without rows, and merge all the same") {
  TemporaryFolder folder;
  const std::string command = "error --input gaussian --n 40 --p 4 --methods v-mean --features 4,8 ";
  REQUIRE(run_croquis(command + "--quiet --out whole.csv", folder.path()).status == 0);
  run_shards(folder, command, 3);
  CHECK(croquis::read_csv((folder / "p3.csv").string()).rows.empty());
  REQUIRE(run_croquis("merge all.csv p1.csv p2.csv p3.csv", folder.path()).status == 0);
  CHECK(rows_of(folder / "all.csv") == rows_of(folder / "whole.csv"));
}
