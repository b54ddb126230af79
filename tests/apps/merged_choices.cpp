// Shards of croquis choose: what they have beside their rows is merged with them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <croquis/io/csv.hpp>
#include <croquis/io/digest.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/shard_runs.hpp"
#include "support/head_arrays.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

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
