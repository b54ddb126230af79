// A small random BERT as files.
#pragma once

#include <armadillo>
#include <croquis/models/model_config.hpp>
#include <map>
#include <string>

/// Tensors by name, without "bert."; a vector is a row. All numbers are k / 64 with |k| < 256, which float32, float16
/// and bfloat16 can hold, so that the type of a file makes no difference.
struct BertModel {
  croquis::ModelConfig config;
  arma::uword vocabulary = 20;
  std::map<std::string, arma::mat> tensors;

  explicit BertModel(
      const char* purpose,
      const croquis::ModelConfig& sizes = {
          .hidden = 8, .heads = 2, .layers = 3, .intermediate = 12, .positions = 7, .layer_norm_epsilon = 1e-3});

  /// A safetensors file; type F32, F16 or BF16.
  std::string file(const std::string& type, const std::string& prefix) const;
  /// A config.json with these entries in place of its own, or beside them; an empty one leaves it out.
  std::string configuration(const std::map<std::string, std::string>& changes = {}) const;
};
