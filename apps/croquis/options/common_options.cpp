#include "options/common_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <croquis/core/nearest.hpp>
#include <limits>
#include <stdexcept>

#include "options/configuration.hpp"
#include "options/model_input.hpp"

CLI::Validator whole_number(std::uint64_t minimum, std::uint64_t maximum) {
  const std::string range = fmt::format("INT in [{} - {}]", minimum, maximum);
  return CLI::Validator(
      [=](const std::string& text) -> std::string {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool decimal =
            error == std::errc{} && end == text.data() + text.size() && !(text.size() > 1 && text[0] == '0');
        if (decimal && value >= minimum && value <= maximum) return {};
        return fmt::format("'{}' is not a whole number from {} to {} in decimal digits", text, minimum, maximum);
      },
      range);
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::Validator(
      [=](const std::string& text) -> std::string {
        if (std::find(words.begin(), words.end(), text) != words.end()) return {};
        return fmt::format("'{}' is none of {}{}", text, fmt::join(words, " "), croquis::did_you_mean(text, words));
      },
      fmt::format("{{{}}}", fmt::join(words, ",")));
}

namespace {

constexpr const char* kEmptyValue =
    "is empty, perhaps from a shell variable that is not set; give a value or leave it out";

// What a flag is given becomes true or false. The parser itself takes any number, -1 and 0 as false and 1.5 as true.
CLI::Validator truth() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        const std::string word = CLI::detail::to_lower(text);
        const auto among = [&](std::initializer_list<const char*> words) {
          return std::find(words.begin(), words.end(), word) != words.end();
        };
        const bool yes = among({"true", "yes", "on", "1"});
        if (yes || among({"false", "no", "off", "0"})) {
          text = yes ? "true" : "false";
          return {};
        }
        return fmt::format("'{}' is neither true nor false", text);
      },
      "");
}

}  // namespace

void require_values(CLI::App& app) {
  const CLI::Validator is_value(
      [](std::string& text) -> std::string {
        if (text.empty()) return kEmptyValue;
        return text.starts_with("--") ? fmt::format("'{}' looks like an option; of a file, write ./{}", text, text)
                                      : "";
      },
      "");
  // As a transformation, which changes nothing, it comes before what the option itself says of a value.
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    option->transform(option->get_expected_min() == 0 ? truth() : is_value);
  }
}

void require_values(const std::vector<std::string>& arguments) {
  for (const std::string& word : arguments) {
    if (word == "--") return;  // what follows is no option
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      throw std::invalid_argument(fmt::format("{}: {}", word.substr(0, word.size() - 1), kEmptyValue));
    }
  }
}

void add_run_options(CLI::App& command, RunOptions& run) {
  command.option_defaults()->group(kRunGroup);
  command.add_option("--seed", run.seed, "seed of all random draws")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  command.add_option("--threads", run.threads, "threads; 0: all processors")
      ->check(whole_number(0, 4096))
      ->capture_default_str();
  command.add_option("--shard", run.shard, "i/N: compute part i of N of the rows; croquis merge joins the parts");
  command.add_flag("--resume", run.resume, "keep the rows in --out and compute the missing ones");
  command.option_defaults()->group(kOutputGroup);
  command.add_option("--out", run.out, "rows (default COMMAND.csv)");
  command.add_option("--plot", run.plot, "plot: FILE.svg, .png or .pdf");
  command.add_flag("--quiet", run.quiet, "no progress, no table");
  command.add_flag("--overwrite", run.overwrite, "start again if --out is there");
  command.option_defaults()->group(kMeasureGroup);
  command.fallthrough();  // --config belongs to the program
}

void add_precision_option(CLI::App& command, RunOptions& run) {
  command
      .add_option("--precision", run.precision, "of the methods: float or double; all errors are computed in double")
      ->check(one_of({"float", "double"}))
      ->capture_default_str();
}

void add_double_option(CLI::App& command, RunOptions& run) {
  command.add_option("--precision", run.precision, "double: what this command measures is computed in double")
      ->check(CLI::Validator(
          [](const std::string& text) -> std::string {
            if (text == "double") return {};
            return fmt::format(
                "'{}': this command computes in double; float is for error, gradient, cost, choose, model", text);
          },
          "{double}"))
      ->capture_default_str();
}

void add_bias_options(CLI::App& command, std::string& bias, bool& causal) {
  command.add_option("--bias", bias,
                     "relative position bias of the -rpe targets: FILE.npy, alibi:SLOPE, "
                     "t5:BUCKETS,MAXDISTANCE,SIGMA or random:SIGMA (default none)");
  command.add_flag("--causal", causal, "causal attention: no token attends to a token after it, whatever the target");
}

void infer_kind(const CLI::App& command, InputOptions& input) {
  if (command.count("--input") != 0) return;
  if (!input.q.empty() || !input.qkv.empty()) input.kind = "arrays";
  if (!input.model.empty()) input.kind = "model";
}

void infer_mask(InputOptions& input) {
  if (input.kind != "model" || input.model.empty() || input.causal || !config_of(input).is_causal()) return;
  input.causal = input.causal_by_model = true;
}

void add_model_options(CLI::App& command, InputOptions& input) {
  command.add_option("--text", input.text, "text file (default: the sample text)");
  command.add_option(
      "--vocab", input.vocab,
      "vocab.txt for WordPiece tokens, or a model's tokenizer.json (default: tokens are the words of the text)");
  command.add_flag("--uncased", input.uncased, "the vocabulary has lower case alone, without accents");
  command.add_option(
      "--model", input.model,
      "weights of a BERT, ALBERT, GPT-2 or Llama: .safetensors, or the index.json of several; implies --input model");
  command.add_option("--model-config", input.model_config, "its config.json (default: the one beside it)");
  command.add_option("--ids", input.ids, "model: token ids in place of a text, .npy of (sequences, n)");
  command.add_option("--lengths", input.lengths, "tokens of each sequence of --ids, .npy (default n)");
  command.add_option("--sequence", input.sequence, "sequences of --ids to use: all, or numbers from 0, as 0-3,7")
      ->capture_default_str();
  command.add_option("--n", input.n, "tokens (default 1024)")->check(whole_number(1));
}

std::function<std::string()> add_input_options(CLI::App& command, InputOptions& input) {
  const std::size_t before = command.get_options().size();
  command.add_option("--input", input.kind, "kind of input (see list inputs)")
      ->check(one_of(input_kinds()))
      ->capture_default_str();
  add_model_options(command, input);
  command.add_option("--layer", input.layer, "layers of the model to measure: all, or numbers from 0, as 0-3,7")
      ->capture_default_str();
  command
      .add_option("--join-windows", input.join_windows,
                  "text, model: join this many windows of --n tokens, or sequences of --ids, into one head")
      ->check(whole_number(1));
  command.add_flag("--token-type", input.token_type, "text: add BERT's token-type embedding, the same for all tokens");
  command.add_option("--q", input.q,
                     "queries, .npy, .safetensors or .pt: (n, p), (heads, n, p) or (batch, heads, n, p); "
                     "implies --input arrays");
  command.add_option("--k", input.k, "keys; there may be fewer heads than of the queries, which then share them");
  command.add_option("--v", input.v, "values, with the heads and rows of the keys");
  command.add_option("--qkv", input.qkv,
                     "all three in one .npz, .safetensors or .pt, named q, k, v; implies --input arrays");
  command
      .add_option("--head", input.head, "heads of the model or the arrays to measure: all, or numbers from 0, as 0-3,7")
      ->capture_default_str();
  command
      .add_option("--head-sample", input.head_sample, "measure this many of these heads, drawn at random with the seed")
      ->check(whole_number(1));
  command.add_option("--p", input.p, "width of the head (default 64)")->check(whole_number(1));
  command.add_option("--length", input.length, "number of tokens before the padding (default n)")
      ->check(whole_number(1));
  command.add_option("--norm", input.norm, "synthetic inputs: norm of queries and keys (default sqrt(p))");
  command.add_option("--clusters", input.clusters, "clustered: number of clusters (default 16)")
      ->check(whole_number(1));
  command.add_option("--spread", input.spread, "clustered: distance from the centre over the norm (default 0.1)");
  command.add_option("--tail", input.tail, "heavy-norms: exponent of the norms' tail (default 3)");
  command.add_option("--token-rank", input.rank, "low-rank: dimensions of the tokens (default 8)")
      ->check(whole_number(1));
  command.add_option("--distinct", input.distinct, "duplicates: different tokens (default 64)")->check(whole_number(1));
  add_bias_options(command, input.bias, input.causal);
  std::vector<CLI::Option*> added = command.get_options();
  added.erase(added.begin(), added.begin() + static_cast<std::ptrdiff_t>(before));
  for (CLI::Option* option : added) option->group(kInputGroup);
  return [added] {
    const auto given = std::find_if(added.begin(), added.end(), [](const CLI::Option* o) { return o->count() > 0; });
    return given == added.end() ? std::string() : (*given)->get_name();
  };
}

void describe_run(const CLI::App& command, const std::string& command_line, RunOptions& run) {
  run.command_line = command_line;
  run.configuration = configuration_of(command);
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() > 0) run.given.insert(option->get_name());
  }
  if (run.out.empty()) run.out = command.get_name() + ".csv";
}
