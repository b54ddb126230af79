#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/core/threads.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/models/model_config.hpp>
#include <croquis/models/stock.hpp>
#include <numbers>
#include <set>
#include <string>

namespace croquis {
namespace {

// Names of Hugging Face's table of activations.
Activation activation_of(const ConfigEntries& entries, const char* key, const char* default_value) {
  const std::string name = entries.text(key, default_value);
  if (name == "gelu" || name == "gelu_python") return Activation::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
  if (name == "silu" || name == "swish") return Activation::silu;
  if (name != "relu") {
    entries.refuse(fmt::format("{} '{}' is none of gelu, gelu_python, gelu_new, gelu_pytorch_tanh, relu, silu, swish",
                               key, excerpt(name)));
  }
  return Activation::relu;
}

ModelType type_of(const ConfigEntries& entries) {
  const std::string name = entries.text("model_type", "bert");
  for (const ModelType type : {ModelType::bert, ModelType::albert, ModelType::gpt2, ModelType::llama}) {
    if (name == name_of(type)) return type;
  }
  entries.refuse(fmt::format("model_type is '{}'; bert, albert, gpt2 and llama are read", excerpt(name)));
}

// What BERT, ALBERT and Llama have under the same names.
void read_sizes(const ConfigEntries& entries, ModelConfig& config) {
  config.hidden = entries.size("hidden_size");
  config.heads = entries.size("num_attention_heads");
  config.layers = entries.size("num_hidden_layers");
  config.intermediate = entries.size("intermediate_size");
  config.positions = entries.size("max_position_embeddings");
}

// Hugging Face's code takes a null for false, also where the entry is true when it is missing.
bool is_tied(const ConfigEntries& entries, bool default_value) {
  const char* const key = "tie_word_embeddings";
  return !entries.is_null(key) && entries.is_true(key, default_value);
}

void read_encoder(const ConfigEntries& entries, ModelConfig& config) {
  const std::string positions = entries.text("position_embedding_type", "absolute");
  if (positions != "absolute") {
    entries.refuse(fmt::format("position_embedding_type is '{}'; 'absolute' is read", excerpt(positions)));
  }
  if (entries.is_true("is_decoder")) entries.refuse("is_decoder is true; encoders are read");
  read_sizes(entries, config);
  const bool albert = config.type == ModelType::albert;
  config.token_types = entries.size_or("type_vocab_size", config.token_types);
  config.activation = activation_of(entries, "hidden_act", albert ? "gelu_new" : "gelu");
  config.layer_norm_epsilon = entries.positive("layer_norm_eps", config.layer_norm_epsilon);
  config.tied = is_tied(entries, true);
  if (!albert) return;
  config.embedding = entries.size_or("embedding_size", config.embedding);
  config.groups = entries.size_or("num_hidden_groups", config.groups);
  if (entries.size_or("inner_group_num", 1) != 1) {
    entries.refuse(fmt::format("inner_group_num is {}; 1 is read", entries.size("inner_group_num")));
  }
  if (config.groups > config.layers) {
    entries.refuse(fmt::format("num_hidden_groups {} is more than num_hidden_layers {}", config.groups, config.layers));
  }
}

void read_gpt2(const ConfigEntries& entries, ModelConfig& config) {
  entries.refuse_unless("scale_attn_weights", true);
  entries.refuse_unless("scale_attn_by_inverse_layer_idx", false);
  const std::string heads = entries.text("attention_head_type", "multihead");
  if (heads != "multihead") {
    entries.refuse(fmt::format("attention_head_type is '{}'; 'multihead' is read", excerpt(heads)));
  }
  config.hidden = entries.size("n_embd", "hidden_size");
  config.heads = entries.size("n_head", "num_attention_heads");
  config.layers = entries.size("n_layer", "num_hidden_layers");
  config.positions = entries.size("n_positions", "max_position_embeddings");
  config.intermediate = entries.size_or("n_inner", 4 * config.hidden);
  config.activation = activation_of(entries, "activation_function", "gelu_new");
  config.layer_norm_epsilon = entries.positive("layer_norm_epsilon", 1e-5);
  config.tied = is_tied(entries, true);
}

void require_whole_heads_rotated(const ConfigEntries& entries) {
  if (entries.positive("partial_rotary_factor", 1) != 1) entries.refuse("partial_rotary_factor is not 1; 1 is read");
}

// What there is to say of rotary positions has been in two objects, and its base in the file's own as well.
void read_rotary(const ConfigEntries& entries, ModelConfig& config) {
  const std::set<std::string> read = {"type", "rope_type", "rope_theta", "partial_rotary_factor", "factor"};
  // Of scaled positions; files with the type `default` name them too, where they mean nothing.
  const std::set<std::string> scaled = {"original_max_position_embeddings",
                                        "attention_factor",
                                        "beta_fast",
                                        "beta_slow",
                                        "short_factor",
                                        "long_factor",
                                        "low_freq_factor",
                                        "high_freq_factor"};
  require_whole_heads_rotated(entries);
  bool stated = entries.has("rope_theta");
  config.rope_theta = entries.positive("rope_theta", config.rope_theta);
  for (const char* object : {"rope_scaling", "rope_parameters"}) {
    const ConfigEntries rotary = entries.object(object);
    for (const char* key : {"type", "rope_type"}) {
      const std::string kind = rotary.text(key, "default");
      if (kind == "default") continue;
      entries.refuse(fmt::format("{} has {} '{}'; 'default' is read", object, key, excerpt(kind)));
    }
    const bool unscaled = rotary.has("type") || rotary.has("rope_type");
    if (!unscaled && rotary.positive("factor", 1) != 1) {
      entries.refuse(fmt::format("{} has a factor other than 1 and no rope_type; 'default' is read", object));
    }
    require_whole_heads_rotated(rotary);
    const double theta = rotary.positive("rope_theta", config.rope_theta);
    if (stated && theta != config.rope_theta) {
      entries.refuse(
          fmt::format("{} has rope_theta {}, and there is another one, {}", object, theta, config.rope_theta));
    }
    stated = stated || rotary.has("rope_theta");
    config.rope_theta = theta;
    for (const std::string& key : rotary.keys()) {
      if (read.contains(key) || (unscaled && scaled.contains(key))) continue;
      entries.refuse(fmt::format("{} has '{}', which is not read", object, excerpt(key)));
    }
  }
}

// Entries of models that have the tensors of a Llama and are computed in another way, such as Granite and Gemma 2.
// Hugging Face's class of a Llama does not read them, but weights beside them were trained with them. (Not
// sliding_window: that of a Mistral stays behind where its weights are stored as a Llama, and matters to long texts
// alone.)
void require_arithmetic_of_llama(const ConfigEntries& entries, const ModelConfig& config) {
  constexpr double rounding = 1e-6;  // of a number in a file
  constexpr const char* remedy = "remove the entry to compute the model without it";
  const std::pair<const char*, double> factors[] = {
      {"embedding_multiplier", 1},
      {"residual_multiplier", 1},
      {"logits_scaling", 1},
      {"logit_scale", 1},
      {"attention_multiplier", 1 / std::sqrt(static_cast<double>(config.p()))}};
  for (const auto& [key, computed] : factors) {
    if (!entries.has(key)) continue;
    const double factor = entries.positive(key, computed);
    if (std::abs(factor - computed) <= rounding * computed) continue;
    entries.refuse(fmt::format("{} is {}; a Llama is computed with {}; {}", key, factor, computed, remedy));
  }
  for (const char* key : {"attn_logit_softcapping", "final_logit_softcapping", "clip_qkv"}) {
    if (entries.has(key)) entries.refuse(fmt::format("has {}, which a Llama is computed without; {}", key, remedy));
  }
}

void read_llama(const ConfigEntries& entries, ModelConfig& config) {
  read_rotary(entries, config);
  read_sizes(entries, config);
  config.key_heads = entries.size_or("num_key_value_heads", config.heads);
  if (config.heads % *config.key_heads != 0) {
    entries.refuse(fmt::format("num_attention_heads {} is no multiple of num_key_value_heads {}", config.heads,
                               *config.key_heads));
  }
  if (entries.has("head_dim")) config.head_width = entries.size("head_dim");
  if (config.p() % 2 != 0)
    entries.refuse(fmt::format("heads of width {}; rotary positions need an even one", config.p()));
  require_arithmetic_of_llama(entries, config);
  config.activation = activation_of(entries, "hidden_act", "silu");
  config.layer_norm_epsilon = entries.positive("rms_norm_eps", 1e-6);
  config.attention_bias = entries.is_true("attention_bias");
  config.mlp_bias = entries.is_true("mlp_bias");
  config.tied = is_tied(entries, false);
}

}  // namespace

std::string_view name_of(ModelType type) {
  switch (type) {
    case ModelType::bert:
      return "bert";
    case ModelType::albert:
      return "albert";
    case ModelType::gpt2:
      return "gpt2";
    case ModelType::llama:
      return "llama";
  }
  return "";
}

void apply(Activation activation, arma::mat& x) {
  constexpr arma::uword block = 4096, flops = 50;
  const auto transform = [&](auto f) {
    parallel_for(blocks_of(x.n_elem, block), block * flops, [&](std::size_t b) {
      double* const first = x.memptr() + b * block;
      std::transform(first, x.memptr() + std::min(x.n_elem, (b + 1) * block), first, f);
    });
  };
  switch (activation) {
    case Activation::gelu:
      return transform([](double t) { return 0.5 * t * std::erfc(-t / std::numbers::sqrt2); });
    case Activation::gelu_tanh: {
      const double factor = std::sqrt(2 / std::numbers::pi);
      return transform([=](double t) { return 0.5 * t * (1 + std::tanh(factor * (t + 0.044715 * t * t * t))); });
    }
    case Activation::relu:
      return transform([](double t) { return t > 0 ? t : 0; });
    case Activation::silu:
      return transform([](double t) { return t / (1 + std::exp(-t)); });
  }
}

ModelConfig read_model_config(const std::string& path) {
  return parse_model_config(read_bytes(path), path);
}

ModelConfig parse_model_config(std::string_view bytes, const std::string& name) {
  const ConfigEntries entries(bytes, name);
  ModelConfig config;
  config.type = type_of(entries);
  config.type_stated = entries.has("model_type");
  require_stock_entries(entries, config.type);
  // Encoders do not read this entry.
  if (config.is_causal()) entries.refuse_unless("is_causal", true);
  config.padding = entries.token("pad_token_id");
  if (entries.has("vocab_size")) config.vocabulary = entries.size("vocab_size");
  switch (config.type) {
    case ModelType::bert:
    case ModelType::albert:
      read_encoder(entries, config);
      break;
    case ModelType::gpt2:
      read_gpt2(entries, config);
      break;
    case ModelType::llama:
      read_llama(entries, config);
  }
  if (!config.head_width && config.hidden % config.heads != 0) {
    const bool gpt2 = config.type == ModelType::gpt2;
    entries.refuse(fmt::format("{} {} is no multiple of {} {}", gpt2 ? "n_embd" : "hidden_size", config.hidden,
                               gpt2 ? "n_head" : "num_attention_heads", config.heads));
  }
  return config;
}

}  // namespace croquis
