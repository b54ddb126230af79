// The input of an experiment: Q, K and V from the command line's options.
#pragma once

#include <croquis/attention/method_choice.hpp>
#include <croquis/attention/problem.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "files/run_options.hpp"

struct InputOptions {
  std::string kind = "text";              ///< one of input_kinds()
  std::string text;                       ///< file for `text` and `model`; the sample text when empty
  std::string vocab;                      ///< vocab.txt for `text` and `model`
  bool uncased = false;                   ///< the vocabulary has lower case without accents
  std::string model;                      ///< safetensors for `model`
  std::string model_config;               ///< config.json; the one beside the model when empty
  std::string layer = "0";                ///< of `model`: all, or numbers as in "0-3,7"
  std::string ids, lengths;               ///< .npy files for `model`, in place of a text
  std::string sequence = "all";           ///< of the ids: all, or numbers as in "0-3,7"
  std::optional<long long> join_windows;  ///< for `text` and `model`: so many windows make one head
  std::string q, k, v;                    ///< files for `arrays`
  std::string qkv;                        ///< one file for them
  std::string head = "all";               ///< of `model` and arrays with heads: all, or numbers as in "0-3,7"
  std::optional<long long> head_sample;   ///< so many of these heads, drawn with the seed
  bool token_type = false;                ///< for `text`
  std::optional<long long> n, p, length;
  std::optional<double> norm;                         ///< for the synthetic kinds
  std::optional<long long> clusters, rank, distinct;  ///< for `clustered`, `low-rank`, `duplicates`
  std::optional<double> spread, tail;                 ///< for `clustered`, `heavy-norms`
  std::string bias;  ///< FILE.npy, alibi:..., t5:... or random:...; none when empty (see bias.hpp)
  bool causal = false;
  bool causal_by_model = false;  ///< the model is a decoder, which made `causal` true
};

/// What of a position the heads have.
croquis::PositionParts position_parts(const InputOptions& options);

/// text, model, arrays, gaussian, sphere, clustered, heavy-norms, low-rank, duplicates.
const std::vector<std::string>& input_kinds();

/// What is known of a head without its numbers, which are read or computed when they are asked for.
struct Input {
  std::string name;  ///< for the results: the kind, the file where there is one, layer and head, bias and causality
  std::optional<std::uint64_t> sequence = {}, layer = {}, head = {};  ///< where the input has several
  std::function<croquis::Problem<double>()> problem = {};  ///< the same numbers every time; for one thread at a time
  arma::uword n_q = 0, n_k = 0, p = 0, p_v = 0;            ///< without padding
  croquis::LongestRow longest = {};                        ///< among those of Q, K and V
  std::string digest = {};  ///< of sizes and numbers, so that a resumed run can tell changed files
};

/// What a row says of its input, and of the run.
template <typename Row>
void set_input(Row& row, const Input& input, const RunOptions& run) {
  row.input = input.name;
  row.sequence = input.sequence;
  row.layer = input.layer;
  row.head = input.head;
  row.seed = run.seed;
  row.precision = run.precision;
}

/// What every row depends on, for the meta file.
std::map<std::string, std::string> identity_of(const Input& input);
std::map<std::string, std::string> identity_of(const std::vector<Input>& inputs);

/// What an input is called that comes from files of arrays.
std::string name_of_arrays(const std::string& path_of_q);

/// Throws std::invalid_argument for an option that goes with another kind of input and is among those `given`.
void refuse_others(const InputOptions& options, const std::set<std::string>& given);

/// The heads of the input, most often one; no two have the same name. Goes through all of them once, one in memory at a
/// time, so that a head that cannot be measured is refused before anything is computed. A line on standard error says
/// what was decided for the user: heads that share keys, dtypes without a meaning. Shows progress unless `run` is
/// quiet. Throws std::invalid_argument, with the option to change, for what does not go together or cannot be read.
std::vector<Input> load_inputs(const InputOptions& options, const RunOptions& run);

/// For what is about full attention: a decoder's heads without their causal mask. Throws std::invalid_argument with
/// `why` for --causal.
InputOptions without_mask(InputOptions options, const char* why);

/// The numbers of queries and keys of the inputs, one by one.
std::vector<croquis::TokenAlignment> token_counts_of(const std::vector<Input>& inputs);

/// For --precision float: throws std::invalid_argument, naming the row, where squares of its numbers overflow in float.
void require_float_norms(const Input& input);

/// Throws std::invalid_argument, beginning with `who`, unless there are as many queries as keys.
void require_square(const Input& input, const std::string& who);

/// The options that add columns about the input: "--ids" where it has sequences.
std::set<std::string> input_columns(const InputOptions& options);
