// croquis choose --target-loss: the cheapest choice for each layer whose loss rises by little.
#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/counted.hpp>
#include <croquis/measure/choose_loss.hpp>
#include <set>
#include <stdexcept>

#include "commands/choose_options.hpp"
#include "files/choice_draws.hpp"
#include "files/table_file.hpp"
#include "files/text_table.hpp"
#include "options/method_files.hpp"

using croquis::LossStep;

namespace {

void check(const croquis::LossSettings& settings) {
  require_tolerance(settings.target, "--target-loss");
  require_open_interval(settings.confidence, "--confidence");
}

croquis::HeadShape shape_of(arma::uword n, const croquis::ModelConfig& config) {
  return {.n_q = n, .n_k = n, .p = config.p(), .p_v = config.p()};
}

// Each once.
std::vector<croquis::HeadShape> shapes_of(const ModelSequences& sequences, const croquis::ModelConfig& config) {
  std::vector<croquis::HeadShape> shapes;
  for (const arma::uword n : std::set<arma::uword>(sequences.lengths.begin(), sequences.lengths.end())) {
    shapes.push_back(shape_of(n, config));
  }
  return shapes;
}

void print_steps(const croquis::LossChoice& choice, std::size_t tested, const croquis::LossSettings& settings) {
  const std::vector<LossStep>& steps = choice.steps;
  fmt::print(
      "\none layer after the other takes a cheaper method; loss - exact loss, with confidence {} below its upper "
      "limit; found on {} sequences{}\n\n",
      settings.confidence, settings.search_sequences,
      steps.empty() ? "" : fmt::format(", tested on {} others", tested));
  const std::string hopeless = fmt::format("by the search {} raise the loss by more than {:g} times the target",
                                           steps.empty() ? "all" : "they", croquis::kTargetsToTest);
  if (choice.untested > 0)
    fmt::print("not tested: {} {}, as {}\n", choice.untested, steps.empty() ? "steps" : "more steps", hopeless);
  if (steps.empty()) {
    if (choice.untested == 0)
      fmt::print("no step: no candidate costs less than exact attention, or none is worth its loss\n");
    return;
  }
  using Side = TextColumn::Side;
  TextTable table({{}, {}, {Side::left}, {}, {}, {}, {}, {}, {Side::left}});
  table.add({"step", "layer", "method", "d", "cost", "predicted", "rise", "upper limit", ""});
  for (const LossStep& step : steps) {
    table.add({fmt::format("{}", step.step), fmt::format("{}", step.layer), step.method,
               fmt::format("{}", step.features), fmt::format("{:.3f}", step.cost_ratio),
               fmt::format("{:.3g}", step.predicted), fmt::format("{:.3g} ({:.1g})", step.rise, step.rise_error),
               fmt::format("{:.3g}", step.rise_upper), step.status});
  }
  fmt::print("{}", table.text());
}

}  // namespace

int run_choose_loss(const ChooseOptions& options) {
  const croquis::LossSettings settings{.target = *options.target_loss,
                                       .confidence = options.settings.confidence,
                                       .max_cost = options.settings.max_cost,
                                       .search_sequences = static_cast<std::size_t>(options.search_sequences)};
  check(settings);
  if (options.input.model.empty()) {
    throw std::invalid_argument("--target-loss: is about a model; give --model, --ids and --labels");
  }
  prepare_run(options.run);
  InputOptions tokens = options.input;
  tokens.kind = "model";
  require_model(tokens);
  refuse_others(tokens, options.run.given);
  const OpenedModel opened = open_model(tokens);
  opened.model.require_language_head();
  const croquis::Key key(options.run.seed);
  const ModelSequences sequences = model_sequences(tokens, options.labels, opened.model, key.child("mask"));
  if (sequences.numbers.size() < settings.search_sequences + 2) {
    throw std::invalid_argument(
        fmt::format("--target-loss: the search takes {} of the sequences (--search-sequences) and the test at least 2, "
                    "and there {} {}; give more",
                    settings.search_sequences, sequences.numbers.size() == 1 ? "is" : "are", sequences.numbers.size()));
  }
  const croquis::PositionParts position{.causal = opened.model.config().is_causal()};
  const std::vector<croquis::MethodChoice> named = named_methods(options, position);
  const croquis::CandidateLadders candidates =
      candidates_of(options, named, shapes_of(sequences, opened.model.config()), position, croquis::CostUnit::flops);
  const croquis::LossInputs inputs{
      .name = "model:" + opened.name,
      .model = opened.model,
      .sequences = {sequences.numbers.begin(), sequences.numbers.end()},
      .read = sequences.read,
      .shape = [&](std::size_t s) { return shape_of(sequences.lengths[s], opened.model.config()); }};

  std::map<std::string, std::string> identity = identity_of(tokens, opened, sequences);
  identity.merge(identity_of_files(named));
  identity["candidates"] = names_of(candidates);
  identity["question"] = fmt::format("target-loss={} confidence={} max-cost={} search-sequences={}", settings.target,
                                     settings.confidence, settings.max_cost, settings.search_sequences);
  Run run(options.run, "choose", croquis::choice_columns().list(), identity, {draws_file, steps_file});
  std::vector<Run::Cell> plan;
  for (arma::uword l = 0; l < opened.model.config().layers; ++l) {
    plan.push_back({Run::key({fmt::format("{};layer={}", inputs.name, l)})});
  }
  run.plan(plan);
  const auto wanted = [&](const Run::Cell& layer) { return run.wants(layer.front()); };
  if (std::any_of(plan.begin(), plan.end(), wanted)) {  // some may be there already
    if (!options.run.quiet) say(word_on_dear_candidates(candidates, settings.max_cost));
    ChoiceDraws draws(options.run);
    remove_choice_file(choice_file(options.run.out));
    const croquis::ChoiceHooks hooks = draws.hooks(options.run.quiet);
    const croquis::Key search_key = key.child("choose");
    const auto choice = options.run.precision == "float"
                            ? croquis::choose_by_loss<float>(inputs, candidates, settings, search_key, hooks)
                            : croquis::choose_by_loss<double>(inputs, candidates, settings, search_key, hooks);
    draws.close();
    if (choice) {
      write_rows(croquis::loss_step_columns(), choice->steps, steps_file(options.run.out));
      if (!options.run.quiet) print_steps(*choice, sequences.numbers.size() - settings.search_sequences, settings);
      deliver_choices(run, choice->layers, options.run.seed);
    }
  }
  return finish_choices(options, run);
}
