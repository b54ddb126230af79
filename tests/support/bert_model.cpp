#include "support/bert_model.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <croquis/random/draws.hpp>
#include <cstdint>

#include "support/archives.hpp"
#include "support/npy_files.hpp"
#include "support/seed.hpp"

namespace {

std::uint16_t half_of(double x) {
  if (x == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(x), &exponent);  // in [1/2, 1)
  const auto bits = static_cast<unsigned>(std::lround((2 * fraction - 1) * 1024));
  return static_cast<std::uint16_t>((x < 0 ? 0x8000U : 0U) + (static_cast<unsigned>(exponent + 14) << 10) + bits);
}

std::string numbers(const arma::mat& m, const std::string& type) {
  std::vector<float> wide;
  std::vector<std::uint16_t> narrow;
  for (arma::uword i = 0; i < m.n_rows; ++i) {
    for (arma::uword j = 0; j < m.n_cols; ++j) {
      const auto x = static_cast<float>(m(i, j));
      if (type == "F32") wide.push_back(x);
      if (type == "F16") narrow.push_back(half_of(x));
      if (type == "BF16") narrow.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16));
    }
  }
  return type == "F32" ? bytes_of(wide) : bytes_of(narrow);
}

}  // namespace

BertModel::BertModel(const char* purpose, const croquis::ModelConfig& sizes) : config(sizes) {
  const croquis::Key draw_key = croquis::Key(test_seed()).child("bert model").child(purpose);
  const auto add = [&](const std::string& name, arma::uword rows, arma::uword cols, double mean) {
    arma::mat m(rows, cols);
    croquis::fill_normal(draw_key.child(name), 0, m.n_elem, m.memptr());
    tensors[name] = arma::clamp(arma::round(64 * (mean + 0.4 * m)), -255, 255) / 64;
  };
  const auto add_linear = [&](const std::string& name, arma::uword out, arma::uword in) {
    add(name + ".weight", out, in, 0);
    add(name + ".bias", 1, out, 0);
  };
  const auto add_norm = [&](const std::string& name) {
    add(name + ".weight", 1, config.hidden, 1);
    add(name + ".bias", 1, config.hidden, 0);
  };
  add("embeddings.word_embeddings.weight", vocabulary, config.hidden, 0);
  add("embeddings.position_embeddings.weight", config.positions, config.hidden, 0);
  add("embeddings.token_type_embeddings.weight", config.token_types, config.hidden, 0);
  add_norm("embeddings.LayerNorm");
  for (arma::uword l = 0; l < config.layers; ++l) {
    const std::string layer = fmt::format("encoder.layer.{}.", l);
    for (const char* part :
         {"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"}) {
      add_linear(layer + part, config.hidden, config.hidden);
    }
    add_norm(layer + "attention.output.LayerNorm");
    add_linear(layer + "intermediate.dense", config.intermediate, config.hidden);
    add_linear(layer + "output.dense", config.hidden, config.intermediate);
    add_norm(layer + "output.LayerNorm");
  }
}

std::string BertModel::file(const std::string& type, const std::string& prefix) const {
  std::string header, data;
  for (const auto& [name, m] : tensors) {
    const std::string bytes = numbers(m, type);
    const bool is_vector = name.find("embeddings.weight") == std::string::npos && m.n_rows == 1;
    header +=
        fmt::format(R"({}"{}{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", header.empty() ? "" : ",",
                    prefix, name, type, is_vector ? std::to_string(m.n_cols) : fmt::format("{},{}", m.n_rows, m.n_cols),
                    data.size(), data.size() + bytes.size());
    data += bytes;
  }
  return safetensors_file("{" + header + "}", data);
}

std::string BertModel::configuration(const std::map<std::string, std::string>& changes) const {
  std::map<std::string, std::string> entries = {{"model_type", "\"bert\""},
                                                {"hidden_size", std::to_string(config.hidden)},
                                                {"num_attention_heads", std::to_string(config.heads)},
                                                {"num_hidden_layers", std::to_string(config.layers)},
                                                {"intermediate_size", std::to_string(config.intermediate)},
                                                {"max_position_embeddings", std::to_string(config.positions)},
                                                {"type_vocab_size", std::to_string(config.token_types)},
                                                {"hidden_act", "\"gelu\""},
                                                {"layer_norm_eps", fmt::format("{}", config.layer_norm_epsilon)}};
  for (const auto& [key, value] : changes) entries[key] = value;
  std::string text;
  for (const auto& [key, value] : entries) {
    if (!value.empty()) text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ",\n ", key, value);
  }
  return "{" + text + "}\n";
}
