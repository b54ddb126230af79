// What is given on the command line counts: an empty value is not taken for an option that was left out, and an option
// that does not apply is not ignored, not even with its default as its value.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/array_files.hpp"
#include "support/process.hpp"
#include "support/text.hpp"

namespace {

const std::string kGivenRun = "error --input gaussian --n 12 --p 4 --methods v-mean --features 4 --quiet";

void check_blamed(const TemporaryFolder& folder, const std::vector<std::string>& arguments, const std::string& reason) {
  CAPTURE(arguments);
  const ProgramRun run = run_process(arguments, folder.path());
  CHECK(run.status == 2);
  CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
  CHECK_MESSAGE(contains(run.output, reason), run.output);
  for (const char* file : {"choose.csv", "error.csv", "variance.csv"})
    CHECK_FALSE(std::filesystem::exists(folder / file));
}

void write_head(const TemporaryFolder& folder) {
  const arma::mat head(12, 4, arma::fill::ones);
  write_arrays(folder, head, head, head);
}

}  // namespace

TEST_CASE("an empty value, as of a shell variable that is not set, is refused for every option and argument") {
  TemporaryFolder folder;
  for (const char* option :
       {"--text", "--vocab", "--model", "--model-config", "--ids", "--lengths", "--q", "--k", "--v", "--qkv", "--bias",
        "--shard", "--save-output", "--out", "--plot", "--seed", "--features", "--precision"}) {
    std::vector<std::string> arguments = words(kGivenRun);
    arguments.insert(arguments.end(), {option, ""});
    check_blamed(folder, arguments, std::string(option) + ": is empty");
  }
  check_blamed(folder, {"error", "--q", "", "--k", "k.npy", "--v", "v.npy"}, "--q: is empty");
  check_blamed(folder, {"model", "--choice", ""}, "--choice: is empty");
  check_blamed(folder, {"verify", "--expect", ""}, "--expect: is empty");
  check_blamed(folder, {"verify", "--explain", ""}, "--explain: is empty");
  check_blamed(folder, {"sketch", "--matrix", "k.npy", "--product", ""}, "--product: is empty");
  check_blamed(folder, {"plot", "e.csv", "--title", ""}, "--title: is empty");
  check_blamed(folder, {"--config", "", "error"}, "--config: is empty");
  for (const char* command : {"show", "plot", "report"}) check_blamed(folder, {command, ""}, ": is empty");
  for (const char* line : {"text=\"\"", "text=''", "text="}) {
    write_text(folder / "c.ini", std::string("[error]\n") + line + "\n");
    check_blamed(folder, {"--config", "c.ini", "error"}, "--text: is empty");
  }
}

TEST_CASE("a flag is true or false, in the words for them alone: no other number, and no empty value, is either") {
  TemporaryFolder folder;
  for (const char* value : {"2", "-1", "-0", "1.5", "+", "t", "enable", "01", "99999999999999999999"}) {
    const std::string reason = std::string("--causal: '") + value + "' is neither true nor false";
    check_blamed(folder, words(kGivenRun + " --causal=" + value), reason);
    write_text(folder / "c.ini", std::string("[error]\ncausal=") + value + "\n");
    check_blamed(folder, words("--config c.ini " + kGivenRun), reason);
  }
  check_blamed(folder, words(kGivenRun + " --causal="), "--causal: is empty");
  check_blamed(folder, words(kGivenRun + " --out= x.csv"), "--out: is empty");
  write_text(folder / "c.ini", "[error]\ncausal=\n");
  check_blamed(folder, words("--config c.ini " + kGivenRun), "--causal: is empty");
  const auto kept = [&](const std::string& before, const std::string& after) {
    const ProgramRun run = run_process(words(before + kGivenRun + " --overwrite --out x.csv" + after), folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    return read_text(folder / "x.meta.json");
  };
  for (const bool is : {true, false}) {
    const std::string line = std::string("causal=") + (is ? "true" : "false") + "\\n";
    for (const char* value : {is ? "true" : "false", is ? "yes" : "no", is ? "on" : "off", is ? "1" : "0"}) {
      CAPTURE(value);
      CHECK(contains(kept("", std::string(" --causal=") + value), line));
      write_text(folder / "c.ini", std::string("[error]\ncausal=") + value + "\n");
      CHECK(contains(kept("--config c.ini ", ""), line));
    }
  }
  CHECK(contains(kept("", " --causal"), "causal=true\\n"));
}

TEST_CASE("a file of expected verdicts without a verdict is refused: it would accept everything") {
  TemporaryFolder folder;
  for (const char* text : {"", "\n", "# nys.lemma1/charitable PROVED\n"}) {
    write_text(folder / "expected.txt", text);
    check_blamed(folder, {"verify", "--claims", "nys.lemma1/charitable", "--expect", "expected.txt"},
                 "--expect: expected.txt: has no claim and its verdict");
  }
}

TEST_CASE("an option that does not apply is refused, also where its value is the default") {
  TemporaryFolder folder;
  write_head(folder);
  const std::string arrays = "error --q q.npy --k k.npy --v v.npy --methods v-mean --features 4 --quiet ";
  check_blamed(folder, words(arrays + "--layer 0"), "--layer: goes with --input model, this is --input arrays");
  check_blamed(folder, words(arrays + "--sequence all"), "--sequence: goes with --ids");
  check_blamed(folder, words(arrays + "--by-rows --rows 8 --layer 0"), "--layer: goes with --input model");
  check_blamed(folder, words(arrays + "--by-rows --rows 8 --head all"), "--by-rows: takes no --head");
  check_blamed(folder, words(kGivenRun + " --head all"), "--head: goes with --input arrays and model");
  for (const char* more : {"--p 4", "--p 64"}) {
    check_blamed(folder, words(std::string("variance --q q.npy --k k.npy ") + more),
                 "--n and --p: the arrays have their sizes; leave them out");
  }
  for (const char* more : {"--keys 12", "--keys 1024"}) {
    check_blamed(folder, words(std::string("variance --q q.npy --k k.npy ") + more),
                 "--keys: of spheres, a head has its own; leave it out");
  }
  for (const char* option : {"--search-sequences 4", "--search-sequences 5", "--labels l.npy"}) {
    const std::string name = std::string(option).substr(0, std::string(option).find(' '));
    check_blamed(folder, words(std::string("choose --q q.npy --k k.npy --v v.npy ") + option),
                 name + " requires --target-loss; give both or neither");
  }
  // What applies may be given with its default.
  CHECK(run_process(words(arrays + "--head all --out x.csv"), folder.path()).status == 0);
}
