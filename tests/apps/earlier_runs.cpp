// How rows were made that were there before, or in parts: in the meta file, and on the page.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "apps/shard_runs.hpp"
#include "apps/small_errors.hpp"
#include "support/process.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

// A result whose meta file tells of another machine, as a colleague's.
void make_elsewhere(const TemporaryFolder& folder, const std::string& name, bool is_finished) {
  auto meta = nlohmann::json::parse(read_text(folder / (name + ".meta.json")));
  meta["command_line"] = "croquis elsewhere";
  meta["environment"]["processor"] = "Elsewhere & Co";
  meta["utc"] = "2001-01-01T00:00:00Z";
  if (!is_finished) meta.erase("finished");
  write_text(folder / (name + ".meta.json"), meta.dump());
}

nlohmann::json meta_of(const TemporaryFolder& folder, const std::string& name) {
  return nlohmann::json::parse(read_text(folder / (name + ".meta.json")));
}

}  // namespace

TEST_CASE("--resume: the meta file says how the rows were made that were there, and so do merged parts and pages") {
  TemporaryFolder folder;
  const std::string command = kSmallShards + "--trials 2 --quiet --out e.csv";
  REQUIRE(run_croquis(command, folder.path()).status == 0);
  make_elsewhere(folder, "e", true);
  // Nothing to compute: the rows are what the run elsewhere has made.
  auto before = meta_of(folder, "e");
  REQUIRE(run_croquis(command + " --resume --plot e.svg", folder.path()).status == 0);
  CHECK(meta_of(folder, "e") == before);
  // Half of the rows are gone.
  make_elsewhere(folder, "e", false);
  const std::string rows = read_text(folder / "e.csv");
  write_text(folder / "e.csv", rows.substr(0, rows.size() / 2));
  before = meta_of(folder, "e");
  for (const char* more : {"", " --plot e.svg"}) {  // and once more, with nothing to compute
    REQUIRE(run_croquis(command + " --resume" + more, folder.path()).status == 0);
    const auto after = meta_of(folder, "e");
    CHECK(after["environment"]["processor"] != "Elsewhere & Co");
    CHECK(after["command_line"] != "croquis elsewhere");
    CHECK(after.contains("finished"));
    REQUIRE(after["earlier"].size() == 1);
    CHECK(after["earlier"][0].size() == 4);
    for (const char* key : {"command_line", "environment", "threads", "utc"}) {
      CHECK(after["earlier"][0][key] == before[key]);
    }
  }
  // A third run adds the second to them.
  const auto second = meta_of(folder, "e");
  REQUIRE(run_croquis(kSmallShards + "--trials 3 --quiet --out e.csv --resume", folder.path()).status == 0);
  const auto third = meta_of(folder, "e");
  REQUIRE(third["earlier"].size() == 2);
  CHECK(third["earlier"][0] == second["earlier"][0]);
  CHECK(third["earlier"][1]["command_line"] == second["command_line"]);
  // A run that is stopped and continued by one command, however often, is there once.
  for (int again = 0; again < 3; ++again) {
    auto stopped = meta_of(folder, "e");
    stopped["utc"] = fmt::format("2001-01-0{}T00:00:00Z", again + 2);
    stopped.erase("finished");
    write_text(folder / "e.meta.json", stopped.dump());
    write_text(folder / "e.csv", rows.substr(0, rows.size() / 2));
    REQUIRE(run_croquis(kSmallShards + "--trials 3 --quiet --out e.csv --resume", folder.path()).status == 0);
    const auto continued = meta_of(folder, "e");
    CHECK(continued["utc"] != stopped["utc"]);
    REQUIRE(continued["earlier"].size() == 3);
    CHECK(continued["earlier"][2]["command_line"] == third["command_line"]);
    CHECK(continued["earlier"][2]["utc"] == "2001-01-02T00:00:00Z");
  }
  // --overwrite makes all of them.
  REQUIRE(run_croquis(command + " --overwrite", folder.path()).status == 0);
  CHECK_FALSE(meta_of(folder, "e").contains("earlier"));
}

TEST_CASE("the meta file has the number of threads that the run took") {
  TemporaryFolder folder;
  for (const int threads : {1, 3}) {
    REQUIRE(run_croquis(fmt::format("{} --quiet --overwrite --out e.csv --threads {}", kSmallShards, threads),
                        folder.path())
                .status == 0);
    CHECK(meta_of(folder, "e")["threads"] == threads);
  }
}

TEST_CASE("croquis merge: how parts were made is kept by --resume, with what was before a part, and is on the page") {
  TemporaryFolder folder;
  const std::string command = kSmallShards + "--trials 2";
  run_shards(folder, command, 2);
  make_elsewhere(folder, "p2", false);
  const std::string rows = read_text(folder / "p2.csv");
  write_text(folder / "p2.csv", rows.substr(0, rows.size() / 2));
  REQUIRE(run_croquis(command + shard_of(2, 2) + " --resume", folder.path()).status == 0);
  REQUIRE(run_croquis("merge all.csv p1.csv p2.csv", folder.path()).status == 0);
  const auto merged = meta_of(folder, "all");
  REQUIRE(merged["merged"].size() == 2);
  CHECK_FALSE(merged.contains("earlier"));
  CHECK_FALSE(merged["merged"][0].contains("earlier"));
  CHECK(merged["merged"][1]["earlier"][0]["environment"]["processor"] == "Elsewhere & Co");
  REQUIRE(run_croquis(command + " --quiet --out all.csv --resume", folder.path()).status == 0);
  CHECK(meta_of(folder, "all") == merged);
  const auto page = [&] {
    REQUIRE(run_croquis("report all.csv --out r.html", folder.path()).status == 0);
    return read_text(folder / "r.html");
  };
  for (const char* text :
       {"It was merged from parts.", "3 runs made the rows", "<dt>p1.csv, 2", "<dd>croquis elsewhere</dd>",
        "Versions and machine of 2 of them", "Versions and machine of 1 of them", "<dd>Elsewhere &amp; Co</dd>"}) {
    CAPTURE(text);
    CHECK(page().find(text) != std::string::npos);
  }
  REQUIRE(run_croquis(kSmallShards + "--trials 3 --quiet --out all.csv --resume", folder.path()).status == 0);
  CHECK(meta_of(folder, "all")["earlier"] == merged["merged"]);
  CHECK(page().find("It went on with rows of earlier runs.") != std::string::npos);
  CHECK(page().find("3 runs made rows before") != std::string::npos);
}

TEST_CASE("--resume: the program that began a part before the merge is named too") {
  TemporaryFolder folder;
  const std::string command = kSmallShards + "--trials 2";
  run_shards(folder, command, 2);
  auto meta = meta_of(folder, "p2");
  meta["environment"]["croquis"] = "0.9.1";
  meta.erase("finished");
  write_text(folder / "p2.meta.json", meta.dump());
  const std::string rows = read_text(folder / "p2.csv");
  write_text(folder / "p2.csv", rows.substr(0, rows.size() / 2));
  REQUIRE(run_croquis(command + shard_of(2, 2) + " --resume", folder.path()).status == 0);
  REQUIRE(run_croquis("merge all.csv p1.csv p2.csv", folder.path()).status == 0);
  const ProgramRun more = run_process(words(kSmallShards + "--trials 3 --out all.csv --resume"), folder.path());
  REQUIRE_MESSAGE(more.status == 0, more.output);
  CHECK_MESSAGE(contains(more.output, "croquis: all.csv: has rows of croquis 0.9.1 (commit "), more.output);
}

TEST_CASE("--resume: rows of another version or commit of the program are kept, and named once") {
  TemporaryFolder folder;
  const std::string run = kSmallGivenFiles + "--features 8 --out e.csv ";
  check_done(folder, run + "--trials 1");
  const auto before = meta_of(folder, "e");
  const std::string version = before["environment"]["croquis"], commit = before["environment"]["commit"];
  // Goes on, with a line about other programs if `others` is not empty; every row is there in the end.
  const auto check = [&](int trials, const std::string& others) {
    const ProgramRun more = run_process(words(run + "--resume --trials " + std::to_string(trials)), folder.path());
    REQUIRE_MESSAGE(more.status == 0, more.output);
    const std::string said = "croquis: e.csv: has rows of croquis " + others +
                             ", whose draws may be others than those of " + version + " (commit " + commit +
                             "); its rows are kept as they are\n";
    CHECK_MESSAGE(more.output == (others.empty() ? "" : said), more.output);
    CHECK(lines_in(folder / "e.csv").size() == static_cast<std::size_t>(2 + trials));
  };
  check(2, "");
  const auto made_by = [&](const std::string& other_version, const std::string& other_commit) {
    auto meta = meta_of(folder, "e");
    meta["environment"]["croquis"] = other_version;
    meta["environment"]["commit"] = other_commit;
    write_text(folder / "e.meta.json", meta.dump());
  };
  made_by("0.9.1", commit);
  const std::string first = "0.9.1 (commit " + commit + ")";
  check(3, first);
  check(4, first);  // known from the list of earlier runs
  made_by(version, "0123abc");
  check(5, first + " and " + version + " (commit 0123abc)");
}
