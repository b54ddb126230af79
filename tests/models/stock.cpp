// Models with the tensors of a type that are not computed as the type is, and entries under other names.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/models/model.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/capture.hpp"
#include "support/formula_model.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

std::string with(const std::string& config, const std::string& entries) {
  return std::string(config).insert(config.rfind('}'), ", " + entries);
}

std::string without_type(const std::string& config) {
  const std::size_t begin = config.find("\"model_type\""), end = config.find(", ", begin) + 2;
  return std::string(config).erase(begin, end - begin);
}

std::string said_of_config(const std::string& config) {
  return refusal([&] { parse_model_config(config, "config.json"); });
}

std::string said_of_weights(const FormulaModel& model) {
  const ModelConfig config = parse_model_config(model.config, "config.json");
  return refusal([&] { Model(SafeTensors(model.file(), "m.safetensors"), config); });
}

const std::string kNothing = "nothing was thrown";

}  // namespace

TEST_CASE("stock models: entries that say that a model is computed in another way are refused in one line") {
  const std::pair<const char*, const char*> wrong[] = {
      {R"("auto_map": {"AutoModelForCausalLM": "own.OwnModel"})",
       "auto_map has 'AutoModelForCausalLM', code of the model's own, which is not run"},
      {R"("auto_map": 1)", "auto_map is 1; an object is read"},
      {R"("quantization_config": {"quant_method": "gptq"})",
       "has a quantization_config; weights that are not quantised"},
      {R"("pruned_heads": {"0": [1]})", "has pruned_heads; models with all of their heads are read"},
      {R"("add_cross_attention": true)", "add_cross_attention is true; false is read"},
      {R"("architectures": ["RobertaForMaskedLM"])",
       "architectures has 'RobertaForMaskedLM', which is not of model_type"},
      {R"("architectures": ["MistralForCausalLM"])", "architectures has 'MistralForCausalLM'"},
      {R"("architectures": ["Llama4ForCausalLM"])", "architectures has 'Llama4ForCausalLM'"},
      {R"("architectures": ["BertGenerationEncoder"])", "architectures has 'BertGenerationEncoder'"},
      {R"("architectures": ["LlamaBiModel"])", "architectures has 'LlamaBiModel'"},
      {R"("architectures": "BertModel")", "architectures is \"BertModel\"; an array of strings is read"},
      {R"("architectures": [1])", "architectures is array; an array of strings is read"},
  };
  for (const FormulaModel& model : formula_models()) {
    CAPTURE(model.name);
    for (const auto& [entry, said] : wrong) {
      CAPTURE_BINDING(entry);
      const std::string text = said_of_config(with(model.config, entry));
      CHECK_MESSAGE(text.starts_with(std::string("config.json: ") + said), text);
      CHECK(text.find('\n') == std::string::npos);
    }
    for (const char* entry : {R"("auto_map": {"AutoTokenizer": ["own.Tokenizer", null]})", R"("auto_map": {})",
                              R"("architectures": [])", R"("quantization_config": null)", R"("pruned_heads": {})",
                              R"("add_cross_attention": false)", R"("architectures": null)"}) {
      CAPTURE_BINDING(entry);
      CHECK(said_of_config(with(model.config, entry)) == kNothing);
    }
  }
  CHECK(said_of_config(with(formula_model("gpt2").config, R"("attention_head_type": "multiquery")")) ==
        "config.json: attention_head_type is 'multiquery'; 'multihead' is read");
  CHECK(said_of_config(with(formula_model("gpt2").config, R"("scale_attn_weights": false)")) ==
        "config.json: scale_attn_weights is false; true is read");
  CHECK(said_of_config(with(formula_model("gpt2").config, R"("scale_attn_by_inverse_layer_idx": true)")) ==
        "config.json: scale_attn_by_inverse_layer_idx is true; false is read");
}

TEST_CASE("stock models: architectures are those of the type") {
  const std::pair<const char*, std::vector<const char*>> right[] = {
      {"bert", {"BertModel", "BertForMaskedLM", "BertForPreTraining", "BertLMHeadModel"}},
      {"albert", {"AlbertModel", "AlbertForMaskedLM"}},
      {"gpt2", {"GPT2Model", "GPT2LMHeadModel", "GPT2DoubleHeadsModel"}},
      {"llama-tied", {"LlamaModel", "LlamaForCausalLM", "LLaMAForCausalLM"}}};
  for (const auto& [name, classes] : right) {
    for (const char* one : classes) {
      const std::string tried = one;
      CAPTURE(tried);
      CHECK(said_of_config(with(formula_model(name).config, "\"architectures\": [\"" + tried + "\"]")) == kNothing);
    }
  }
  CHECK(
      said_of_config(with(without_type(formula_model("bert").config), R"("architectures": ["RobertaForMaskedLM"])")) ==
      "config.json: architectures has 'RobertaForMaskedLM', which is not of model_type 'bert', taken because it has "
      "none");
}

TEST_CASE("stock models: a decoder that is not causal is refused; encoders do not read the entry") {
  for (const FormulaModel& model : formula_models()) {
    CAPTURE(model.name);
    const bool encoder = model.name == "bert" || model.name == "albert";
    CHECK(said_of_config(with(model.config, R"("is_causal": true)")) == kNothing);
    CHECK(said_of_config(with(model.config, R"("is_causal": false)")) ==
          (encoder ? kNothing : "config.json: is_causal is false; true is read"));
  }
}

TEST_CASE("stock models: tensors of adapters and norms of queries and keys are refused with their names") {
  for (const FormulaModel& reference : formula_models()) {
    CAPTURE(reference.name);
    for (const auto& [tensor, said] : {std::pair("layer.0.q_norm.weight", "a norm of queries or keys"),
                                       std::pair("layer.0.k_norm.weight", "a norm of queries or keys"),
                                       std::pair("layer.0.q_proj.lora_A.default.weight", "of an adapter; merge it"),
                                       std::pair("layer.0.q_proj.lora_B.weight", "of an adapter; merge it")}) {
      FormulaModel model = reference;
      model.tensors.emplace_back(tensor, std::vector<std::uint64_t>{2});
      const std::string text = said_of_weights(model);
      CHECK_MESSAGE(text.starts_with(std::string("m.safetensors: has tensor '") + tensor + "'"), text);
      CHECK_MESSAGE(contains(text, said), text);
    }
    CHECK(said_of_weights(reference) == kNothing);
  }
}

TEST_CASE("stock models: tensors of a layer that the configuration does not call for are refused, buffers are not") {
  const struct {
    const char* model;
    std::vector<std::string> refused, ignored;
  } cases[] = {
      {"bert",
       {"bert.encoder.layer.1.crossattention.self.query.weight",
        "bert.encoder.layer.0.attention.self.distance_embedding.weight", "bert.encoder.layer.2.output.dense.bias"},
       {"bert.embeddings.position_ids", "embeddings.word_embeddings.weight", "bert.pooler.dense.weight",
        "cls.seq_relationship.weight"}},
      {"albert",
       {"albert.encoder.albert_layer_groups.0.albert_layers.1.ffn.weight",
        "albert.encoder.albert_layer_groups.5.albert_layers.0.ffn.weight"},
       {"albert.pooler.weight", "embeddings.word_embeddings.weight", "sop_classifier.classifier.weight"}},
      {"gpt2",
       {"transformer.h.0.attn.c_attn.weight_scale", "transformer.h.2.ln_1.weight", "transformer.h.1.ln_3.weight",
        "transformer.ln_f.scale"},
       {"wte.weight", "transformer.h.0.attn.bias", "transformer.h.1.attn.masked_bias",
        "multiple_choice_head.summary.weight"}},
      {"llama-tied",
       {"model.layers.0.self_attn.sinks", "model.layers.0.post_feedforward_layernorm.weight",
        "model.layers.2.mlp.up_proj.weight", "model.norm.bias"},
       {"score.weight", "embed_tokens.weight"}},
      {"llama-untied", {"model.layers.0.self_attn.q_proj.bias", "model.layers.1.mlp.up_proj.bias"}, {}},
  };
  for (const auto& [name, refused, ignored] : cases) {
    for (const std::string& tensor : refused) {
      CAPTURE_BINDING(tensor);
      FormulaModel model = formula_model(name);
      model.tensors.emplace_back(tensor, std::vector<std::uint64_t>{8});
      CHECK(said_of_weights(model) == "m.safetensors: has tensor '" + tensor +
                                          "', which the configuration does not call for: it would be left out, and "
                                          "another model computed; correct config.json, or remove the tensor");
    }
    for (const std::string& tensor : ignored) {
      CAPTURE_BINDING(tensor);
      FormulaModel model = formula_model(name);
      model.tensors.emplace_back(tensor, std::vector<std::uint64_t>{8});
      CHECK(said_of_weights(model) == kNothing);
    }
  }
}

TEST_CASE("stock models: rates of rotary positions in the file are those of the configuration, or refused") {
  FormulaModel model = formula_model("llama-tied");
  const ModelConfig config = parse_model_config(model.config, "config.json");
  const auto rates_of = [&](double base) {
    std::vector<double> rates;
    for (double power = 0; power < static_cast<double>(config.p()); power += 2) {
      rates.push_back(std::exp(-std::log(base) * power / static_cast<double>(config.p())));
    }
    return rates;
  };
  const std::vector<double> rates = rates_of(config.rope_theta);
  REQUIRE(rates.size() == 3);
  const std::vector<double> others[] = {rates_of(config.rope_theta / 2),
                                        {rates[0] / 2, rates[1] / 2, rates[2] / 2},
                                        {rates[0], rates[1]},
                                        {rates[0], rates[1], 0.95 * rates[2]}};
  for (const char* tensor : {"model.layers.0.self_attn.rotary_emb.inv_freq", "model.rotary_emb.inv_freq"}) {
    CAPTURE_BINDING(tensor);
    model.given = {{tensor, rates}};
    for (const char* type : {"F32", "BF16"}) {
      CHECK(refusal([&] { Model(SafeTensors(model.file(type), "m.safetensors"), config); }) == kNothing);
    }
    for (const std::vector<double>& other : others) {
      model.given = {{tensor, other}};
      CHECK(said_of_weights(model) ==
            std::string("m.safetensors: tensor '") + tensor +
                "' has other rates of the rotary positions than rope_theta 100 and heads of width 6 give; correct "
                "config.json, or remove the tensor");
    }
    // In half precision a small rate is rounded by more of it than its seven bits.
    ModelConfig large_base = config;
    large_base.rope_theta = 1e9;
    model.given = {{tensor, rates_of(1e9)}};
    CHECK(refusal([&] { Model(SafeTensors(model.file("F16"), "m.safetensors"), large_base); }) == kNothing);
  }
}

TEST_CASE("stock models: what other architectures with the tensors of a Llama compute is refused by name") {
  const FormulaModel llama = formula_model("llama-tied");
  const ModelConfig config = parse_model_config(llama.config, "config.json");
  const auto entry = [](const char* key, double number) {
    return "\"" + std::string(key) + "\": " + fmt::format("{}", number);
  };
  const double scale = 1 / std::sqrt(static_cast<double>(config.p()));
  for (const auto& [key, computed] :
       {std::pair("embedding_multiplier", 1.0), std::pair("residual_multiplier", 1.0), std::pair("logits_scaling", 1.0),
        std::pair("logit_scale", 1.0), std::pair("attention_multiplier", scale)}) {
    CAPTURE_BINDING(key);
    CHECK(said_of_config(with(llama.config, entry(key, computed))) == kNothing);
    CHECK(said_of_config(with(llama.config, "\"" + std::string(key) + "\": null")) == kNothing);
    const std::string text = said_of_config(with(llama.config, entry(key, 1.5 * computed)));
    CHECK_MESSAGE(text.starts_with(std::string("config.json: ") + key + " is "), text);
    CHECK_MESSAGE(contains(text, "remove the entry to compute the model without it"), text);
  }
  for (const std::string key : {"attn_logit_softcapping", "final_logit_softcapping", "clip_qkv"}) {
    CAPTURE(key);
    CHECK(said_of_config(with(llama.config, "\"" + key + "\": null")) == kNothing);
    CHECK(said_of_config(with(llama.config, "\"" + key + "\": 30.0")) ==
          "config.json: has " + key +
              ", which a Llama is computed without; remove the entry to compute the model without it");
  }
  CHECK(said_of_config(with(llama.config, R"("sliding_window": 4)")) == kNothing);
  // Encoders, and GPT-2, are not what such models are made from.
  for (const char* other : {"bert", "albert", "gpt2"}) {
    CHECK(said_of_config(with(formula_model(other).config, R"("logits_scaling": 4)")) == kNothing);
  }
}

TEST_CASE("stock models: tie_word_embeddings is false where it is null, and true where it is missing") {
  for (const char* name : {"bert", "gpt2"}) {
    CAPTURE_BINDING(name);
    const std::string config = formula_model(name).config;
    CHECK(parse_model_config(config, "config.json").tied);
    CHECK_FALSE(parse_model_config(with(config, R"("tie_word_embeddings": null)"), "config.json").tied);
  }
}

TEST_CASE("stock models: a norm with other numbers under its old name is refused, and with the same ones read") {
  for (const auto& [old, now] : {std::pair("gamma", "weight"), std::pair("beta", "bias")}) {
    const std::string norm = "bert.encoder.layer.1.output.LayerNorm.";
    FormulaModel model = formula_model("bert");
    model.tensors.emplace_back(norm + old, std::vector<std::uint64_t>{8});
    CHECK(said_of_weights(model) == "m.safetensors: tensor '" + norm + old + "' differs from '" + norm + now +
                                        "', which are two names of one part");
    model.copies[norm + old] = norm + now;
    CHECK(said_of_weights(model) == kNothing);
  }
}

TEST_CASE("stock models: sizes of a GPT-2 under either name, and not two of them") {
  const FormulaModel model = formula_model("gpt2");
  const std::pair<std::string, std::string> names[] = {{"n_embd", "hidden_size"},
                                                       {"n_head", "num_attention_heads"},
                                                       {"n_layer", "num_hidden_layers"},
                                                       {"n_positions", "max_position_embeddings"}};
  std::string renamed = model.config;
  for (const auto& [name, alias] : names) {
    renamed.replace(renamed.find(name), name.size(), alias);
    const std::size_t at = model.config.find("\"" + name + "\": ") + name.size() + 4;
    const std::string value = model.config.substr(at, 1);
    CHECK(said_of_config(with(model.config, "\"" + alias + "\": " + value)) == kNothing);
    CHECK(said_of_config(with(model.config, "\"" + alias + "\": 16")) ==
          "config.json: " + name + " is " + value + " and " + alias + " is 16, which are two names of one entry");
  }
  const ModelConfig config = parse_model_config(renamed, "config.json"),
                    expected = parse_model_config(model.config, "config.json");
  CHECK(config.hidden == expected.hidden);
  CHECK(config.heads == expected.heads);
  CHECK(config.layers == expected.layers);
  CHECK(config.positions == expected.positions);
}

TEST_CASE("stock models: without a model_type, what does not fit a BERT is refused with what it was taken as") {
  FormulaModel llama = formula_model("llama-tied");
  llama.config = without_type(llama.config);
  llama.config.replace(llama.config.find("silu"), 4, "relu");
  CHECK(said_of_weights(llama) ==
        "m.safetensors: has no tensor 'embeddings.word_embeddings.weight', nor with 'bert.' before it; without a "
        "model_type it was taken as bert");
  CHECK(said_of_config(without_type(formula_model("gpt2").config)) ==
        "config.json: has no hidden_size; it has no model_type either, and was taken as bert");
}
