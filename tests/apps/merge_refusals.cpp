// Parts that croquis merge refuses to take for a whole run.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <croquis/io/digest.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/shard_runs.hpp"
#include "support/program.hpp"

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
