// Small models whose weights are a formula, with what PyTorch computed of them (tests/models/torch_reference.py).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

struct FormulaModel {
  std::string name, config;                                                 ///< config: the text of a config.json
  std::vector<std::pair<std::string, std::vector<std::uint64_t>>> tensors;  ///< names and shapes
  std::map<std::string, std::vector<double>> numbers;                       ///< "hidden 0", "q", "loss", ...
  std::map<std::string, std::string> copies = {};         ///< tensors with the numbers of another name
  std::map<std::string, std::vector<double>> given = {};  ///< tensors with these numbers, which have one dimension

  /// A safetensors file; type F32, F16 or BF16, which make no difference to these numbers.
  std::string file(const std::string& type = "F32") const;
  /// Two files and model.safetensors.index.json.
  void write_parts(const std::filesystem::path& folder) const;
};

/// In the order of the file.
std::vector<FormulaModel> formula_models();
FormulaModel formula_model(const std::string& name);
