// What croquis choose refuses, and which files are no choice for croquis model.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "apps/choice_folder.hpp"
#include "support/capture.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("choose: by the loss of the model, options that have no part in it are refused, also with their defaults") {
  const ChoiceFolder folder;
  for (const std::string option : {"--layer 0", "--head 0", "--eps 0.1", "--delta 0.05", "--metric frobenius_rel",
                                   "--per head", "--cost flops", "--rows 20", "--trials 3", "--plot c.svg"}) {
    CAPTURE(option);
    const ProgramRun run = run_croquis(
        "choose --model model.safetensors --ids ids.npy --labels labels.npy "
        "--target-loss 0.1 " +
            option,
        folder.path());
    CHECK(run.status == 2);
    const std::string name = option.substr(0, option.find(' '));
    CHECK((contains(run.output, name + " excludes --target-loss; leave one of them out") ||
           contains(run.output, "--target-loss excludes " + name + "; leave one of them out")));
  }
}

TEST_CASE("choose: by the loss, two sequences or more have to be left for the test") {
  const ChoiceFolder folder;
  check_refused(run_croquis("choose --model model.safetensors --ids ids.npy --labels labels.npy --target-loss 9 "
                            "--search-sequences 29",
                            folder.path()),
                "the search takes 29 of the sequences (--search-sequences) and the test at least 2, and there are 30");
}

TEST_CASE("choose: wrong input is refused in one line") {
  const ChoiceFolder folder;
  const std::pair<const char*, const char*> wrong[] = {{"--eps 0", "--eps: 0 is not a positive, finite number"},
                                                       {"--eps inf", "--eps: inf is not a positive, finite number"},
                                                       {"--target-loss inf", "--target-loss: inf is not a positive"},
                                                       {"--delta 1", "--delta: 1 is not between"},
                                                       {"--confidence 0", "--confidence: 0 is not between"},
                                                       {"--max-cost -1", "--max-cost: -1 is not positive"},
                                                       {"--metric row_cosine_mean", "row_cosine_mean"},
                                                       {"--methods skyformer,v-mean", "two functions"},
                                                       {"--methods top-keys", "top-keys computes all scores"},
                                                       {"--features 0", "--features"},
                                                       {"--shard 1/2 --target-loss 1", "--shard"},
                                                       {"--rows 4 --metric max_abs", "--metric"},
                                                       {"--per layer", "--per layer: the input has no layers"},
                                                       {"--rows 10000", "--rows: 10000"}};
  for (const auto& [option, says] : wrong) {
    CAPTURE_BINDING(option);
    check_refused(run_croquis(std::string("choose --input gaussian --n 64 --p 4 ") + option, folder.path()), says);
  }
}

TEST_CASE("choose: files that are no choice are refused in one line") {
  const ChoiceFolder folder;
  const std::string one = R"({"choices": [{"layer": 0, "head": 0, "method": "v-mean", "features": 2}]})";
  const std::pair<std::string, const char*> wrong[] = {
      {"", "choice.json"},
      {"{}", "has no choices"},
      {R"({"choices": [3]})", "choice 1 is no object"},
      {R"({"choices": [{"features": 2}]})", "has no method"},
      {R"({"choices": [{"method": "v-mean"}]})", "number of features"},
      {R"({"choices": [{"method": "v-meen", "features": 2}]})", "v-meen"},
      {R"({"choices": [{"method": "v-mean,skyformer", "features": 2}]})", "no single method"},
      {R"({"choices": [{"method": "skeinformer", "options": {"preset": 3}, "features": 2}]})",
       "preset that is no text"},
      {R"({"choices": [{"method": "v-mean", "features": 2, "layer": 99}]})", "is for layer 99, the model has"},
      {R"({"choices": [{"method": "v-mean", "features": 2, "head": -1}]})", "a head that is no number"},
      {R"({"choices": [{"method": "v-mean", "features": 2, "heads": 3}]})", "heads that are no array"},
      {R"({"choices": [{"method": "v-mean", "features": 2, "heads": [[0]]}]})", "a head that is no [layer, head]"},
      {R"({"choices": [{"method": "v-mean", "features": 2, "heads": [[99, 0]]}]})", "is for layer 99, the model has"},
      {R"({"choices": [{"method": "v-mean", "features": 2}, {"method": "v-mean", "features": 2}]})", "the second one"}};
  const std::string command =
      "model --model model.safetensors --ids ids.npy --labels labels.npy --sequence 0 --choice choice.json";
  for (const auto& [text, says] : wrong) {
    write_text(folder / "choice.json", text);
    CAPTURE_BINDING(text);
    check_refused(run_croquis(command, folder.path()), says);
  }
  write_text(folder / "choice.json", one);
  CHECK(run_croquis(command, folder.path()).status == 0);
  write_text(folder / "choice.json", R"({"choices": [{"method": "linformer", "features": 200}]})");
  const ProgramRun large = run_croquis(command + " --overwrite", folder.path());
  CHECK(large.status == 0);
  CHECK_MESSAGE(contains(large.output, "--choice has d = 200; heads have exact attention on sequences of fewer tokens"),
                large.output);
}
