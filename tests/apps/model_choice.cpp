// croquis model with a choice of croquis choose, and what both note of the model.
#include <doctest/doctest.h>

#include <string>

#include <nlohmann/json.hpp>

#include "apps/formula_folder.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE(
    "choose: the saved configuration of a choice by the loss has nothing that has no part in it, and reads back") {
  const FormulaFolder folder;
  const ProgramRun run = run_croquis(
      "choose --target-loss 9 --search-sequences 1 --methods v-mean --features 2 --model bert/model.safetensors "
      "--ids ids.npy --labels ids.npy --lengths lengths.npy --quiet --out a.csv",
      folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const auto meta = nlohmann::json::parse(read_text(folder / "a.meta.json"));
  const auto configuration = meta["configuration"].get<std::string>();
  for (const char* name : {"\neps=", "\nper=", "\nmetric="}) CHECK(!contains(configuration, name));
  write_text(folder / "a.ini", configuration);
  const std::string rows = read_text(folder / "a.csv");
  const ProgramRun again = run_croquis("--config a.ini choose --quiet --overwrite", folder.path());
  CHECK_MESSAGE(again.status == 0, again.output);
  CHECK(read_text(folder / "a.csv") == rows);
}

TEST_CASE("model: options of methods are refused where a choice alone says what is replaced") {
  const FormulaFolder folder;
  write_text(folder / "c.json", "[]");
  for (const char* option : {"--layers 0", "--heads 0", "--features 2"}) {
    const ProgramRun run = run_croquis(
        std::string("model --model bert/model.safetensors --choice c.json ") + option + kLabelled, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(contains(run.output, "is of --methods; --choice says itself which heads it replaces"), run.output);
  }
}

TEST_CASE(
    "model: a choice alone has a configuration that makes the same rows, and says whose it is where that is "
    "another's") {
  const FormulaFolder folder;
  choose_for_bert(folder);
  const std::string choice = "model --trials 1 --overwrite --quiet --choice c.json --out m.csv" + kLabelled;
  const ProgramRun own = run_croquis(choice + "--model bert/model.safetensors", folder.path());
  REQUIRE_MESSAGE(own.status == 0, own.output);
  CHECK_FALSE(contains(own.output, "was made for"));
  CHECK_FALSE(contains(own.output, "the others have exact attention"));  // it replaces all heads
  const auto meta = nlohmann::json::parse(read_text(folder / "m.meta.json"));
  write_text(folder / "m.ini", meta["configuration"].get<std::string>());
  const ProgramRun again = run_croquis("model --config m.ini --overwrite --quiet --out n.csv", folder.path());
  REQUIRE_MESSAGE(again.status == 0, again.output);
  CHECK(column_of(folder / "m.csv", "loss") == column_of(folder / "n.csv", "loss"));
  const ProgramRun other = run_croquis(choice + "--model albert/model.safetensors", folder.path());
  REQUIRE_MESSAGE(other.status == 0, other.output);
  CHECK_MESSAGE(contains(other.output, "--choice was made for the model bert, and this one is albert"), other.output);
}

TEST_CASE("model and choose: --resume and merge notice another choice, other weights and another configuration") {
  const FormulaFolder folder;
  choose_for_bert(folder);
  const auto refused = [&](const std::string& command, const std::string& says) {
    const ProgramRun run = run_croquis(command, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(contains(run.output, says), run.output);
  };
  const std::string of_bert = " --model bert/model.safetensors --quiet" + kLabelled,
                    choice = "model --trials 1 --choice c.json" + of_bert;
  REQUIRE(run_croquis(choice + "--out m.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(choice + "--out one.csv --shard 1/2", folder.path()).status == 0);
  write_text(folder / "c.json", read_text(folder / "c.json") + " ");
  refused(choice + "--out m.csv --resume", "--resume: contents of c.json was ");
  REQUIRE(run_croquis(choice + "--out two.csv --shard 2/2", folder.path()).status == 0);
  refused("merge both.csv one.csv two.csv", "contents of c.json");

  // The last weight is of the language-model head, which no hidden state shows.
  const std::string model = "model --trials 1 --methods v-mean --features 2 --out h.csv" + of_bert,
                    search = "choose --target-loss 9 --search-sequences 1 --methods v-mean --features 2 --out s.csv" +
                             of_bert;
  for (const std::string& command : {model, search}) REQUIRE(run_croquis(command, folder.path()).status == 0);
  const std::string weights = read_text(folder / "bert/model.safetensors");
  std::string other = weights;
  other[other.size() - 2] ^= 1;
  write_text(folder / "bert/model.safetensors", other);
  for (const std::string& command : {model, search}) {
    refused(command + " --resume", "--resume: contents of the model was ");
  }
  write_text(folder / "bert/model.safetensors", weights);
  write_text(folder / "bert/config.json", read_text(folder / "bert/config.json") + "\n");
  refused(model + " --resume", "--resume: contents of the model was ");
}
