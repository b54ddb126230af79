// The configuration in a meta file, and what --config reads.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "support/array_files.hpp"
#include "support/capture.hpp"
#include "support/process.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

const std::string kConfiguredError = "error --n 96 --p 16 --features 8:32 --trials 3 --quiet ";

}  // namespace

TEST_CASE("croquis error: the saved configuration makes the same rows again") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kConfiguredError + "--methods skyformer:preset=code,ridge=0.2,v-mean --out a.csv", folder.path())
              .status == 0);
  const auto meta = nlohmann::json::parse(read_text(folder / "a.meta.json"));
  write_text(folder / "a.ini", meta["configuration"].get<std::string>());
  const ProgramRun run = run_croquis("error --config a.ini --out b.csv", folder.path());
  CHECK_MESSAGE(run.status == 0, run.output);
  CHECK(rows_of(folder / "a.csv") == rows_of(folder / "b.csv"));
}

TEST_CASE("the saved configuration replaces no result, and goes on with none, unless that is asked for") {
  const TemporaryFolder folder;
  for (const char* how : {"--overwrite", "--resume"}) {
    REQUIRE(run_croquis(kConfiguredError + "--out a.csv " + how, folder.path()).status == 0);
    const auto meta = nlohmann::json::parse(read_text(folder / "a.meta.json"));
    const auto configuration = meta["configuration"].get<std::string>();
    for (const char* name : {"overwrite", "resume", "quiet"}) {
      CHECK_MESSAGE(!contains(configuration, std::string("\n") + name), configuration);
    }
    write_text(folder / "a.ini", configuration);
    const std::string before = read_text(folder / "a.csv");
    const ProgramRun again = run_croquis("error --config a.ini", folder.path());
    CHECK(again.status == 2);
    CHECK_MESSAGE(contains(again.output, "a.csv: is there already"), again.output);
    CHECK(read_text(folder / "a.csv") == before);
  }
}

TEST_CASE("the saved configuration has every name of a file as it is, and --config reads it back") {
  const TemporaryFolder folder;
  const std::vector<std::string> names = {"a#b",   "#x",     "it's \"q\"",  "a\"b",     "a'b",  "a\nb", "a\tb",
                                          "a\\b",  "\\x41",  "b\\x41 \" '", "a, b [c]", "[x]",  "a=b",  "; c",
                                          " lead", "trail ", "\xc3\xa9",    "1e5",      "true", "\"",   "'",
                                          "\\",    "x\\\"",  "\"q\"",       "\xff\xfe", "\x7f"};
  for (const std::string& name : names) {
    CAPTURE(name);
    write_text(folder.path() / name, "a b c d e f g h i j k l m n o p\n");
    const ProgramRun first = run_process({"error", "--text", name, "--n", "12", "--p", "4", "--methods", "v-mean",
                                          "--features", "4", "--quiet", "--overwrite", "--out", "r.csv"},
                                         folder.path());
    REQUIRE_MESSAGE(first.status == 0, first.output);
    const auto meta = nlohmann::json::parse(read_text(folder / "r.meta.json"));
    write_text(folder / "r.ini", meta["configuration"].get<std::string>());
    const ProgramRun again =
        run_process({"error", "--config", "r.ini", "--quiet", "--overwrite", "--out", "s.csv"}, folder.path());
    REQUIRE_MESSAGE(again.status == 0, again.output);
    CHECK(rows_of(folder / "s.csv") == rows_of(folder / "r.csv"));
    CHECK(nlohmann::json::parse(read_text(folder / "s.meta.json"))["identity"] == meta["identity"]);
  }
}

TEST_CASE("--config: quotes, what is special in them, and comments") {
  const TemporaryFolder folder;
  for (const char* name : {"a#b.txt", "back\\slash.txt", "say \"x\".txt"}) {
    write_text(folder.path() / name, "a b c d e f g h i j k l m n o p\n");
  }
  for (const char* line : {"text=\"a#b.txt\"", "text = 'a#b.txt'  # a comment", "text=\"a\\x23b.txt\"# comment",
                           "text=\"back\\slash.txt\"", "text=\"back\\\\slash.txt\"", "text='back\\slash.txt'",
                           "text='say \"x\".txt'", "text=\"say \\\"x\\\".txt\""}) {
    CAPTURE(line);
    write_text(folder / "c.ini", std::string("[error]\nn=12 # tokens\np=4\nfeatures=\"4,8\"\n") + line + "\n");
    const ProgramRun run =
        run_croquis("error --config c.ini --methods v-mean,linformer --trials 1 --quiet --overwrite", folder.path());
    CHECK_MESSAGE(run.status == 0, run.output);
    CHECK(rows_of(folder / "error.csv").size() == 2 * 2);
  }
}

TEST_CASE("--config: a list in quotes, in brackets or with commas alone is the same list") {
  const TemporaryFolder folder;
  const std::string usual = "[error]\ninput=gaussian\nn=12\np=4\ntrials=1\nquiet=true\noverwrite=true\n";
  const auto rows = [&](const std::string& lists) {
    write_text(folder / "c.ini", usual + lists);
    const ProgramRun run = run_croquis("error --config c.ini", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    return rows_of(folder / "error.csv");
  };
  const auto expected = rows("features=\"4,8\"\nmethods=\"v-mean,skyformer:ridge=0.1\"\n");
  REQUIRE(expected.size() == 2 * 2);
  for (const char* lists :
       {"features=[4,8]\nmethods=[v-mean,skyformer:ridge=0.1]\n",
        "features = [ 4, 8 ]  # sizes, [none] of them new\nmethods=[\"v-mean\", 'skyformer:ridge=0.1']\n",
        "features=4, 8 # sizes, doubled\nmethods=v-mean , skyformer:ridge=0.1\n",
        "features=[\"4\",\"8\"]\nmethods=\"v-mean\",\"skyformer:ridge=0.1\"\n"}) {
    CAPTURE(lists);
    CHECK(rows(lists) == expected);
  }
}

TEST_CASE("--config: a file without options of the command is refused") {
  const TemporaryFolder folder;
  const std::string others = "[spectrum]\nn=12\n\n[cost]\nn=12\n";
  for (const auto& [text, says] :
       {std::pair(others, "c.ini has no options of [error]; it has some of [cost], [spectrum]"),
        std::pair(std::string("# none\n[error]\n"), "c.ini has no options of [error]; it has none")}) {
    write_text(folder / "c.ini", text);
    const ProgramRun run = run_croquis("error --config c.ini --quiet", folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(contains(run.output, says), run.output);
    CHECK_FALSE(std::filesystem::exists(folder / "error.csv"));
  }
  write_text(folder / "c.ini", others + "[error]\nn=12\np=4\nfeatures=4\nmethods=v-mean\n");
  CHECK(run_croquis("error --config c.ini --quiet", folder.path()).status == 0);
}

TEST_CASE("--config: a list that is none is one line, and what follows it is not taken for a part of it") {
  const TemporaryFolder folder;
  const std::pair<std::string, std::string> wrong[] = {
      {"features=[4,8", "c.ini: line 4: --features: a list that begins with [ ends with ] in its line"},
      {"features=[4,[8]]", "c.ini: line 4: --features: a list that begins with [ ends with ] in its line"},
      {"text=[a].txt", "c.ini: line 4: --text: a list that begins with [ ends with ] in its line; a name with"},
      {"features=[]", "c.ini: line 4: --features: the list is empty; give a value or leave it out"},
      {"causal=", "c.ini: line 4: --causal: is empty; give a value or leave it out"},
      {"features=[4,\"8]", "c.ini: line 4: --features: a quote is not closed"},
      {"features=4,\"8", "c.ini: line 4: --features: a quote is not closed"},
      {"features=[4,]", "--features: an empty item in '4,'"},
      {"features=[,4]", "--features: an empty item in ',4'"},
      {"features=[", "c.ini: line 4: --features: "},
      {"features=4,", "--features: an empty item in '4,'"}};
  for (const auto& [line, says] : wrong) {
    CAPTURE_BINDING(line);
    write_text(folder / "c.ini", "[error]\ninput=text\nn=12\n" + line + "\ntrials=1\n");
    check_refused(run_croquis("error --config c.ini --methods v-mean --out new.csv", folder.path()), says);
    CHECK_FALSE(std::filesystem::exists(folder / "new.csv"));
  }
  // A name is as it stands, with blanks after its commas; with a bracket or # in quotes.
  for (const char* name : {"a, b.txt", "'[a], #1.txt'"}) {
    CAPTURE(name);
    const std::string file = name[0] == '\'' ? std::string(name + 1, std::strlen(name) - 2) : name;
    write_text(folder / file, "a b c d e f g h i j k l m n o p\n");
    write_text(folder / "c.ini", std::string("[error]\ntext=") + name + "\nn=12\np=4\nfeatures=4\ntrials=1\n");
    const ProgramRun run = run_croquis("error --config c.ini --methods v-mean --quiet --overwrite", folder.path());
    CHECK_MESSAGE(run.status == 0, run.output);
  }
}

TEST_CASE("the saved configuration makes the same rows again where files or a default say what the input is") {
  const TemporaryFolder folder;
  arma::arma_rng::set_seed(3);  // any numbers will do
  const arma::mat x(20, 4, arma::fill::randn);
  write_arrays(folder, x, x, x);
  const std::string arrays = "--q q.npy --k k.npy --v v.npy ",
                    few = "--methods v-mean,nystromformer --features 4 --trials 2 ";
  const std::vector<std::string> commands = {"error " + arrays + few,
                                             "gradient " + arrays + few,
                                             "choose " + arrays + few,
                                             "spectrum " + arrays,
                                             "spectrum --matrix q.npy",
                                             "sketch --matrix q.npy --sketches gaussian --trials 2 --features 4",
                                             "dimension --n 32 --trials 2",
                                             "variance --q q.npy --k k.npy --features 4 --trials 2",
                                             "variance --p 4 --keys 8 --norms 1 --features 4 --trials 2",
                                             "verify --claims nys.lemma1 --quick",
                                             "verify --claims nys.lemma1 --quick " + arrays};
  for (const std::string& command : commands) {
    CAPTURE(command);
    const ProgramRun first = run_croquis(command + " --quiet --overwrite --out a.csv", folder.path());
    REQUIRE_MESSAGE(first.status == 0, first.output);
    const auto meta = nlohmann::json::parse(read_text(folder / "a.meta.json"));
    write_text(folder / "a.ini", meta["configuration"].get<std::string>());
    const std::string name = command.substr(0, command.find(' '));
    const ProgramRun again = run_croquis(name + " --config a.ini --overwrite --out b.csv", folder.path());
    CHECK_MESSAGE(again.status == 0, again.output);
    CHECK(rows_of(folder / "a.csv") == rows_of(folder / "b.csv"));
  }
}
