// croquis choose: the cheapest approximation that is good enough.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/distributed/communicator.hpp>
#include <croquis/measure/choice_file.hpp>
#include <croquis/measure/choice_seconds.hpp>
#include <croquis/measure/choose.hpp>
#include <croquis/measure/choose_loss.hpp>
#include <croquis/measure/error_arguments.hpp>
#include <croquis/measure/groups.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

#include "commands/choose_options.hpp"
#include "commands/command.hpp"
#include "files/choice_draws.hpp"
#include "files/choice_table.hpp"
#include "files/progress.hpp"
#include "files/run.hpp"
#include "files/whole_file.hpp"
#include "options/choice_inputs.hpp"
#include "options/lists.hpp"
#include "options/method_files.hpp"
#include "report/other_sections.hpp"

namespace {

using croquis::CandidateLadders;
using croquis::ChoiceInputs;
using croquis::ChoiceRow;
using croquis::ChoiceSettings;
using croquis::Key;
using croquis::MethodChoice;

ChoiceSettings settings_of(const ChooseOptions& options) {
  ChoiceSettings settings = options.settings;
  require_tolerance(settings.epsilon, "--eps");
  if (!(settings.max_cost > 0)) {
    throw std::invalid_argument(fmt::format("--max-cost: {:g} is not positive", settings.max_cost));
  }
  require_open_interval(settings.delta, "--delta");
  require_open_interval(settings.confidence, "--confidence");
  settings.per = croquis::choice_per_from_name(options.per);
  settings.cost = croquis::cost_unit_from_name(options.cost);
  if (options.rows) settings.rows = static_cast<arma::uword>(*options.rows);
  const std::vector<std::string>& metrics = croquis::choice_metrics(options.rows.has_value());
  if (std::find(metrics.begin(), metrics.end(), settings.metric) == metrics.end()) {
    throw std::invalid_argument(
        fmt::format("--metric: with --rows one of {}, this is {}", fmt::join(metrics, ", "), settings.metric));
  }
  return settings;
}

// Seconds of a machine are no part of what a resumed run must have in common: the choice would differ each time.
std::map<std::string, std::string> identity_of(const ChooseOptions& options, const std::vector<Input>& inputs,
                                               const std::vector<MethodChoice>& named,
                                               const CandidateLadders& candidates) {
  std::map<std::string, std::string> identity = identity_of(inputs);
  identity["candidates"] = names_of(candidates);
  identity.merge(identity_of_files(named));
  const ChoiceSettings& s = options.settings;
  identity["question"] =
      fmt::format("eps={} delta={} confidence={} metric={} per={} cost={} max-cost={} trials={} rows={}", s.epsilon,
                  s.delta, s.confidence, s.metric, options.per, options.cost, s.max_cost, options.trials.value_or(0),
                  options.rows ? fmt::format("{} a draw", *options.rows) : "0");
  return identity;
}

// "nystromformer (d = 64, 128), skyformer (d = 128)".
std::string dear_candidates(const CandidateLadders& candidates, double max_cost) {
  std::string text;
  for (const auto& ladder : candidates.ladders) {
    std::string sizes;
    for (auto c = ladder.rbegin(); c != ladder.rend(); ++c) {
      bool dear = true;
      for (std::size_t s = 0; s < c->costs.size(); ++s) {
        dear = dear && !candidates.is_used(*c, s, max_cost);
      }
      if (dear) sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", c->features);
    }
    if (sizes.empty()) continue;
    const MethodChoice& method = ladder.front().choice;
    text += fmt::format("{}{} (d = {})", text.empty() ? "" : ", ", croquis::curve_label({method.name, method.preset}),
                        sizes);
  }
  return text;
}

CandidateCosts costs_of(const ChoiceInputs& inputs, const CandidateLadders& candidates, double max_cost) {
  const auto ratios = croquis::candidate_cost_ratios(inputs, candidates, max_cost);
  CandidateCosts costs;
  for (std::size_t l = 0; l < ratios.size(); ++l) {
    for (std::size_t j = 0; j < ratios[l].size(); ++j) {
      const croquis::ChoiceCandidate& c = candidates.ladders[l][j];
      costs[{croquis::curve_label({c.choice.name, c.choice.preset}), c.features}] = ratios[l][j];
    }
  }
  return costs;
}

// What a user should know before waiting: what the data can show at all.
void announce(const ChoiceInputs& inputs, const ChoiceSettings& settings, const CandidateLadders& candidates,
              std::size_t choices) {
  const std::size_t ladders = candidates.methods * choices;
  const std::uint64_t least = croquis::units_to_certify(settings, ladders);
  const bool one = inputs.sequences.size() == 1;
  const std::uint64_t there = one ? settings.draws : inputs.sequences.size();
  std::string text = fmt::format(
      "croquis choose: {} choice{} among {} methods; a certificate takes at least {} {} without a failure, there are "
      "{}{}\n",
      choices, choices == 1 ? "" : "s", candidates.methods, least, one ? "draws of a random method" : "sequences",
      one ? "up to " : "", there);
  if (one) text += "croquis choose: with one sequence the answer is about draws on it, not about other sequences\n";
  if (there < least) {
    text += fmt::format(
        "croquis choose: too few to certify anything random; what follows shows how far it is. Give more {}, a larger "
        "--delta, a smaller --confidence, fewer --methods, or --per layer or model\n",
        one ? "--trials" : "sequences");
  }
  text += word_on_dear_candidates(candidates, settings.max_cost);
  if (settings.rows) {
    text += "croquis choose: with --rows an error is the upper end of a 95 % interval, from other rows for each draw\n";
    const auto fewest =
        std::min_element(candidates.shapes.begin(), candidates.shapes.end(), [](const auto& a, const auto& b) {
          return a.n_q < b.n_q;
        })->n_q;
    const double share = static_cast<double>(*settings.rows) / static_cast<double>(fewest);
    if (share < settings.delta) {
      text += fmt::format(
          "croquis choose: {} of {} rows are a smaller share than delta: errors that are in one row go unseen in more "
          "draws than may fail. Give more --rows\n",
          *settings.rows, fewest);
    }
  }
  say(text);
}

// Nothing where a signal came. A part of a run times the heads of its own choices; a plot shows all.
std::optional<CandidateLadders> timed_candidates(const ChooseOptions& options, const ChoiceSettings& settings,
                                                 const CandidateLadders& in_flops, const ChoiceInputs& inputs,
                                                 const std::function<bool(const std::string&)>& wanted) {
  std::unique_ptr<Progress> progress;
  croquis::TimingHooks hooks;
  hooks.go_on = [&](std::uint64_t done, std::uint64_t of) {
    if (!progress) progress = std::make_unique<Progress>(of, options.run.quiet);
    progress->show(done, "timing the heads");
    return !Run::interrupted();
  };
  if (!options.run.shard.empty()) hooks.wanted = wanted;
  return options.run.precision == "float" ? croquis::timed_on_heads<float>(in_flops, inputs, settings, hooks)
                                          : croquis::timed_on_heads<double>(in_flops, inputs, settings, hooks);
}

int run_choose(const ChooseOptions& options) {
  require_choice_file(choice_file(options.run.out));
  if (croquis::Communicator::world().size() > 1) {
    throw std::invalid_argument("croquis choose: is one process with --threads; start it without mpirun");
  }
  if (options.target_loss) return run_choose_loss(options);
  ChoiceSettings settings = settings_of(options);
  prepare_run(options.run);
  parse_sizes(options.features, "--features");
  const croquis::PositionParts position = position_parts(options.input);
  const std::vector<MethodChoice> named = named_methods(options, position);
  const std::vector<Input> heads = load_inputs(options.input, options.run);
  const ChoiceInputs inputs = choice_inputs(heads, settings.per);
  settings.draws =
      options.trials ? static_cast<std::uint64_t>(*options.trials) : croquis::default_draws(inputs.sequences.size());
  const std::vector<croquis::HeadShape> shapes = shapes_of(heads);
  for (const croquis::HeadShape& shape : shapes) {
    if (settings.rows) croquis::require_sampled_rows(*settings.rows, shape.n_q);
  }
  const bool time_heads = settings.cost == croquis::CostUnit::seconds && inputs.sequences.size() == 1;
  CandidateLadders candidates =
      candidates_of(options, named, shapes, position, time_heads ? croquis::CostUnit::flops : settings.cost);
  const std::vector<std::string> names = croquis::choice_names(inputs, settings.per);

  Run run(options.run, "choose", croquis::choice_columns().list(), identity_of(options, heads, named, candidates),
          {draws_file});
  std::vector<Run::Cell> plan;
  plan.reserve(names.size());
  for (const std::string& name : names) plan.push_back({Run::key({name})});
  run.plan(plan);
  const auto wanted = [&](const std::string& name) { return run.wants(Run::key({name})); };
  const bool open = std::any_of(names.begin(), names.end(), wanted);  // else the errors are for the plot alone
  if (time_heads && (open || !options.run.plot.empty())) {
    auto timed = timed_candidates(options, settings, candidates, inputs, wanted);
    if (!timed) return *run.finish();
    candidates = *std::move(timed);
  }
  const auto current = [&](const croquis::ChoiceDraw& draw) {
    return croquis::is_current(draw, inputs, candidates, settings.max_cost);
  };
  ChoiceDraws draws(options.run, open ? current : std::function<bool(const croquis::ChoiceDraw&)>());
  if (open) {
    remove_choice_file(choice_file(options.run.out));
    if (!options.run.quiet) announce(inputs, settings, candidates, names.size());
    croquis::ChoiceHooks hooks = draws.hooks(options.run.quiet);
    hooks.wanted = wanted;
    const Key key = Key(options.run.seed).child("choose");
    const auto rows = options.run.precision == "float"
                          ? croquis::choose<float>(inputs, candidates, settings, key, hooks)
                          : croquis::choose<double>(inputs, candidates, settings, key, hooks);
    draws.close();
    if (rows) deliver_choices(run, *rows, options.run.seed);
  }
  return finish_choices(options, run, croquis::choice_places(inputs, settings.per), draws.all(),
                        costs_of(inputs, candidates, settings.max_cost));
}

void add_options(CLI::App& app, ChooseOptions& options) {
  ChoiceSettings& settings = options.settings;
  add_run_options(app, options.run);
  add_input_options(app, options.input);
  add_precision_option(app, options.run);
  app.add_option("--eps", settings.epsilon, "the largest error that is good enough")->capture_default_str();
  app.add_option("--delta", settings.delta, "the largest share of failures (error > eps) that is allowed")
      ->capture_default_str();
  app.add_option("--confidence", settings.confidence,
                 "probability, at least, that everything that is chosen in the run is good enough")
      ->capture_default_str();
  app.add_option("--metric", settings.metric, "the error: frobenius_rel, spectral_rel, row_rel_q99, ...")
      ->check(one_of(croquis::choice_metrics(false)))
      ->capture_default_str();
  app.add_option("--per", options.per, "one choice for each head, for each layer, or for the model")
      ->check(one_of({"head", "layer", "model"}))
      ->capture_default_str();
  app.add_option(
         "--cost", options.cost,
         "the cost that is minimised: flops, or seconds, with one sequence those of the heads themselves, with several "
         "those of random tokens of their size")
      ->check(one_of({"flops", "seconds"}))
      ->capture_default_str();
  app.add_option("--max-cost", settings.max_cost,
                 "exact attention is used where a method costs this multiple of exact attention or more")
      ->capture_default_str();
  app.add_option("--methods", options.methods,
                 "a,b:option=value,c or all; all are those of softmax attention (with --bias of softmax-rpe) that "
                 "do not compute all scores")
      ->capture_default_str();
  app.add_option("--features", options.features,
                 "16,32,64 or 16:256 (doubling; a range ends at n, if all sequences have one)")
      ->capture_default_str();
  app.add_option("--trials", options.trials,
                 fmt::format("draws of a random method: on one sequence at most (default {}), on each of several "
                             "sequences (default 1)",
                             croquis::default_draws(1)))
      ->check(whole_number(1, kMaximumTrials));
  CLI::Option* const target_loss = app.add_option("--target-loss", options.target_loss,
                                                  "in place of --eps: one choice for each layer, such that the mean "
                                                  "loss of the model rises by at most this number");
  app.add_option("--search-sequences", options.search_sequences,
                 "with --target-loss: sequences that find the order of the steps; the others test it")
      ->check(whole_number(1))
      ->needs(target_loss)
      ->capture_default_str();
  app.add_option("--labels", options.labels.labels, "with --target-loss: tokens to be predicted, as in croquis model")
      ->needs(target_loss);
  app.add_option("--rows", options.rows,
                 "for large n: estimate errors from this many random rows; the upper end of the interval is compared "
                 "with --eps (default: all rows)")
      ->check(whole_number(1));
  // That choice is about the loss with all heads of all layers, and about nothing else.
  for (const char* option : {"--per", "--cost", "--rows", "--trials", "--shard", "--plot", "--layer", "--head",
                             "--head-sample", "--eps", "--delta", "--metric"}) {
    target_loss->excludes(app.get_option(option));
  }
}

}  // namespace

void require_open_interval(double x, const char* option) {
  if (x > 0 && x < 1) return;
  throw std::invalid_argument(fmt::format("{}: {:g} is not between 0 and 1, exclusive", option, x));
}

void require_tolerance(double x, const char* option) {
  if (x > 0 && std::isfinite(x)) return;
  throw std::invalid_argument(fmt::format("{}: {:g} is not a positive, finite number", option, x));
}

std::vector<MethodChoice> named_methods(const ChooseOptions& options, croquis::PositionParts position) {
  if (options.methods == "all") return {};
  return croquis::parse_methods(options.methods, position);
}

CandidateLadders candidates_of(const ChooseOptions& options, const std::vector<MethodChoice>& named,
                               const std::vector<croquis::HeadShape>& shapes, croquis::PositionParts position,
                               croquis::CostUnit unit) {
  const std::vector<arma::uword> features = parse_sizes(options.features, "--features", croquis::end_of_range(shapes));
  const std::vector<MethodChoice> methods = named.empty() ? croquis::usual_candidates(shapes, position) : named;
  return options.run.precision == "float"
             ? croquis::choice_candidates<float>(methods, features, shapes, position, unit)
             : croquis::choice_candidates<double>(methods, features, shapes, position, unit);
}

std::string word_on_dear_candidates(const CandidateLadders& candidates, double max_cost) {
  const std::string dear = dear_candidates(candidates, max_cost);
  if (dear.empty()) return "";
  return fmt::format("croquis choose: not tried, as they cost no less than {}exact attention: {}\n",
                     max_cost == 1 ? "" : fmt::format("{:g} times ", max_cost), dear);
}

std::string names_of(const CandidateLadders& candidates) {
  std::string names;
  for (const auto& ladder : candidates.ladders) {
    for (const croquis::ChoiceCandidate& c : ladder) {
      names += fmt::format("{};{};d={} ", c.choice.name, c.choice.preset, c.features);
    }
  }
  return names;
}

void deliver_choices(Run& run, const std::vector<ChoiceRow>& rows, std::uint64_t seed) {
  std::vector<croquis::Record> records;
  for (ChoiceRow row : rows) {
    row.seed = seed;
    if (run.wants(Run::key({row.input}))) records.push_back(croquis::choice_columns().record(row));
  }
  run.compute(records.size(), "the choices", [&](std::size_t i) { return records[i]; });
}

int finish_choices(const ChooseOptions& options, Run& run, const std::optional<croquis::ChoicePlaces>& places,
                   const std::vector<croquis::ChoiceDraw>& draws, const CandidateCosts& costs) {
  const auto status = run.finish(draws_file(options.run.out));
  if (status && *status != 0) return *status;

  const std::vector<ChoiceRow> rows = croquis::choice_columns().rows(run.table());
  const std::string json = choice_file(options.run.out);
  if (!rows.empty()) {
    write_whole(json, croquis::choice_json(rows, places));
    note_companions(options.run.out, {draws_file, choice_file});
  }
  if (status) return *status;  // a shard, perhaps without a choice
  draw_then_print(
      "choose", options.run.plot, [&] { draw_choices(run.table(), {.picture = options.run.plot}, draws, costs); },
      [&](bool drawn) {
        if (options.run.quiet) return;
        print_choices(rows);
        print_why_exact(rows, draws, draws_file(options.run.out));
        fmt::print("\nrows     {}\nerrors   {}\nchoice   {}\n", options.run.out, draws_file(options.run.out), json);
        if (drawn) fmt::print("plot     {}\n", options.run.plot);
      });
  return 0;
}

Command choose_command() {
  const auto options = std::make_shared<ChooseOptions>();
  return {
      .name = "choose",
      .summary = "the cheapest approximation that is good enough, with a guarantee",
      .example = "croquis choose --q Q.npy --k K.npy --v V.npy --eps 0.1 --delta 0.05 --out choice.csv",
      .add_options = [options](CLI::App& app) { add_options(app, *options); },
      .run = measuring(options, run_choose),
      .results = {.columns = croquis::choice_columns().all(),
                  .draw = [](const croquis::Table& table, const PlotRequest& request) { draw_choices(table, request); },
                  .picture = "the 95 % quantile of the error against the cost in units of exact attention's, a "
                             "point a choice",
                  .print = [](const croquis::Table& table) { print_choices(croquis::choice_columns().rows(table)); },
                  .report = section_of_choices,
                  .merge_others = merge_choices,
                  .said_of_all = {"eps", "delta", "confidence", "metric", "rows", "cost_unit"},
                  .other_columns = {{draws_file("X.csv"), croquis::choice_draw_columns().all()},
                                    {steps_file("X.csv"), croquis::loss_step_columns().all()}}}};
}
