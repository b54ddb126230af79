// --help, lists, and what the program says of names that there are not.
#include <doctest/doctest.h>

#include <cctype>
#include <string>
#include <vector>

#include "support/capture.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("--help: the options of every command that measures stand in groups, an example at the end") {
  TemporaryFolder folder;
  for (const std::string command :
       {"error", "gradient", "sketch", "cost", "variance", "spectrum", "dimension", "choose", "verify"}) {
    CAPTURE(command);
    const ProgramRun run = run_croquis(command + " --help", folder.path());
    REQUIRE(run.status == 0);
    const std::vector<std::string> lines = lines_of(run.output);
    std::string group, of_seed, of_out, of_input;
    for (const std::string& line : lines) {
      if (!line.empty() && line[0] != ' ' && line.ends_with(':')) group = line;
      if (line.starts_with("  --seed ")) of_seed = group;
      if (line.starts_with("  --out ")) of_out = group;
      if (line.starts_with("  --input ")) of_input = group;
    }
    CHECK(of_seed == "Run:");
    CHECK(of_out == "Output:");
    CHECK(contains(run.output, "\nWhat is measured:\n"));
    if (command != "cost") CHECK(of_input == "Input:");
    CHECK(contains(run.output, "\nExample: croquis " + command));
  }
}

TEST_CASE("--help: the exit statuses, that of croquis verify too") {
  TemporaryFolder folder;
  const std::string program = run_croquis("--help", folder.path()).output;
  CHECK(
      contains(program, "Exit status: 0 done, 1 a verdict of croquis verify is not as expected, 2 bad usage or input"));
}

TEST_CASE("--help: leaves out options that the command always refuses, and the refusal says why") {
  TemporaryFolder folder;
  const struct {
    const char *command, *option, *value;
  } refused[] = {{"sketch", "--bias", " alibi:1"},    {"spectrum", "--bias", " alibi:1"},
                 {"dimension", "--bias", " alibi:1"}, {"dimension", "--causal", ""},
                 {"variance", "--bias", " alibi:1"},  {"verify", "--causal", ""}};
  for (const auto& one : refused) {
    CAPTURE(one.command);
    const std::string command = one.command, option = one.option;
    CHECK_FALSE(contains(run_croquis(command + " --help", folder.path()).output, "\n  " + option + " "));
    const ProgramRun run = run_croquis(command + " --input gaussian " + option + one.value, folder.path());
    CHECK(run.status == 2);
    CHECK(contains(run.output, option));
    CHECK_FALSE(contains(run.output, "unknown"));
  }
}

TEST_CASE("plot --help: says what is drawn of a result of each command that writes rows") {
  TemporaryFolder folder;
  const ProgramRun run = run_croquis("plot --help", folder.path());
  REQUIRE(run.status == 0);
  const std::size_t start = run.output.find("What is drawn");
  REQUIRE(start != std::string::npos);
  for (const char* command :
       {"error", "gradient", "sketch", "cost", "variance", "spectrum", "dimension", "choose", "verify"}) {
    CHECK_MESSAGE(contains(run.output.substr(start), std::string("\n  ") + command + " "), command);
  }
  CHECK(contains(run.output, "Example: croquis plot "));
  CHECK(contains(run.output, "a metric in croquis list columns"));
  for (const std::string reader : {"show", "report"}) {
    CHECK(contains(run_croquis(reader + " --help", folder.path()).output, "Example: croquis " + reader + " "));
  }
}

TEST_CASE("what there is not: the nearest name is asked for, and none for what is near to nothing") {
  TemporaryFolder folder;
  write_text(folder / "slip.ini", "[error]\nfeature=\"16\"\n");
  const struct {
    const char *arguments, *question;
  } slips[] = {
      {"error --feature 16", "--feature: unknown; did you mean --features? croquis error --help"},
      {"error --n 64 --ovewrite", "--ovewrite: unknown; did you mean --overwrite?"},
      {"error --method=skyformer", "--method: unknown; did you mean --methods?"},
      {"cost --exactto 64", "--exactto: unknown; did you mean --exact-to?"},
      {"plot --metrics x", "--metrics: unknown; did you mean --metric?"},
      {"eror --n 64", "'eror' is not a command; did you mean 'error'?"},
      {"varaince", "'varaince' is not a command; did you mean 'variance'?"},
      {"error --methods skyfromer", "did you mean 'skyformer'?"},
      {"error --methods nystrom", "did you mean 'nystromformer'?"},
      {"sketch --sketches gausian", "did you mean 'gaussian'?"},
      {"sketch --landmarks unifrom", "did you mean 'uniform'?"},
      {"variance --maps prff", "did you mean 'prf'?"},
      {"error --input gausian", "did you mean 'gaussian'?"},
      {"error --precision flaot", "did you mean 'float'?"},
      {"list method", "did you mean 'methods'?"},
      {"verify --claims sky.lfit", "did you mean 'sky.lift'?"},
      {"error --config slip.ini", "did you mean --features?"},
  };
  for (const auto& [arguments, question] : slips) {
    CAPTURE_BINDING(arguments);
    check_refused(run_croquis(arguments, folder.path()), question);
  }
  for (const char* arguments : {"error --frobnicate", "frobnicate", "error --methods transducer", "error --x 3"}) {
    CAPTURE(arguments);
    const ProgramRun run = run_croquis(arguments, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(!contains(run.output, "did you mean"), run.output);
  }
}

TEST_CASE("what a command needs and was not given is said in words, not by the name of a place") {
  TemporaryFolder folder;
  const struct {
    const char *arguments, *said;
  } without[] = {
      {"list", "list: give one of methods, sketches, features, inputs, claims, columns; croquis list --help"},
      {"merge", "merge: give OUT.csv: the rows of one run; croquis merge --help"},
      {"merge all.csv", "merge: give PART.csv...: all shards of one run, in any order; croquis merge --help"},
      {"report", "report: give CSV files of other commands, a section each; croquis report --help"},
      {"plot", "plot: give a CSV of another command; croquis plot --help"},
      {"show", "show: give a CSV of another command; croquis show --help"},
      {"", "give a command; croquis --help"}};
  for (const auto& [arguments, said] : without) {
    CAPTURE_BINDING(arguments);
    check_refused(run_croquis(arguments, folder.path()), said);
  }
}

TEST_CASE("croquis list: no entry runs into the next, and columns begin in one place") {
  TemporaryFolder folder;
  const struct {
    const char *what, *second;  // and how the second column begins in the header
  } lists[] = {{"methods", "target"}, {"sketches", "source"}, {"claims", "kind"}};
  for (const auto& [what, second] : lists) {
    CAPTURE_BINDING(what);
    const ProgramRun run = run_croquis(std::string("list ") + what, folder.path());
    REQUIRE(run.status == 0);
    const std::vector<std::string> lines = lines_of(run.output);
    const std::size_t column = lines.front().find(second);
    REQUIRE(column != std::string::npos);
    for (const std::string& line : lines) {
      if (line.empty()) break;               // what follows the table
      if (line.starts_with("  ")) continue;  // options
      CAPTURE(line);
      REQUIRE(line.size() > column);
      CHECK(line.substr(column - 2, 2) == "  ");
      CHECK(line[column] != ' ');
      CHECK(line.find(' ') < column);
    }
  }
}

TEST_CASE("croquis list and --version: what there is, and what it runs on") {
  TemporaryFolder folder;
  const ProgramRun list = run_croquis("list methods", folder.path());
  CHECK(list.status == 0);
  CHECK(list.output.find("nystromformer") != std::string::npos);
  CHECK(list.output.find("iterations=0 to 100") != std::string::npos);
  CHECK(run_croquis("list sketches", folder.path()).status == 0);
  CHECK(run_croquis("list inputs", folder.path()).status == 0);
  const ProgramRun version = run_croquis("--version", folder.path());
  CHECK(version.status == 0);
  CHECK(version.output.find("OpenBLAS") != std::string::npos);
  for (const char* library : {"Armadillo ", "Boost ", "fftw-", "fmt ", "CLI11 ", "utf8proc ", "(Unicode ", "PCRE2 ",
                              "Highway ", "libzip ", "nlohmann-json ", "xxHash "}) {
    CAPTURE(library);
    const std::size_t place = version.output.find(library);
    REQUIRE(place != std::string::npos);
    CHECK(std::isdigit(static_cast<unsigned char>(version.output[place + std::string(library).size()])));
  }
}
