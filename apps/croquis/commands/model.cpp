#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/counted.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/measure/choice_file.hpp>
#include <croquis/measure/model_loss.hpp>
#include <croquis/measure/model_summary.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "commands/command.hpp"
#include "commands/model_remarks.hpp"
#include "commands/model_replacements.hpp"
#include "files/environment.hpp"
#include "files/model_table.hpp"
#include "files/table_file.hpp"
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
  ReplacementOptions replaced;
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
      throw std::invalid_argument(fmt::format("--features: {} is more than the {} of a sequence; give at most so many",
                                              head.features, croquis::counted(fewest, "token")));
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

// What the rows of a run have in common.
struct ModelRows {
  const ModelOptions& options;
  const std::string& model;
  const ModelSequences& sequences;

  Run::Fields key_of(const ModelCell& cell) const {
    const Replacement& r = *cell.replacement;
    return Run::key({model, r.layers, r.method, r.preset, std::uint64_t{r.features}, cell.trial,
                     std::uint64_t{sequences.numbers[cell.sequence]}});
  }

  croquis::Record record_of(const ModelCell& cell, const ModelOnSequence& pass) const {
    const std::uint64_t number = sequences.numbers[cell.sequence], seed = options.run.seed;
    const Replacement& r = *cell.replacement;
    const Key draw_key = Key(seed).child("model").child(number).child(r.method).child(r.features).child(cell.trial);
    ModelRow row = options.run.precision == "float" ? pass.row<float>(r, draw_key) : pass.row<double>(r, draw_key);
    row.model = model;
    row.trial = cell.trial;
    row.seed = seed;
    row.sequence = number;
    return croquis::model_columns().record(row, options.columns());
  }
};

// As many sequences at a time as there are threads, with the hidden states of their exact passes.
void compute(Run& run, const std::vector<ModelCell>& cells, const croquis::Model& model, const ModelRows& rows) {
  const ModelSequences& sequences = rows.sequences;
  const auto at_a_time = static_cast<std::size_t>(croquis::threads());
  for (std::size_t begin = 0; begin < sequences.numbers.size() && !Run::interrupted(); begin += at_a_time) {
    const std::size_t end = std::min(begin + at_a_time, sequences.numbers.size());
    std::vector<ModelCell> wanted;
    for (const ModelCell& cell : cells) {
      if (cell.sequence >= begin && cell.sequence < end && run.wants(rows.key_of(cell))) wanted.push_back(cell);
    }
    if (wanted.empty() || run.skip(wanted.size())) continue;
    const auto passes = passes_of(wanted, model, sequences);
    const ReturnedMemory returned;
    run.compute(wanted.size(), fmt::format("sequence {}", sequences.numbers[begin]),
                [&](std::size_t i) { return rows.record_of(wanted[i], *passes.at(wanted[i].sequence)); });
  }
}

int run_model(const ModelOptions& options) {
  InputOptions tokens = options.tokens;
  tokens.kind = "model";
  prepare_run(options.run);
  require_model(tokens);
  refuse_others(tokens, options.run.given);
  const OpenedModel opened = open_model(tokens);
  const croquis::Model& model = opened.model;
  const bool causal = model.config().is_causal();
  const ReplacementOptions& replaced = options.replaced;
  const std::vector<MethodChoice> methods = replacing_methods(replaced, causal);
  model.require_language_head();
  const ReplacedPlaces places = replaced_places(replaced, model.config());
  const ModelSequences sequences = model_sequences(tokens, options.labels, model, Key(options.run.seed).child("mask"));
  const arma::uword fewest = *std::min_element(sequences.lengths.begin(), sequences.lengths.end());
  const std::vector<arma::uword> features = parse_sizes(replaced.features, "--features", fewest);
  std::string bytes;  // of --choice, read once: its digest is that of what is run
  std::vector<SavedChoice> saved;
  if (!replaced.choice.empty()) {
    bytes = croquis::read_bytes(replaced.choice);
    saved = croquis::parse_saved_choices(bytes, replaced.choice);
  }
  const std::vector<Replacement> replacements =
      replacements_of(replaced, model.config(), places, methods, features, saved);
  check(options, replacements, sequences, fewest, causal);
  remark_on_choice(saved, opened.name);
  remark_on_replacements(replacements, model.config().layers * model.config().heads, fewest);

  std::map<std::string, std::string> identity = identity_of(tokens, opened, sequences);
  identity.merge(identity_of_files(methods));
  if (!replaced.choice.empty()) identity.merge(identity_of_choice(replaced.choice, bytes, replacements.back()));
  std::vector<Companion> companions = {summary_file};
  if (options.by_layer) companions.push_back(layers_file);
  Run run(options.run, "model", croquis::model_columns().list(options.columns()), identity, companions);
  const std::vector<ModelCell> cells =
      cells_of(sequences.numbers.size(), replacements, static_cast<std::uint64_t>(options.trials));
  const ModelRows rows{options, opened.name, sequences};
  std::vector<Run::Cell> plan;
  plan.reserve(cells.size());
  for (const ModelCell& cell : cells) plan.push_back({rows.key_of(cell)});
  run.plan(plan);
  compute(run, cells, model, rows);
  if (const auto status = run.finish()) return *status;

  deliver(run);
  if (options.by_layer && !options.run.quiet) fmt::print("layers   {}\n", layers_file(options.run.out));
  return 0;
}

void add_options(CLI::App& app, ModelOptions& options) {
  add_run_options(app, options.run);
  app.option_defaults()->group(kInputGroup);
  add_model_options(app, options.tokens);
  app.add_option("--labels", options.labels.labels,
                 "token to be predicted at each position, .npy of the shape of --ids; -100: not counted (default for a "
                 "decoder: the "
                 "next tokens)");
  app.add_option(
      "--mask", options.labels.mask,
      "masked language model on a text: share of tokens to mask and predict, from 0 to 1; at least one in each window "
      "(default 0.15)");
  app.option_defaults()->group(kMeasureGroup);
  add_precision_option(app, options.run);
  app.add_option("--methods", options.replaced.methods,
                 "exact, a,b:option=value or all (see list methods); for a decoder, all are those with a causal form "
                 "(default: all; with --choice: none)");
  app.add_option("--choice", options.replaced.choice,
                 "FILE.json of croquis choose: run each head with what was chosen for it");
  app.add_option("--features", options.replaced.features,
                 "16,32,64 or 16:128 (doubling; a range ends at the shortest sequence)")
      ->capture_default_str();
  app.add_option("--trials", options.trials, "draws of every random method, for each sequence")
      ->check(whole_number(1, kMaximumTrials))
      ->capture_default_str();
  app.add_option("--layers", options.replaced.layers,
                 "layers to approximate: all, 0,3-5, or each (one layer at a time)")
      ->capture_default_str();
  app.add_option("--heads", options.replaced.heads,
                 "heads to approximate in these layers: all, or numbers from 0, as 0-3,7")
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
                      .picture =
                          "loss, or another metric, against d, flops or seconds, a line for each method; of --layers "
                          "each, its increase against the layer",
                      .print = [](const Table& table) { print_models(summaries_of(table)); },
                      .report = section_of_models}};
}
