// The input of an experiment: Q, K and V from the command line's options.
#pragma once

#include <croquis/attention/problem.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

struct InputOptions {
  std::string kind = "text";  ///< one of input_kinds()
  std::string text;           ///< file for `text` and `model`; the sample text when empty
  std::string vocab;          ///< vocab.txt for `text` and `model`
  bool uncased = false;       ///< the vocabulary has lower case without accents
  std::string model;          ///< safetensors for `model`
  std::string model_config;   ///< config.json; the one beside the model when empty
  std::string layer = "0";    ///< of `model`: all, or numbers as in "0,3"
  std::string q, k, v;        ///< files for `arrays`
  std::string qkv;            ///< one .npz for them
  std::string head = "all";   ///< of `model` and arrays with heads: all, or numbers as in "0,3"
  bool token_type = false;    ///< for `text`
  std::optional<long long> n, p, length;
  std::optional<double> norm;                         ///< for the synthetic kinds
  std::optional<long long> clusters, rank, distinct;  ///< for `clustered`, `low-rank`, `duplicates`
  std::optional<double> spread, tail;                 ///< for `clustered`, `heavy-norms`
  std::string bias;  ///< FILE.npy, alibi:..., t5:... or random:...; none when empty (see bias.hpp)
  bool causal = false;
};

/// text, model, arrays, gaussian, sphere, clustered, heavy-norms, low-rank, duplicates.
const std::vector<std::string>& input_kinds();

struct Input {
  std::string name;  ///< for the results: the kind, the file where there is one, bias and causality
  croquis::Problem<double> problem;
  std::string digest;  ///< of sizes and numbers, so that a resumed run can tell changed files
};

/// What every row depends on, for the meta file.
std::map<std::string, std::string> identity_of(const Input& input);
std::map<std::string, std::string> identity_of(const std::vector<Input>& inputs);

/// What an input is called that comes from files of arrays.
std::string name_of_arrays(const std::string& path_of_q);

/// The heads of the input, most often one; no two have the same name.
/// Throws std::invalid_argument, with the option to change, for what does not go together or cannot be read.
std::vector<Input> load_inputs(const InputOptions& options, std::uint64_t seed);
/// The same where one head is wanted: refuses several.
Input load_input(const InputOptions& options, std::uint64_t seed);
