// Which numbers the last product of a language-model head has, where files have them under several names.
#include <doctest/doctest.h>
#include <croquis/models/model.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "support/capture.hpp"
#include "support/formula_model.hpp"
#include "support/refusal.hpp"

using namespace croquis;

namespace {

// As in architectures.cpp; a bias adds one rounding.
constexpr double kLogitBound = 2e-10;

FormulaModel with_entry(FormulaModel model, const std::string& entry) {
  model.config.insert(model.config.rfind('}'), ", " + entry);
  return model;
}

FormulaModel with_tensor(FormulaModel model, const std::string& name, const std::vector<std::uint64_t>& shape,
                         const std::string& numbers_of = "") {
  model.tensors.emplace_back(name, shape);
  if (!numbers_of.empty()) model.copies[name] = numbers_of;
  return model;
}

FormulaModel without_tensor(FormulaModel model, const std::string& name) {
  REQUIRE(std::erase_if(model.tensors, [&](const auto& tensor) { return tensor.first == name; }) == 1);
  return model;
}

Model opened(const FormulaModel& model) {
  return {SafeTensors(model.file(), "m.safetensors"), parse_model_config(model.config, "config.json")};
}

std::string said_of_head(const FormulaModel& model) {
  const Model there = opened(model);
  return refusal([&] { there.require_language_head(); });
}

const std::string kRead = "nothing was thrown";

// Rows 2 and 8 of the logits less those that PyTorch computed of the model as it was: the same in both rows.
std::vector<double> added_to_logits(const FormulaModel& model) {
  const Model there = opened(model);
  there.require_language_head();
  const TokenIds ids = {3, 1, 4, 1, 5, 9, 2, 6, 10};
  const arma::mat logits = there.logits(there.last_hidden(there.hidden(ids, there.config().layers)));
  const std::vector<double>& reference = model.numbers.at("logits");
  std::vector<double> added;
  for (arma::uword word = 0; word < 11; ++word) {
    added.push_back(logits(2, word) - reference[word]);
    CHECK(std::abs(logits(8, word) - reference[11 + word] - added.back()) <= kLogitBound);
  }
  return added;
}

// One bias less another, by their numbers in the file; without names, 11 zeros.
void check_added(const FormulaModel& model, const std::string& bias = "", const std::string& less = "") {
  const std::vector<double> added = added_to_logits(model);
  const SafeTensors file(model.file(), "m");
  arma::mat expected(1, 11, arma::fill::zeros);
  if (!bias.empty()) expected = file.matrix(bias) - file.matrix(less);
  for (arma::uword word = 0; word < 11; ++word) CHECK(std::abs(added[word] - expected(word)) <= kLogitBound);
}

}  // namespace

TEST_CASE("output embeddings: without a tie, the decoder's bias counts where there is one, and either name is read") {
  const std::string words = "bert.embeddings.word_embeddings.weight", of_bert = "cls.predictions.";
  const FormulaModel tied = formula_model("bert"), albert = formula_model("albert"),
                     bert = with_entry(with_tensor(tied, of_bert + "decoder.weight", {11, 8}, words),
                                       R"("tie_word_embeddings": false)");
  check_added(bert);
  const auto check_biases = [](const FormulaModel& model, const std::string& head) {
    const FormulaModel both = with_tensor(model, head + "decoder.bias", {11});
    check_added(both, head + "decoder.bias", head + "bias");
    check_added(without_tensor(with_tensor(model, head + "decoder.bias", {11}, head + "bias"), head + "bias"));
    CHECK(said_of_head(without_tensor(model, head + "bias")) == "m.safetensors: has no tensor '" + head + "bias'");
    CHECK(said_of_head(with_tensor(model, head + "decoder.bias", {12})) ==
          "m.safetensors: tensor '" + head + "decoder.bias' is [12]; the configuration calls for [11]");
  };
  check_biases(bert, of_bert);
  check_biases(albert, "predictions.");
  check_added(without_tensor(with_tensor(tied, of_bert + "decoder.bias", {11}, of_bert + "bias"), of_bert + "bias"));
}

TEST_CASE("output embeddings: with a tie, other numbers in the file are refused, and equal ones read") {
  const std::string so = ", and tie_word_embeddings is true; set it to false in config.json, or remove the tensor";
  const struct {
    const char *model, *tensor, *equal;
    std::vector<std::uint64_t> shape;
  } cases[] = {{"bert", "cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight", {11, 8}},
               {"bert", "cls.predictions.decoder.bias", "cls.predictions.bias", {11}},
               {"gpt2", "lm_head.weight", "transformer.wte.weight", {11, 8}},
               {"llama-tied", "lm_head.weight", "model.embed_tokens.weight", {11, 8}}};
  for (const auto& [name, tensor, equal, shape] : cases) {
    const std::string tried = tensor;
    CAPTURE(tried);
    const FormulaModel model = formula_model(name);
    CHECK(said_of_head(with_tensor(model, tensor, shape)) ==
          "m.safetensors: tensor '" + tried + "' differs from '" + equal + "'" + so);
    check_added(with_tensor(model, tensor, shape, equal));
  }
  CHECK(said_of_head(with_tensor(formula_model("gpt2"), "lm_head.weight", {12, 8})).ends_with(so));
  // However near they are.
  FormulaModel near = formula_model("bert");
  const arma::mat bias = SafeTensors(near.file(), "m").matrix("cls.predictions.bias");
  std::vector<double> numbers(bias.begin(), bias.end());
  numbers[7] += 0x1p-20;
  near.given = {{"cls.predictions.decoder.bias", numbers}};
  CHECK(said_of_head(near).ends_with(so));
}

TEST_CASE("output embeddings: a bias where the type has none is refused") {
  for (const char* name : {"gpt2", "llama-tied", "llama-untied"}) {
    const std::string tried = name;
    CAPTURE(tried);
    CHECK(said_of_head(with_tensor(formula_model(name), "lm_head.bias", {11})) ==
          "m.safetensors: has tensor 'lm_head.bias', which the configuration does not call for: it would be left out, "
          "and another model computed; correct config.json, or remove the tensor");
  }
}

TEST_CASE("output embeddings: a message about missing ones says what would make the word embeddings take their place") {
  CHECK(said_of_head(without_tensor(formula_model("llama-untied"), "lm_head.weight")) ==
        "m.safetensors: has no tensor 'lm_head.weight', and tie_word_embeddings is false; with true, the word "
        "embeddings take its place");
  CHECK(said_of_head(formula_model("gpt2")) == kRead);
}

TEST_CASE(
    "a model without a head for masked tokens, as a classifier: the message says so, and what it can be used for") {
  const std::pair<const char*, std::string> cases[] = {{"bert", "cls.predictions.transform.dense.weight"},
                                                       {"albert", "predictions.dense.weight"}};
  for (const auto& [name, tensor] : cases) {
    CAPTURE_BINDING(tensor);
    CHECK(said_of_head(without_tensor(formula_model(name), tensor)) ==
          "m.safetensors: has no tensor '" + tensor +
              "': without the head that predicts masked tokens, as in a classifier, there is no loss to compute; "
              "croquis error and choose --eps measure its attention");
  }
}
