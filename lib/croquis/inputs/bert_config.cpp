#include <fmt/format.h>

#include <cmath>
#include <croquis/inputs/bert_config.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/io/json.hpp>
#include <numbers>

namespace croquis {
namespace {

using nlohmann::json;

constexpr std::uint64_t kLargestSize = 1 << 24;

class Entries {
 public:
  Entries(std::string_view bytes, std::string name)
      : name_(std::move(name)), values_(parse_json_object(bytes, name_, "is no config.json")) {}

  [[noreturn]] void refuse(const std::string& why) const { refuse_file(name_, why); }

  bool has(const char* key) const { return values_.contains(key) && !values_[key].is_null(); }

  arma::uword size(const char* key) const {
    if (!has(key)) refuse(fmt::format("has no {}", key));
    const json& value = values_[key];
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 || value.get<std::uint64_t>() > kLargestSize) {
      refuse(fmt::format("{} is {}; a whole number from 1 to {} is read", key, shown(value), kLargestSize));
    }
    return value.get<std::uint64_t>();
  }

  std::string text(const char* key, const char* default_value) const {
    if (!has(key)) return default_value;
    if (!values_[key].is_string()) refuse(fmt::format("{} is {}; a string is read", key, shown(values_[key])));
    return values_[key].get<std::string>();
  }

  double positive(const char* key, double default_value) const {
    if (!has(key)) return default_value;
    const json& value = values_[key];
    if (!value.is_number() || !(value.get<double>() > 0) || !std::isfinite(value.get<double>())) {
      refuse(fmt::format("{} is {}; a positive number is read", key, shown(value)));
    }
    return value.get<double>();
  }

  bool is_true(const char* key) const {
    if (!has(key)) return false;
    if (!values_[key].is_boolean()) refuse(fmt::format("{} is {}; true or false is read", key, shown(values_[key])));
    return values_[key].get<bool>();
  }

 private:
  // In a damaged file a value may have megabytes.
  static std::string shown(const json& value) {
    return value.is_structured() ? value.type_name() : excerpt(value.dump(-1, ' ', true));
  }

  std::string name_;
  json values_;
};

Activation activation_of(const Entries& entries) {
  const std::string name = entries.text("hidden_act", "gelu");
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
  if (name != "relu")
    entries.refuse(fmt::format("hidden_act '{}' is none of gelu, gelu_new, gelu_pytorch_tanh, relu", excerpt(name)));
  return Activation::relu;
}

}  // namespace

void apply(Activation activation, arma::mat& x) {
  switch (activation) {
    case Activation::gelu:
      x.transform([](double t) { return 0.5 * t * std::erfc(-t / std::numbers::sqrt2); });
      break;
    case Activation::gelu_tanh: {
      const double factor = std::sqrt(2 / std::numbers::pi);
      x.transform([&](double t) { return 0.5 * t * (1 + std::tanh(factor * (t + 0.044715 * t * t * t))); });
      break;
    }
    case Activation::relu:
      x.transform([](double t) { return t > 0 ? t : 0; });
  }
}

BertConfig read_bert_config(const std::string& path) {
  return parse_bert_config(read_bytes(path), path);
}

BertConfig parse_bert_config(std::string_view bytes, const std::string& name) {
  const Entries entries(bytes, name);
  const std::string model = entries.text("model_type", "bert"),
                    positions = entries.text("position_embedding_type", "absolute");
  if (model != "bert") entries.refuse(fmt::format("model_type is '{}'; 'bert' is read", excerpt(model)));
  if (positions != "absolute") {
    entries.refuse(fmt::format("position_embedding_type is '{}'; 'absolute' is read", excerpt(positions)));
  }
  if (entries.is_true("is_decoder")) entries.refuse("is_decoder is true; encoders are read");
  BertConfig config;
  config.hidden = entries.size("hidden_size");
  config.heads = entries.size("num_attention_heads");
  config.layers = entries.size("num_hidden_layers");
  config.intermediate = entries.size("intermediate_size");
  config.positions = entries.size("max_position_embeddings");
  if (entries.has("type_vocab_size")) config.token_types = entries.size("type_vocab_size");
  config.activation = activation_of(entries);
  config.layer_norm_epsilon = entries.positive("layer_norm_eps", config.layer_norm_epsilon);
  if (config.hidden % config.heads != 0) {
    entries.refuse(fmt::format("hidden_size {} is no multiple of num_attention_heads {}", config.hidden, config.heads));
  }
  return config;
}

}  // namespace croquis
