#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/choices.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/io/digest.hpp>
#include <croquis/measure/choice_file.hpp>
#include <croquis/measure/model_loss.hpp>
#include <croquis/measure/model_summary.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "commands/command.hpp"
#include "files/environment.hpp"
#include "files/model_table.hpp"
#include "files/progress.hpp"
#include "files/table_file.hpp"
#include "files/targets.hpp"
#include "options/lists.hpp"
#include "options/method_files.hpp"
#include "options/model_sequences.hpp"
#include "pictures/model_loss.hpp"
#include "report/other_sections.hpp"

namespace {

using croquis::Key;
using croquis::MethodChoice;
using croquis::ModelOnSequence;
using croquis::ModelRow;
using croquis::Replacement;
using croquis::SavedChoice;
using croquis::Table;

struct ModelOptions {
  RunOptions run;
  InputOptions tokens;
  LabelOptions labels;
  std::string methods, features = "16:128", layers = "all", heads = "all", choice;
  long long trials = 3;
  bool by_layer = false;

  std::set<std::string> columns() const {
    return by_layer ? std::set<std::string>{"--by-layer"} : std::set<std::string>();
  }
};

// One row to be computed.
struct ModelCell {
  std::size_t sequence;  // place among the chosen ones
  const Replacement* replacement;
  std::uint64_t trial;
};

// `exact` among the methods is no name of the registry.
std::vector<MethodChoice> methods_of(const std::string& text, bool causal) {
  std::vector<MethodChoice> methods;
  std::string others;
  for (const std::string& item : croquis::split_list(text, "--methods")) {
    if (item.starts_with("exact:"))
      throw std::invalid_argument(fmt::format("--methods: exact takes no options: {}", item));
    if (item == "exact") {
      if (!methods.empty()) throw std::invalid_argument("--methods: 'exact' stands there twice");
      methods.push_back({"exact", {}, "paper"});
    } else {
      others += (others.empty() ? "" : ",") + item;
    }
  }
  if (others.empty()) return methods;
  for (MethodChoice& choice : croquis::parse_methods(others, {.causal = causal})) methods.push_back(std::move(choice));
  return methods;
}

// Where --methods are run: the heads of each of --layers and --heads, and the names of these in the rows.
struct Places {
  std::vector<arma::uword> heads;
  std::vector<std::pair<std::string, std::vector<arma::uword>>> layers;
};

Places places_of(const ModelOptions& options, const croquis::ModelConfig& config) {
  Places places{parse_numbers(options.heads, "--heads", config.heads), {}};
  const std::string suffix = options.heads == "all" ? "" : ";heads=" + options.heads;
  if (options.layers == "each") {
    for (arma::uword l = 0; l < config.layers; ++l) places.layers.push_back({fmt::format("{}{}", l, suffix), {l}});
  } else {
    places.layers.emplace_back(options.layers + suffix, parse_numbers(options.layers, "--layers", config.layers));
  }
  return places;
}

// What is run in place of the exact model: every method at every d in the layers of --layers, and what --choice has.
std::vector<Replacement> replacements_of(const ModelOptions& options, const croquis::ModelConfig& config,
                                         const Places& places, const std::vector<MethodChoice>& methods,
                                         const std::vector<arma::uword>& features,
                                         const std::vector<SavedChoice>& saved) {
  std::vector<Replacement> replacements;
  for (const auto& [name, numbers] : places.layers) {
    for (const MethodChoice& choice : methods) {
      for (const arma::uword d : croquis::is_exact(choice) ? std::vector<arma::uword>{0} : features) {
        replacements.push_back(croquis::same_replacement(name, numbers, places.heads, {choice, d, {}}));
      }
    }
  }
  if (!saved.empty()) {
    replacements.push_back(croquis::replacement_of(saved, options.choice, config.layers, config.heads));
  }
  return replacements;
}

// A choice may change under its name, and so may the files that options of its methods name.
std::map<std::string, std::string> identity_of_choice(const std::string& path, const std::string& bytes,
                                                      const Replacement& choice) {
  std::vector<MethodChoice> methods;
  for (const auto& [place, head] : choice.heads) methods.push_back(head.choice);
  std::map<std::string, std::string> identity = identity_of_files(methods);
  identity["contents of " + path] = croquis::digest_of(bytes);
  return identity;
}

// A choice fits every model of as many layers and heads.
void remark_on_other_model(const std::vector<SavedChoice>& saved, const std::string& model) {
  const std::string begin = "model:";
  for (const SavedChoice& choice : saved) {
    const std::string& input = choice.row.input;
    if (!input.starts_with(begin)) continue;
    const std::string made_for = input.substr(begin.size(), input.find(';') - begin.size());
    if (made_for == model) continue;
    return say_once(
        fmt::format("croquis model: --choice was made for the model {}, and this one is {}; its guarantee is not "
                    "about this one\n",
                    made_for, model));
  }
}

// Of a choice by errors: the errors of its exact attention are 0 against the same function as those of its methods. Of
// one by the loss, the model was run with its own.
void remark_on_exact_attention(const std::vector<SavedChoice>& saved) {
  for (const SavedChoice& choice : saved) {
    if (choice.row.metric == "loss" || is_softmax(choice.row.target)) continue;
    return say_once(
        fmt::format("croquis model: errors of --choice are against {}; where it has exact attention (heads without a "
                    "chosen method, sequences too short for one), the model's own softmax attention runs\n",
                    meaning_of_target(choice.row.target)));
  }
}

// A choice says itself which heads it replaces, and by what. A saved configuration has the defaults.
void refuse_options_of_methods(const ModelOptions& options) {
  const ModelOptions defaults;
  for (const auto& [option, given, by_default] :
       {std::tuple("--layers", options.layers, defaults.layers), std::tuple("--heads", options.heads, defaults.heads),
        std::tuple("--features", options.features, defaults.features)}) {
    if (given == by_default) continue;
    throw std::invalid_argument(fmt::format(
        "{}: is of --methods; --choice says itself which heads it replaces, and by what; leave it out", option));
  }
}

// What one may not expect of the replacements.
void remark_on(const std::vector<Replacement>& replacements, std::size_t heads_of_model, arma::uword fewest) {
  std::map<std::string, std::set<std::string>> others;  // names by target
  for (const Replacement& replacement : replacements) {
    std::size_t replaced = 0;
    arma::uword largest = 0;  // d
    for (const auto& [place, head] : replacement.heads) {
      if (!croquis::is_exact(head.choice)) ++replaced;
      largest = std::max(largest, head.features);
      const std::string target = target_of_method(head.choice.name);
      if (!is_softmax(target)) others[target].insert(head.choice.name);
    }
    if (replacement.method == "choice" && largest > fewest) {
      say_once(fmt::format(
          "croquis model: --choice has d = {}; heads have exact attention on sequences of fewer tokens than "
          "their d, as in croquis choose (the shortest sequence has {})\n",
          largest, fewest));
    }
    if (replacement.method == "choice" && replaced == 0) {
      say_once(
          "croquis model: --choice has exact attention in all heads: there is nothing to lose, and nothing gained\n");
    } else if (replacement.method == "choice" && replaced < heads_of_model) {
      say_once(fmt::format("croquis model: --choice replaces {} of {} heads; the others have exact attention\n",
                           replaced, heads_of_model));
    }
  }
  for (const auto& [target, names] : others) {
    say_once(fmt::format("croquis model: {} approximate{} {}, which is what the model computes\n",
                         fmt::join(names, ", "), names.size() == 1 ? "s" : "", meaning_of_target(target)));
  }
}

std::vector<ModelCell> cells_of(std::size_t sequences, const std::vector<Replacement>& replacements,
                                std::uint64_t trials) {
  std::vector<ModelCell> cells;
  for (std::size_t s = 0; s < sequences; ++s) {
    for (const Replacement& replacement : replacements) {
      for (std::uint64_t t = 1; t <= (replacement.is_random() ? trials : 1); ++t) cells.push_back({s, &replacement, t});
    }
  }
  return cells;
}

void check(const ModelOptions& options, const std::vector<Replacement>& replacements, const ModelSequences& sequences,
           arma::uword fewest, bool causal) {
  for (const Replacement& replacement : replacements) {
    for (const auto& [place, head] : replacement.heads) {
      if (croquis::is_exact(head.choice)) continue;
      croquis::require_usable({head.choice}, {fewest, fewest}, {.causal = causal});
      if (head.features <= fewest || head.flops_limit) continue;  // a choice has exact attention where d is too large
      throw std::invalid_argument(fmt::format(
          "--features: {} is more than the {} tokens of a sequence; give at most so many", head.features, fewest));
    }
  }
  require_room_for_rows(
      static_cast<double>(sequences.numbers.size() * replacements.size()) * static_cast<double>(options.trials),
      "--trials", options.trials);
}

// The passes with exact attention of the sequences of some cells, side by side.
std::map<std::size_t, std::optional<ModelOnSequence>> passes_of(const std::vector<ModelCell>& cells,
                                                                const croquis::Model& model,
                                                                const ModelSequences& sequences) {
  std::map<std::size_t, std::optional<ModelOnSequence>> passes;
  for (const ModelCell& cell : cells) passes.try_emplace(cell.sequence);
  std::vector<std::pair<const std::size_t, std::optional<ModelOnSequence>>*> places;
  places.reserve(passes.size());
  for (auto& pass : passes) places.push_back(&pass);
  croquis::parallel_for(places.size(),
                        [&](std::size_t i) { places[i]->second.emplace(model, sequences.read(places[i]->first)); });
  return passes;
}

std::vector<croquis::ModelSummary> summaries_of(const Table& table) {
  return croquis::summarise_models(croquis::model_columns().rows(table));
}

void write_model_summary(const Table& table, const std::string& out) {
  write_rows(croquis::model_summary_columns(), summaries_of(table), summary_file(out));
  if (!table.has("by_layer")) return;
  write_rows(croquis::layer_error_columns(), croquis::errors_by_layer(croquis::model_columns().rows(table)),
             layers_file(out));
}

int run_model(const ModelOptions& options) {
  InputOptions tokens = options.tokens;
  tokens.kind = "model";
  prepare_run(options.run);
  require_model(tokens);
  refuse_others(tokens, options.run.given);
  const auto [name, model] = open_model(tokens);
  const bool causal = model.config().is_causal();
  const bool no_methods = options.methods.empty() && !options.choice.empty();
  if (no_methods) refuse_options_of_methods(options);
  const std::vector<MethodChoice> methods =
      no_methods ? std::vector<MethodChoice>() : methods_of(options.methods.empty() ? "all" : options.methods, causal);
  model.require_language_head();
  const Places places = places_of(options, model.config());
  const Key key(options.run.seed);
  const ModelSequences sequences = model_sequences(tokens, options.labels, model, key.child("mask"));
  const arma::uword fewest = *std::min_element(sequences.lengths.begin(), sequences.lengths.end());
  const std::vector<arma::uword> features = parse_sizes(options.features, "--features", fewest);
  std::string bytes;  // of --choice, read once: its digest is that of what is run
  std::vector<SavedChoice> saved;
  if (!options.choice.empty()) {
    bytes = croquis::read_bytes(options.choice);
    saved = croquis::parse_saved_choices(bytes, options.choice);
  }
  const std::vector<Replacement> replacements =
      replacements_of(options, model.config(), places, methods, features, saved);
  check(options, replacements, sequences, fewest, causal);
  remark_on_other_model(saved, name);
  remark_on_exact_attention(saved);
  remark_on(replacements, model.config().layers * model.config().heads, fewest);

  std::map<std::string, std::string> identity = identity_of(tokens, {name, model}, sequences);
  identity.merge(identity_of_files(methods));
  if (!options.choice.empty()) identity.merge(identity_of_choice(options.choice, bytes, replacements.back()));
  std::vector<Companion> companions = {summary_file};
  if (options.by_layer) companions.push_back(layers_file);
  Run run(options.run, "model", croquis::model_columns().list(options.columns()), identity, companions);
  const std::vector<ModelCell> cells =
      cells_of(sequences.numbers.size(), replacements, static_cast<std::uint64_t>(options.trials));
  const auto key_of = [&, &model_name = name](const ModelCell& cell) {
    const Replacement& r = *cell.replacement;
    return Run::key({model_name, r.layers, r.method, r.preset, std::uint64_t{r.features}, cell.trial,
                     std::uint64_t{sequences.numbers[cell.sequence]}});
  };
  std::vector<Run::Cell> plan;
  plan.reserve(cells.size());
  for (const ModelCell& cell : cells) plan.push_back({key_of(cell)});
  run.plan(plan);

  // As many sequences at a time as there are threads, with the hidden states of their exact passes.
  const auto at_a_time = static_cast<std::size_t>(croquis::threads());
  for (std::size_t begin = 0; begin < sequences.numbers.size() && !Run::interrupted(); begin += at_a_time) {
    const std::size_t end = std::min(begin + at_a_time, sequences.numbers.size());
    std::vector<ModelCell> wanted;
    for (const ModelCell& cell : cells) {
      if (cell.sequence >= begin && cell.sequence < end && run.wants(key_of(cell))) wanted.push_back(cell);
    }
    if (wanted.empty() || run.skip(wanted.size())) continue;
    const auto passes = passes_of(wanted, model, sequences);
    const ReturnedMemory returned;
    run.compute(
        wanted.size(), fmt::format("sequence {}", sequences.numbers[begin]), [&, &model_name = name](std::size_t i) {
          const ModelCell& cell = wanted[i];
          const std::uint64_t number = sequences.numbers[cell.sequence];
          const Replacement& r = *cell.replacement;
          const Key draw_key = key.child("model").child(number).child(r.method).child(r.features).child(cell.trial);
          const ModelOnSequence& pass = *passes.at(cell.sequence);
          ModelRow row =
              options.run.precision == "float" ? pass.row<float>(r, draw_key) : pass.row<double>(r, draw_key);
          row.model = model_name;
          row.trial = cell.trial;
          row.seed = options.run.seed;
          row.sequence = number;
          return croquis::model_columns().record(row, options.columns());
        });
  }
  if (const auto status = run.finish()) return *status;

  deliver(run);
  if (options.by_layer && !options.run.quiet) fmt::print("layers   {}\n", layers_file(options.run.out));
  return 0;
}

void add_options(CLI::App& app, ModelOptions& options) {
  add_run_options(app, options.run);
  app.option_defaults()->group(kInputGroup);
  add_model_options(app, options.tokens);
  app.add_option(
      "--labels", options.labels.labels,
      "tokens to be predicted at each position, .npy of the shape of --ids, -100: not counted; of a decoder the next "
      "tokens, which are the default");
  app.add_option(
      "--mask", options.labels.mask,
      "with a text, masked language model: share of tokens to mask and predict, from 0 to 1; at least one a window "
      "(default 0.15)");
  app.option_defaults()->group(kMeasureGroup);
  add_precision_option(app, options.run);
  app.add_option("--methods", options.methods,
                 "exact, a,b:option=value or all (see list methods); of a decoder, all are those with a causal form "
                 "(default all, with --choice none)");
  app.add_option("--choice", options.choice, "FILE.json of croquis choose: each head by what was chosen for it");
  app.add_option("--features", options.features, "16,32,64 or 16:128 (doubling; a range ends at the shortest sequence)")
      ->capture_default_str();
  app.add_option("--trials", options.trials, "draws of every random method, for each sequence")
      ->check(whole_number(1, kMaximumTrials))
      ->capture_default_str();
  app.add_option("--layers", options.layers, "layers to approximate: all, 0,3-5, or each (one layer at a time)")
      ->capture_default_str();
  app.add_option("--heads", options.heads, "heads to approximate in these layers: all, or numbers from 0, as 0-3,7")
      ->capture_default_str();
  app.add_flag("--by-layer", options.by_layer, "the error of every layer's output too, in X.layers.csv");
}

}  // namespace

Command model_command() {
  const auto options = std::make_shared<ModelOptions>();
  return {.name = "model",
          .summary = "loss and accuracy of a whole model with approximated attention",
          .example =
              "croquis model --model model.safetensors --ids ids.npy --labels labels.npy --lengths lengths.npy "
              "--methods nystromformer,skyformer-softmax --features 16:128 --out model.csv --plot model.svg",
          .add_options = [options](CLI::App& app) { add_options(app, *options); },
          .run = measuring(options, run_model),
          .results = {.columns = croquis::model_columns().all(),
                      .summary_columns = croquis::model_summary_columns().all(),
                      .write_summary = write_model_summary,
                      .draw = draw_models,
                      .picture = "loss, or another metric, against d, flops or seconds, a line a method; of --layers "
                                 "each, its increase against the layer",
                      .print = [](const Table& table) { print_models(summaries_of(table)); },
                      .report = section_of_models}};
}
