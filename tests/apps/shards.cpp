// --shard and croquis merge, from the outside.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <croquis/io/csv.hpp>
#include <croquis/io/digest.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "support/head_arrays.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

const std::string kSmallShards =
    "error --input clustered --n 96 --p 8 --methods v-mean,skyformer,linformer --features 8,16 ";

std::string shard_of(int i, int n) {
  return fmt::format(" --quiet --shard {}/{} --out p{}.csv", i, n, i);
}

void run_shards(const TemporaryFolder& folder, const std::string& command, int n) {
  for (int i = 1; i <= n; ++i) {
    const ProgramRun run = run_croquis(command + shard_of(i, n), folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
  }
}

// The columns that are not measured.
std::vector<std::vector<std::string>> fixed_columns(const std::filesystem::path& file) {
  const croquis::CsvTable table = croquis::read_csv(file.string());
  std::vector<std::vector<std::string>> rows = {{}};
  for (const auto& row : table.rows) {
    rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (table.header[i] != "seconds" && table.header[i] != "peak_bytes") rows.back().push_back(row[i]);
    }
  }
  return rows;
}

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
    CHECK(fixed_columns(folder / "all.csv") == fixed_columns(folder / "whole.csv"));
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

TEST_CASE("croquis merge: choices of shards are those of one run, with their errors and the file for models") {
  TemporaryFolder folder;
  for (const char* name : {"q", "k", "v"}) {  // three heads, so that one of four shards has none
    const std::vector<float> numbers = head_numbers(name, 3 * 40 * 4);
    const std::string bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
    write_text(folder / fmt::format("{}.npy", name), npy_of({3, 40, 4}, bytes));
  }
  const std::string command =
      "choose --q q.npy --k k.npy --v v.npy --eps 0.7 --delta 0.3 --trials 20 --features 4,8 "
      "--methods v-mean,skeinformer,performer ";
  REQUIRE(run_croquis(command + "--quiet --out whole.csv", folder.path()).status == 0);
  run_shards(folder, command, 4);
  CHECK(std::filesystem::exists(folder / "p3.json"));
  CHECK_FALSE(std::filesystem::exists(folder / "p4.json"));
  const ProgramRun merge = run_croquis("merge all.csv p4.csv p2.csv p1.csv p3.csv", folder.path());
  REQUIRE_MESSAGE(merge.status == 0, merge.output);
  CHECK(read_text(folder / "all.csv") == read_text(folder / "whole.csv"));
  CHECK(read_text(folder / "all.json") == read_text(folder / "whole.json"));
  // The errors come in the order in which they are computed, which is another one.
  auto merged = croquis::read_csv((folder / "all.draws.csv").string()).rows,
       made = croquis::read_csv((folder / "whole.draws.csv").string()).rows;
  std::sort(merged.begin(), merged.end());
  std::sort(made.begin(), made.end());
  CHECK(merged == made);
  const ProgramRun again = run_croquis(command + "--out all.csv --resume --plot all.svg", folder.path());
  CHECK_MESSAGE(again.status == 0, again.output);
  CHECK(read_text(folder / "all.csv") == read_text(folder / "whole.csv"));

  // Nothing is written where a part lacks its choices.
  std::filesystem::remove(folder / "p2.json");
  const ProgramRun without = run_croquis("merge other.csv p1.csv p2.csv p3.csv p4.csv", folder.path());
  CHECK(without.status == 2);
  CHECK(without.output.find("p2.json: cannot be opened") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "other.csv"));
}

TEST_CASE("croquis merge: choices with errors or a file for models that were edited, doubled or swapped are refused") {
  TemporaryFolder folder;
  const std::vector<float> numbers = head_numbers("q", 2 * 40 * 4);
  const std::string bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
  for (const char* name : {"q", "k", "v"}) {
    write_text(folder / fmt::format("{}.npy", name), npy_of({2, 40, 4}, bytes));
  }
  const std::string command =
      "choose --q q.npy --k k.npy --v v.npy --eps 9 --delta 0.3 --trials 20 --features 4 --methods performer ";
  run_shards(folder, command, 2);
  const auto refused = [&](const std::string& file, const std::string& says) {
    CAPTURE(file);
    check_refused(run_croquis("merge all.csv p1.csv p2.csv", folder.path()), "p1" + file + says);
    for (const char* made : {"all.csv", "all.meta.json", "all.draws.csv", "all.json"}) {
      CHECK_FALSE(std::filesystem::exists(folder / made));
    }
  };
  const auto changed = [&](const std::string& file, const std::string& text) {
    const std::string before = read_text(folder / ("p1" + file));
    REQUIRE(text != before);
    write_text(folder / ("p1" + file), text);
    refused(file, ": is not as its run wrote it: p1.meta.json says otherwise; make it again");
    write_text(folder / ("p1" + file), before);
  };
  const std::string draws = read_text(folder / "p1.draws.csv"), choice = read_text(folder / "p1.json");
  const std::size_t error = draws.find("0.", draws.find(",double,")) + 2;
  changed(".draws.csv", draws.substr(0, error) + (draws[error] == '1' ? '2' : '1') + draws.substr(error + 1));
  changed(".draws.csv", draws + draws.substr(draws.find('\n') + 1));
  changed(".draws.csv", draws.substr(0, draws.rfind('\n', draws.size() - 2) + 1));
  changed(".draws.csv", read_text(folder / "p2.draws.csv"));
  std::string other = choice;
  const std::string method = "\"performer\"";
  REQUIRE(contains(other, method));
  changed(".json", other.replace(other.find(method), method.size(), "\"v-mean\""));
  changed(".json", read_text(folder / "p2.json"));

  // As of an earlier version, which said nothing of these files; and of nobody.
  const std::string meta = read_text(folder / "p1.meta.json");
  for (const std::string beside : {"", "3", "[]", "{}", "{\".json\": 3, \".draws.csv\": []}"}) {
    CAPTURE(beside);
    auto earlier = nlohmann::json::parse(meta);
    earlier["finished"].erase("beside");
    if (!beside.empty()) earlier["finished"]["beside"] = nlohmann::json::parse(beside);
    write_text(folder / "p1.meta.json", earlier.dump());
    refused(".json", ": p1.meta.json has no digest of it");
  }
  REQUIRE(run_croquis(command + shard_of(1, 2) + " --resume", folder.path()).status == 0);
  const ProgramRun merge = run_croquis("merge all.csv p1.csv p2.csv", folder.path());
  REQUIRE_MESSAGE(merge.status == 0, merge.output);
  // The whole knows its own files, not those of a part.
  const auto beside = nlohmann::json::parse(read_text(folder / "all.meta.json"))["finished"]["beside"];
  REQUIRE(beside.size() == 2);
  for (const char* file : {".json", ".draws.csv"}) {
    CHECK(beside[file] == croquis::digest_of(read_text(folder / (std::string("all") + file))));
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

TEST_CASE("croquis error --resume: rows in any order, some of them missing, become the rows of one run") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmallShards + "--trials 4 --quiet --out whole.csv", folder.path()).status == 0);
  const croquis::CsvTable whole = croquis::read_csv((folder / "whole.csv").string());
  std::string text = fmt::format("{}\n", fmt::join(whole.header, ","));
  for (std::size_t i = whole.rows.size(); i-- > 0;) {
    if (i % 3 == 1) continue;
    std::vector<std::string> row = whole.rows[i];
    for (std::string& field : row) field = croquis::csv_field(field);
    text += fmt::format("{}\n", fmt::join(row, ","));
  }
  write_text(folder / "part.csv", text);
  write_text(folder / "part.meta.json", read_text(folder / "whole.meta.json"));
  const ProgramRun resumed = run_croquis(kSmallShards + "--trials 4 --quiet --out part.csv --resume", folder.path());
  REQUIRE(resumed.status == 0);
  CHECK(resumed.output.find("part.csv: is not as its run wrote it") != std::string::npos);
  CHECK(resumed.output.find("its rows are kept as they are") != std::string::npos);
  CHECK(rows_of(folder / "part.csv") == rows_of(folder / "whole.csv"));
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
  REQUIRE(run_croquis(command + shard_of(2, 2) + " --resume", folder.path()).status == 0);
  REQUIRE(run_croquis("merge all.csv p1.csv p2.csv", folder.path()).status == 0);
  CHECK(rows_of(folder / "all.csv") == rows_of(folder / "whole.csv"));
}

TEST_CASE("croquis merge: what is no whole run is one line that names it, status 2 and no file") {
  TemporaryFolder folder;
  run_shards(folder, kSmallShards + "--trials 2", 3);
  REQUIRE(run_croquis(kSmallShards + "--trials 2 --quiet --shard 2/4 --out of4.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(kSmallShards + "--trials 2 --seed 2 --quiet --shard 2/3 --out seed.csv", folder.path()).status ==
          0);
  REQUIRE(run_croquis(kSmallShards + "--trials 3 --quiet --shard 2/3 --out trials.csv", folder.path()).status == 0);
  REQUIRE(
      run_croquis(kSmallShards + "--trials 2 --scores --quiet --shard 2/3 --out scores.csv", folder.path()).status ==
      0);
  const std::string rows = read_text(folder / "p2.csv"), meta = read_text(folder / "p2.meta.json");
  struct Case {
    std::string arguments, says;
  };
  const auto changed = [&](const std::string& name, const std::string& text, const std::string& about) {
    write_text(folder / (name + ".csv"), text);
    write_text(folder / (name + ".meta.json"), about);
  };
  const std::size_t last = rows.rfind('\n', rows.size() - 2) + 1, first = rows.find('\n') + 1;
  changed("short", rows.substr(0, last), meta);
  // A file that its run cannot have written, with the digest that it would have.
  const std::string twice = rows.substr(0, last) + rows.substr(first, rows.find('\n', first) + 1 - first);
  auto of_twice = nlohmann::json::parse(meta);
  of_twice["finished"]["digest"] = croquis::digest_of(twice);
  changed("double", twice, of_twice.dump());
  changed("damaged", rows, "{}");
  changed("types", rows, R"({"identity": {}, "finished": {"shard": 3}})");
  auto older = nlohmann::json::parse(meta);
  older["environment"]["commit"] = "0000000";
  changed("older", rows, older.dump());
  REQUIRE(run_croquis("variance --p 4 --features 8 --trials 2 --quiet --shard 2/3 --out variance.csv", folder.path())
              .status == 0);
  // Lists of many heads, which differ at their end.
  std::string heads = "q.npy:";
  for (int head = 0; head < 200; ++head) heads += fmt::format("{},", head);
  for (const char* part : {"p1", "p2"}) {
    auto of_many = nlohmann::json::parse(read_text(folder / (std::string(part) + ".meta.json")));
    of_many["identity"]["input"] = heads + part;
    changed(std::string("many-") + part, read_text(folder / (std::string(part) + ".csv")), of_many.dump());
  }
  std::vector<Case> cases = {
      {"all.csv p1.csv variance.csv p3.csv", "p1.csv has command = error, variance.csv has variance; they are not"},
      {"all.csv many-p1.csv many-p2.csv", ",198,199,p1, many-p2.csv has ..."}};
  for (const char* key : {"command_line", "environment", "threads", "utc", "configuration", "identity", "finished"}) {
    auto without = nlohmann::json::parse(meta);
    without.erase(key);
    changed(std::string("no-") + key, rows, without.dump());
    cases.push_back({fmt::format("all.csv p1.csv no-{}.csv p3.csv", key),
                     key == std::string("finished") ? "is not finished"
                                                    : fmt::format("no-{}.meta.json: is missing or damaged", key)});
  }
  // All parts alike, and of no command.
  for (const char* part : {"p1", "p2", "p3"}) {
    auto other = nlohmann::json::parse(read_text(folder / (std::string(part) + ".meta.json")));
    other["identity"]["command"] = "elephant";
    changed(std::string("other-") + part, read_text(folder / (std::string(part) + ".csv")), other.dump());
  }
  cases.push_back({"all.csv other-p1.csv other-p2.csv other-p3.csv", "'elephant' is not a command"});
  write_text(folder / "there.csv", "mine");
  REQUIRE(run_croquis("merge merged.csv p1.csv p2.csv p3.csv", folder.path()).status == 0);
  cases.insert(cases.end(),
               {Case{"", "give OUT.csv"},
                Case{"all.csv", "give PART.csv"},
                Case{"all.csv p1.csv p3.csv", "shard 2/3 is missing"},
                Case{"all.csv p1.csv p2.csv p3.csv p2.csv", "shard 2/3 is there twice"},
                Case{"all.csv p1.csv of4.csv p3.csv", "one of 4"},
                Case{"all.csv p1.csv seed.csv p3.csv", "--seed = 1"},
                Case{"all.csv p1.csv trials.csv p3.csv", "trials = 2"},
                Case{"all.csv p1.csv scores.csv p3.csv", "scores"},
                Case{"all.csv p1.csv short.csv p3.csv", "short.csv: has 2 rows"},
                Case{"all.csv p1.csv double.csv p3.csv", "is there twice"},
                Case{"all.csv p1.csv damaged.csv p3.csv", "damaged.meta.json: is missing or damaged"},
                Case{"all.csv p1.csv types.csv p3.csv", "types.meta.json: is missing or damaged"},
                Case{"all.csv p1.csv older.csv p3.csv", "commit"},
                Case{"all.csv p1.csv none.csv p3.csv", "none.csv: cannot be opened"},
                Case{"there.csv p1.csv p2.csv p3.csv", "there.csv: is not a table that --overwrite could replace"},
                Case{"merged.csv p1.csv p2.csv p3.csv", "merged.csv: is there already; --overwrite replaces it"},
                Case{"all.csv merged.csv", "merged.csv: has been merged"},
                Case{"all.csv p1.csv merged.csv p3.csv", "merged.csv: has been merged"},
                Case{"p2.csv p1.csv p2.csv p3.csv --overwrite", "p2.csv"},
                Case{"nowhere/all.csv p1.csv p2.csv p3.csv", "nowhere/all.csv"}});
  for (const Case& c : cases) {
    CAPTURE(c.arguments);
    check_refused(run_croquis("merge " + c.arguments, folder.path()), c.says);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "all.csv"));
  CHECK(read_text(folder / "p2.csv") == rows);
  CHECK(read_text(folder / "there.csv") == "mine");
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
