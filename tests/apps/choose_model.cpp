// What croquis model makes of a choice.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/choice_folder.hpp"
#include "support/capture.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("choose: heads of a model on sequences, and the model with what was chosen") {
  const ChoiceFolder folder;
  const ProgramRun run =
      run_croquis(kChooseSizes + "--eps 5 --delta 0.3 --methods v-mean,skeinformer --per head", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  // Everything is good enough, so the cheapest is chosen for every head.
  const std::vector<std::string> status = column_of(folder / "choose.csv", "status");
  CHECK(std::set<std::string>(status.begin(), status.end()) == std::set<std::string>{"chosen"});
  const std::vector<std::string> methods = column_of(folder / "choose.csv", "method");
  CHECK(std::set<std::string>(methods.begin(), methods.end()) == std::set<std::string>{"v-mean"});
  const std::string tokens = "model --model model.safetensors --ids ids.npy --labels labels.npy --sequence 0-2 ";
  const ProgramRun chosen = run_croquis(tokens + "--choice choose.json --out chosen.csv", folder.path());
  REQUIRE_MESSAGE(chosen.status == 0, chosen.output);
  REQUIRE(run_croquis(tokens + "--methods v-mean --features 2 --out plain.csv", folder.path()).status == 0);
  CHECK(column_of(folder / "chosen.csv", "loss") == column_of(folder / "plain.csv", "loss"));
  CHECK(column_of(folder / "chosen.csv", "method").front() == "choice");
  CHECK(column_of(folder / "chosen.csv", "preset").front() == "choose.json");
  // One choice for each layer and for the model.
  for (const std::string per : {"layer", "model"}) {
    const ProgramRun joint = run_croquis(
        kChooseSizes + "--eps 5 --delta 0.3 --methods v-mean --quiet --per " + per + " --out " + per + ".csv",
        folder.path());
    REQUIRE_MESSAGE(joint.status == 0, joint.output);
    const std::string file = per + ".json";
    const std::string out = per + "-loss.csv";
    REQUIRE(run_croquis(tokens + "--choice " + file + " --out " + out, folder.path()).status == 0);
    CHECK(column_of(folder.path() / out, "loss") == column_of(folder / "plain.csv", "loss"));
  }
}

TEST_CASE("choose: a choice is used for the heads that it was made for, and for no others") {
  const ChoiceFolder folder;
  const std::string tokens = "model --model model.safetensors --ids ids.npy --labels labels.npy --sequence 0-2 ";
  const std::string settings =
      "choose --model model.safetensors --ids ids.npy --eps 5 --delta 0.3 --methods v-mean --features 2 --quiet ";
  const std::pair<const char*, const char*> parts[] = {{"--layer 1 --per model", "--layers 1"},
                                                       {"--layer 0 --head 1 --per layer", "--layers 0 --heads 1"},
                                                       {"--layer 1 --head 0 --per head", "--layers 1 --heads 0"}};
  for (const auto& [chosen, replaced] : parts) {
    CAPTURE_BINDING(chosen);
    const ProgramRun run = run_croquis(settings + chosen + " --overwrite", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    REQUIRE(run_croquis(tokens + "--choice choose.json --overwrite --out chosen.csv", folder.path()).status == 0);
    REQUIRE(run_croquis(tokens + "--methods v-mean --features 2 --overwrite --out plain.csv " + replaced, folder.path())
                .status == 0);
    CHECK(column_of(folder / "chosen.csv", "loss") == column_of(folder / "plain.csv", "loss"));
  }
  // Heads that are given as arrays are in no model.
  REQUIRE(run_croquis("choose --input gaussian --n 32 --p 4 --eps 5 --methods v-mean --features 4 --quiet --overwrite "
                      "--out choose.csv",
                      folder.path())
              .status == 0);
  const ProgramRun arrays = run_croquis(tokens + "--choice choose.json --overwrite", folder.path());
  CHECK(arrays.status == 2);
  CHECK(contains(arrays.output, "choice 1 was made for heads of no model; give it the heads"));
}

TEST_CASE("choose: what is not decided is exact attention in the model, and says how much more it takes") {
  const ChoiceFolder folder;
  const ProgramRun run =
      run_croquis(kChooseSizes + "--eps 5 --delta 0.05 --methods v-mean --sequence 0-4 --per model", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(contains(run.output, "too few to certify anything random"));
  CHECK(column_of(folder / "choose.csv", "status").front() == "undecided");
  CHECK(column_of(folder / "choose.csv", "method").front() == "v-mean");
  CHECK(std::stoi(column_of(folder / "choose.csv", "needed").front()) > 50);
  const ProgramRun model =
      run_croquis("model --model model.safetensors --ids ids.npy --labels labels.npy --sequence 0 --choice choose.json",
                  folder.path());
  REQUIRE_MESSAGE(model.status == 0, model.output);
  CHECK(column_of(folder / "model.csv", "loss") == column_of(folder / "model.csv", "loss_exact"));
  CHECK(contains(model.output, "--choice has exact attention in all heads"));
}

TEST_CASE("choose: errors against another function than softmax attention are said to be that, by the model too") {
  const ChoiceFolder folder;
  const std::string tokens = "model --model model.safetensors --ids ids.npy --labels labels.npy --sequence 0 ";
  for (const auto& [method, other] : {std::pair("skyformer", true), {"v-mean", false}}) {
    CAPTURE_BINDING(method);
    const ProgramRun run = run_croquis(
        kChooseSizes + "--eps 50 --delta 0.3 --per model --out c.csv --overwrite --methods " + method, folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    const std::string said = "The errors are those against Gaussian-kernel attention C V";
    CHECK(contains(run.output, said) == other);
    CHECK(contains(run_croquis("show c.csv", folder.path()).output, said) == other);
    const ProgramRun model = run_croquis(tokens + "--choice c.json --out m.csv --overwrite", folder.path());
    REQUIRE_MESSAGE(model.status == 0, model.output);
    CHECK(contains(model.output, "another function than softmax attention, which is what the model computes") == other);
    CHECK_FALSE(contains(model.output, "--choice has exact attention in all heads"));
  }
}

TEST_CASE(
    "choose: exact answers have their target in the file too, and the model says that it runs its own attention") {
  const ChoiceFolder folder;
  const std::string tokens = "model --model model.safetensors --ids ids.npy --labels labels.npy --sequence 0 ",
                    said = "errors of --choice are against Gaussian-kernel attention C V, another function";
  for (const auto& [options, target, other] :
       {std::tuple("skyformer --eps 1e-9", "kernelized", true), {"v-mean --eps 1e-9", "softmax", false}}) {
    CAPTURE_BINDING(options);
    const ProgramRun run = run_croquis(
        kChooseSizes + "--delta 0.3 --per model --out c.csv --overwrite --methods " + options, folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    CHECK(column_of(folder / "c.csv", "status").front() == "exact");
    CHECK(column_of(folder / "c.csv", "target").front() == target);
    CHECK(contains(read_text(folder / "c.json"), std::string("\"target\": \"") + target));
    const std::string against = "The errors are those against Gaussian-kernel attention C V",
                      page = std::string(target) + ".html";
    CHECK(contains(run.output, against) == other);
    REQUIRE(run_croquis("report c.csv --out " + page, folder.path()).status == 0);
    CHECK(contains(read_text(folder / page), against) == other);
    const ProgramRun model = run_croquis(tokens + "--choice c.json --out m.csv --overwrite", folder.path());
    REQUIRE_MESSAGE(model.status == 0, model.output);
    CHECK_MESSAGE(contains(model.output, said) == other, model.output);
    CHECK(column_of(folder / "m.csv", "loss") == column_of(folder / "m.csv", "loss_exact"));
  }
  // A choice by the loss was tested with the model's own attention.
  const ProgramRun by_loss = run_croquis(
      "choose --model model.safetensors --ids ids.npy --labels labels.npy --target-loss 99 --search-sequences 4 "
      "--max-cost 100 --methods skyformer --features 2 --out c.csv --overwrite",
      folder.path());
  REQUIRE_MESSAGE(by_loss.status == 0, by_loss.output);
  const ProgramRun model = run_croquis(tokens + "--choice c.json --out m.csv --overwrite", folder.path());
  REQUIRE_MESSAGE(model.status == 0, model.output);
  CHECK(contains(model.output, "skyformer approximates Gaussian-kernel attention"));
  CHECK_FALSE(contains(model.output, said));
}

TEST_CASE("choose: as many sequences as a certificate takes are not too few") {
  const ChoiceFolder folder;
  const std::string line = kChooseSizes + "--eps 5 --delta 0.3 --methods v-mean --per model --overwrite ";
  const std::string said = "a certificate takes at least ", few = "too few to certify anything random";
  const ProgramRun all = run_croquis(line, folder.path());
  REQUIRE_MESSAGE(contains(all.output, said), all.output);
  const int least = std::stoi(all.output.substr(all.output.find(said) + said.size()));
  REQUIRE(least > 2);
  for (const int sequences : {least - 1, least}) {
    const ProgramRun run = run_croquis(line + fmt::format("--sequence 0-{}", sequences - 1), folder.path());
    CHECK_MESSAGE(contains(run.output, few) == (sequences < least), run.output);
    CHECK(column_of(folder / "choose.csv", "status").front() == (sequences < least ? "undecided" : "chosen"));
  }
}

TEST_CASE("error: sequences that are joined and are no range are named one by one") {
  const ChoiceFolder folder;
  const std::string line =
      "error --model model.safetensors --ids ids.npy --layer 0 --head 0 --methods v-mean --features 2 --quiet "
      "--overwrite --join-windows 2 --sequence ";
  for (const auto& [given, name] :
       {std::pair("0,1", ";sequence=0-1;"), {"0,2", ";sequence=0+2;"}, {"1,0", ";sequence=1+0;"}}) {
    const ProgramRun run = run_croquis(line + given, folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    CAPTURE_BINDING(given);
    CHECK(contains(column_of(folder / "error.csv", "input").front(), name));
  }
}

TEST_CASE("model --resume: with other labels it is another run, and d may be the number of tokens") {
  const ChoiceFolder folder;
  const std::string line =
      "model --model model.safetensors --ids ids.npy --labels labels.npy --sequence 0,1 --methods v-mean,linformer "
      "--features 9 --trials 1 --quiet --out m.csv ";
  const ProgramRun run = run_croquis(line, folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(run_croquis(line + "--resume", folder.path()).status == 0);
  std::vector<std::int64_t> labels(30 * 9, -100);
  for (std::size_t i = 0; i < labels.size(); i += 3) labels[i] = 5;
  write_text(folder / "labels.npy", npy_integers("(30, 9)", labels));
  const std::string rows = read_text(folder / "m.csv");
  check_refused(run_croquis(line + "--resume", folder.path()), "--resume: tokens and labels (digest) was ");
  CHECK(read_text(folder / "m.csv") == rows);
}

TEST_CASE("choose: a sample of heads of several sequences, which are not the same of each, is refused") {
  const ChoiceFolder folder;
  check_refused(
      run_croquis(kChooseSizes + "--eps 5 --delta 0.3 --methods v-mean --head-sample 7 --quiet", folder.path()),
      "needs the same heads of every sequence; leave out --head-sample");
}

TEST_CASE(
    "choose: a candidate is said to be dear where no sequence is long enough for it, and rows to be few below delta") {
  const ChoiceFolder folder;
  for (const std::size_t is_short : {std::size_t{0}, std::size_t{29}}) {
    std::vector<std::int64_t> lengths(30, 9);
    lengths[is_short] = 4;  // where d = 6 is not used
    write_text(folder / "lengths.npy", npy_integers("(30,)", lengths));
    const ProgramRun run =
        run_croquis(kChooseHeads +
                        "--lengths lengths.npy --features 6 --methods linformer --per model --eps 50 --delta 0.3 "
                        "--overwrite",
                    folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    CHECK_FALSE_MESSAGE(contains(run.output, "not tried"), run.output);
  }
  // 20 of 128 rows are 0.15625.
  for (const auto& [delta, few] : {std::pair("0.156", false), {"0.157", true}}) {
    const ProgramRun run = run_croquis(
        std::string(
            "choose --input gaussian --n 128 --p 4 --rows 20 --methods v-mean --features 4 --overwrite --delta ") +
            delta,
        folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    CHECK_MESSAGE(contains(run.output, "20 of 128 rows are a smaller share than delta") == few, run.output);
  }
}
