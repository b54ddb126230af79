// Wrong usage of croquis model, and models and tokens that are refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/formula_folder.hpp"
#include "support/capture.hpp"
#include "support/formula_model.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("model: a NaN in the head is refused before there are results") {
  const FormulaFolder folder;
  std::string bytes = read_text(folder / "bert/model.safetensors");
  bytes.replace(bytes.size() - 4, 4, std::string("\0\0\xc0\x7f", 4));
  write_text(folder / "bert/model.safetensors", bytes);
  const ProgramRun run =
      run_croquis("model --methods exact --model bert/model.safetensors --out o.csv" + kLabelled, folder.path());
  CHECK(run.status == 2);
  CHECK_MESSAGE(contains(run.output, "cls.predictions."), run.output);
  CHECK_FALSE(std::filesystem::exists(folder / "o.csv"));
  CHECK_FALSE(std::filesystem::exists(folder / "o.meta.json"));
}

TEST_CASE("model: wrong usage and wrong files are one line and status 2") {
  const FormulaFolder folder;
  write_text(folder / "long.npy", npy_integers("(1, 11)", std::vector<std::int64_t>(11, 1)));
  write_text(folder / "beyond.npy", npy_integers("(1, 4)", {1, 11, 2, 3}));
  write_text(folder / "flat.npy", npy_integers("(27,)", std::vector<std::int64_t>(27, 1)));
  write_text(folder / "none.npy", npy_integers("(3, 9)", std::vector<std::int64_t>(27, -100)));
  for (const char* name : {"headless", "narrow", "roberta"}) std::filesystem::create_directory(folder / name);
  FormulaModel model = formula_model("bert");
  write_text(folder / "roberta/model.safetensors", model.file());
  write_text(folder / "roberta/config.json", "{\"model_type\": \"roberta\"}");
  std::erase_if(model.tensors, [](const auto& tensor) { return tensor.first == "cls.predictions.bias"; });
  write_text(folder / "headless/model.safetensors", model.file());
  write_text(folder / "headless/config.json", model.config);
  model = formula_model("gpt2");
  for (auto& [name, shape] : model.tensors) {
    if (name == "transformer.h.1.attn.c_attn.weight") std::swap(shape[0], shape[1]);
  }
  write_text(folder / "narrow/model.safetensors", model.file());
  write_text(folder / "narrow/config.json", model.config);
  const std::string bert = "model --model bert/model.safetensors ",
                    llama = "model --model llama-tied/model.safetensors ";
  const std::pair<std::string, std::string> wrong[] = {
      {"model" + kLabelled, "--model: is missing"},
      {"model --model bert/model.safetensors", "or with --ids ids.npy in place of a text"},
      {bert + kModelTokens, "--labels: a model of type bert predicts masked tokens; give labels.npy"},
      {bert + kModelTokens + "--labels flat.npy", "flat.npy: has shape (1, 27) where ids.npy has (3, 9)"},
      {bert + kModelTokens + "--labels labels.npy --mask 0.2", "--mask: is of a text"},
      {"model --model bert" + kModelTokens + "--labels labels.npy", "--model: bert is a folder; give the file in it"},
      {bert + kModelTokens + "--labels none.npy",
       "none.npy: sequence 0 has no token to be predicted; leave it out with --sequence"},
      {bert + "--ids long.npy --labels long.npy", "--ids: sequence 0 has 11 tokens, the model 9 positions"},
      {bert + "--ids beyond.npy --labels beyond.npy --features 2",
       "beyond.npy: has id 11 of sequence 0 at position 1; the"},
      {"error --ids beyond.npy --model bert/model.safetensors", "beyond.npy: has id 11 of sequence 0 at position 1"},
      {"error --ids long.npy --model bert/model.safetensors", "--ids: sequence 0 has 11 tokens, the model 9 positions"},
      {bert + kLabelled + "--features 7", "--features: 7 is more than the 6 tokens of a sequence"},
      {bert + kLabelled + "--layers 2", "--layers: '2' is none of 0 to 1"},
      {bert + kLabelled + "--heads 2", "--heads: '2' is none of 0 to 1"},
      {bert + kLabelled + "--sequence 3", "--sequence: '3' is none of 0 to 2"},
      {bert + kLabelled + "--text ids.npy", "--text: of a text, --ids has the tokens; leave it out"},
      {bert + kLabelled + "--methods skyformer,nothing", "nothing"},
      {llama + kModelTokens + "--methods nystromformer --features 2", "nystromformer: has no causal form"},
      {llama + "--vocab vocab.txt",
       "--vocab: vocab.txt is of BERT and ALBERT, this model is llama; give its tokenizer.json"},
      {"model --model headless/model.safetensors" + kLabelled, "has no tensor 'cls.predictions.bias'"},
      {"error --model narrow/model.safetensors" + kModelTokens,
       "tensor 'transformer.h.1.attn.c_attn.weight' is [24, 8]; the configuration calls for [8, 24]"},
      {"model --model roberta/model.safetensors" + kLabelled,
       "model_type is 'roberta'; bert, albert, gpt2 and llama are read"},
      {"error --model albert/model.safetensors --join-windows 2" + kModelTokens,
       "--join-windows: 3 sequences, no multiple of 2"},
      {"error --ids ids.npy", "--ids: goes with --input model"},
      {"error --lengths lengths.npy", "--lengths: goes with --ids"},
      {"error --model bert/model.safetensors --n 4" + kModelTokens, "--n: of a text, --ids has the tokens"},
  };
  for (const auto& [arguments, message] : wrong) {
    CAPTURE_BINDING(arguments);
    const ProgramRun run = run_croquis(arguments, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(std::count(run.output.begin(), run.output.end(), '\n') == 1, run.output);
    CHECK_MESSAGE(run.output.find(message) != std::string::npos, run.output);
  }
}
