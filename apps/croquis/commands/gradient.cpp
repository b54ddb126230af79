// croquis gradient: error of the gradients of methods against number of features.

#include <croquis/attention/problem_precision.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/measure/error_arguments.hpp>
#include <croquis/measure/gradient_errors.hpp>
#include <memory>

#include "commands/command.hpp"
#include "files/group_table.hpp"
#include "files/group_words.hpp"
#include "files/summary.hpp"
#include "options/common_options.hpp"
#include "options/input.hpp"
#include "options/lists.hpp"
#include "options/method_files.hpp"
#include "pictures/curves.hpp"
#include "report/groups_section.hpp"

namespace {

using croquis::GradientRow;
using croquis::MethodChoice;

constexpr const char* kGradientMetric = "qk_rel";

struct GradientOptions {
  RunOptions run;
  InputOptions input;
  std::string methods = "all", features = "16:256";
  long long trials = 20;
};

std::vector<MethodChoice> methods_of(const GradientOptions& options, const std::vector<Input>& inputs) {
  return croquis::gradient_methods(options.methods, token_counts_of(inputs), position_parts(options.input));
}

// A method at one d: a row for every trial, which are compared with their mean.
struct GradientCell {
  arma::uword features;
  std::uint64_t trials;
};

std::vector<GradientCell> cells_of(const GradientOptions& options, const MethodChoice& choice,
                                   const std::vector<arma::uword>& features) {
  const bool random = croquis::find_method<double>(choice.name).random(choice.options);
  std::vector<GradientCell> cells;
  for (const arma::uword d : features) cells.push_back({d, static_cast<std::uint64_t>(random ? options.trials : 1)});
  return cells;
}

Run::Fields key_of(const Input& input, const MethodChoice& choice, const GradientCell& cell) {
  return Run::key({input.name, choice.name, choice.preset, std::uint64_t{cell.features}});
}
Run::Fields key_of(const Input& input, const MethodChoice& choice, const GradientCell& cell, std::uint64_t trial) {
  Run::Fields row = key_of(input, choice, cell);
  row.push_back(std::to_string(trial));
  return row;
}

void check(const GradientOptions& options, const Input& input, const std::vector<MethodChoice>& methods,
           const std::vector<arma::uword>& features) {
  croquis::require_features(features, methods, {input.n_q, input.n_k},
                            options.run.precision == "float" ? sizeof(float) : sizeof(double));
  const auto n_q = static_cast<double>(input.n_q), n_k = static_cast<double>(input.n_k);
  const double gradient = (n_q + n_k) * static_cast<double>(input.p) + n_k * static_cast<double>(input.p_v);
  croquis::require_memory(sizeof(double) * gradient * static_cast<double>(options.trials + 12),
                          "--trials: the gradients of the draws of a method",
                          {{"n", input.n_k}, {"trials", options.trials}});
  if (options.run.precision == "float") require_float_norms(input);
}

template <typename T>
void sweep(const GradientOptions& options, const Input& input, const std::vector<MethodChoice>& methods,
           const std::vector<arma::uword>& features, Run& run) {
  std::optional<croquis::GradientErrors<T>> errors;  // of the head, which is read when something of it is wanted
  for (const MethodChoice& choice : methods) {
    std::vector<GradientCell> cells = cells_of(options, choice, features);
    std::erase_if(cells, [&](const GradientCell& cell) { return !run.wants(key_of(input, choice, cell)); });
    if (Run::interrupted()) return;
    if (cells.empty() || run.skip(cells.size())) continue;
    if (!errors) {
      errors.emplace(croquis::in_precision<T>(input.problem()),
                     croquis::gradient_key(options.run.seed, options.input.kind));
    }
    const auto prepared = errors->prepare(choice);
    run.compute_steps(cells.size(), choice.name, [&](std::size_t i) {
      std::vector<croquis::Record> records;
      for (GradientRow& row : prepared.rows(cells[i].features, cells[i].trials)) {
        if (run.has(key_of(input, choice, cells[i], row.trial))) continue;  // of a cell that was interrupted
        set_input(row, input, options.run);
        records.push_back(croquis::gradient_columns().record(row, input_columns(options.input)));
      }
      return records;
    });
  }
}

void print_gradients(const croquis::Table& table) {
  const croquis::Grouping grouping = shown_groups(table, kGradientMetric);
  const auto print = [&](const char* title, const char* metric) {
    print_groups(table_title(title, grouping, metric), grouping, metric);
  };
  print("relative Frobenius error of the output", "output_rel");
  print("relative Frobenius error of the derivatives by Q and K", "qk_rel");
  print("their cosine with the exact derivatives", "qk_cosine");
  print("relative Frobenius error of the derivatives by V", "v_rel");
}

int run_gradient(const GradientOptions& options) {
  parse_sizes(options.features, "--features");  // what is wrong with it is said before the input is read
  prepare_run(options.run);
  const std::vector<Input> inputs = load_inputs(options.input, options.run);
  const std::vector<MethodChoice> methods = methods_of(options, inputs);
  const std::vector<arma::uword> features =
      parse_sizes(options.features, "--features", croquis::largest_features(methods, token_counts_of(inputs)));
  for (const Input& input : inputs) check(options, input, methods, features);
  require_room_for_rows(
      static_cast<double>(inputs.size() * methods.size() * features.size()) * static_cast<double>(options.trials),
      "--trials", options.trials);

  std::map<std::string, std::string> identity = identity_of(inputs);
  identity.merge(identity_of_files(methods));
  identity["--trials"] = std::to_string(options.trials);  // spreads are over all of them
  Run run(options.run, "gradient", croquis::gradient_columns().list(input_columns(options.input)), identity,
          summary_files(inputs.size()));
  std::vector<Run::Cell> plan;
  for (const Input& input : inputs) {
    for (const MethodChoice& choice : methods) {
      for (const GradientCell& cell : cells_of(options, choice, features)) {
        plan.emplace_back();
        for (std::uint64_t t = 1; t <= cell.trials; ++t) plan.back().push_back(key_of(input, choice, cell, t));
      }
    }
  }
  run.plan(plan);
  for (const Input& input : inputs) {
    if (options.run.precision == "float") {
      sweep<float>(options, input, methods, features, run);
    } else {
      sweep<double>(options, input, methods, features, run);
    }
  }
  return conclude(run);
}

void add_options(CLI::App& app, GradientOptions& options) {
  add_run_options(app, options.run);
  add_input_options(app, options.input);
  add_precision_option(app, options.run);
  app.add_option("--methods", options.methods,
                 "a,b:option=value,c or all (see list methods); all are those with an adjoint, and with --causal a "
                 "causal form")
      ->capture_default_str();
  app.add_option("--features", options.features,
                 "16,32,64 or 16:256 (doubling; a range ends at the d that all methods take, n at most)")
      ->capture_default_str();
  app.add_option("--trials", options.trials, "draws of every random method")
      ->check(whole_number(1, kMaximumTrials))
      ->capture_default_str();
}

}  // namespace

Command gradient_command() {
  const auto options = std::make_shared<GradientOptions>();
  return {.name = "gradient",
          .summary = "error of the gradients of methods against number of features",
          .example = "croquis gradient --q Q.npy --k K.npy --v V.npy --features 16:256 --out gradient.csv",
          .add_options = [options](CLI::App& app) { add_options(app, *options); },
          .run = measuring(options, run_gradient),
          .results = {.columns = croquis::gradient_columns().all(),
                      .write_summary = write_grouped_summary,
                      .draw = drawing(kGradientMetric),
                      .picture = "a metric against d, a line for each method; several heads together",
                      .print = print_gradients,
                      .report = [](const croquis::Table& table) {
                        return section_of_groups(table, {.title = "Errors of gradients",
                                                         .answered = {kGradientMetric, "v_rel", "output_rel"}});
                      }}};
}
