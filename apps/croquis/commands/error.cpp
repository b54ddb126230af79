#include "commands/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/distributed/communicator.hpp>
#include <croquis/measure/error_arguments.hpp>
#include <croquis/measure/error_row.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>

#include "commands/command.hpp"
#include "commands/error_by_rows.hpp"
#include "commands/error_outputs.hpp"
#include "commands/error_sweep.hpp"
#include "files/group_table.hpp"
#include "files/group_words.hpp"
#include "files/metadata.hpp"
#include "files/progress.hpp"
#include "files/saved_outputs.hpp"
#include "files/summary.hpp"
#include "options/common_options.hpp"
#include "options/lists.hpp"
#include "options/method_files.hpp"
#include "pictures/curves.hpp"
#include "report/groups_section.hpp"

namespace {

using croquis::MethodChoice;
using croquis::Table;

constexpr const char* kErrorMetric = "spectral_rel";

void check(const ErrorOptions& options, const Input& input, const std::vector<MethodChoice>& methods,
           const std::vector<arma::uword>& features) {
  croquis::require_features(features, methods, {input.n_q, input.n_k},
                            options.run.precision == "float" ? sizeof(float) : sizeof(double));
  if (options.rows && !options.save_output.empty()) {
    throw std::invalid_argument("--save-output: goes without --rows, which computes some exact rows alone");
  }
  if (options.run.precision == "float") require_float_norms(input);
}

// The methods, after a word on what `all` does not stand for on these inputs.
std::vector<MethodChoice> methods_of(const ErrorOptions& options, const std::vector<Input>& inputs) {
  const croquis::PositionParts position = position_parts(options.input);
  const std::vector<MethodChoice> methods =
      croquis::error_methods(options.methods, token_counts_of(inputs), position, options.rows.has_value());
  std::vector<std::string> square, quadratic;
  for (const MethodChoice& choice : croquis::parse_methods(options.methods, position)) {
    const auto is_it = [&](const MethodChoice& m) { return m.name == choice.name && m.preset == choice.preset; };
    if (std::any_of(methods.begin(), methods.end(), is_it)) continue;
    const bool is_quadratic = options.rows && croquis::find_method<double>(choice.name).quadratic({});
    (is_quadratic ? quadratic : square).push_back(choice.name);
  }
  if (!square.empty()) {
    say_once(
        fmt::format("croquis error: there are other numbers of queries than of keys; left out, because they need as "
                    "many: {}\n",
                    fmt::join(square, ", ")));
  }
  if (!quadratic.empty()) {
    say_once(fmt::format("croquis error: with --rows, what computes all scores is left out: {}\n",
                         fmt::join(quadratic, ", ")));
  }
  return methods;
}

void print_errors(const Table& table) {
  for (const auto& [metric, title] : {std::pair(kErrorMetric, "relative spectral error of the output"),
                                      std::pair("scores_spectral_rel", "relative spectral error of the scores")}) {
    if (!table.has(metric)) continue;
    const croquis::Grouping grouping = shown_groups(table, metric);
    print_groups(table_title(title, grouping, metric), grouping, metric);
  }
}

int run_error(const ErrorOptions& options) {
  if (options.by_rows) return run_error_by_rows(options);
  if (options.rows && options.bounds) {
    throw std::invalid_argument("--bounds: goes without --rows; the bounds need all of the scores");
  }
  croquis::parse_methods(options.methods);  // what is wrong with them is said before the input is read
  parse_sizes(options.features, "--features");
  prepare_run(options.run);
  const std::vector<Input> inputs = load_inputs(options.input, options.run);
  for (const Input& input : inputs) {
    if (options.rows) croquis::require_sampled_rows(static_cast<arma::uword>(*options.rows), input.n_q);
  }
  const std::vector<MethodChoice> methods = methods_of(options, inputs);
  const std::vector<arma::uword> features =
      parse_sizes(options.features, "--features", croquis::largest_features(methods, token_counts_of(inputs)));
  for (const Input& input : inputs) check(options, input, methods, features);
  require_room_for_rows(
      static_cast<double>(inputs.size() * methods.size() * features.size()) * static_cast<double>(options.trials),
      "--trials", options.trials);

  std::map<std::string, std::string> identity = identity_of(inputs);
  identity.merge(identity_of_files(methods));
  if (options.rows) identity["--rows"] = std::to_string(*options.rows);
  const bool is_first = croquis::Communicator::world().rank() == 0;
  std::optional<SavedOutputs> outputs;  // a folder that cannot be is refused while the earlier result is whole
  std::set<std::string> earlier;
  if (!options.save_output.empty()) {
    identity["--save-output"] = outputs_folder(options);  // outputs of rows that are there are there too
    outputs.emplace(options.save_output);
    if (is_first) {
      const bool of_result = has_outputs_of_result(options);
      outputs->make_folder(of_result);
      if (of_result && options.run.overwrite) earlier = earlier_outputs(options);
    }
  }
  Run run(options.run, "error", croquis::error_columns().list(options.columns()), identity,
          summary_files(inputs.size()));
  if (outputs && is_first) require_outputs(*outputs, run.table(), options.run.out);
  const ErrorSweep sweep{options, inputs, methods, features};
  run.plan(sweep.plan(), [&] {
    for (const std::string& name : earlier) std::filesystem::remove(outputs->path_of(name));
  });
  sweep.measure(run, outputs ? &*outputs : nullptr);
  return conclude(run);
}

void add_options(CLI::App& app, ErrorOptions& options) {
  add_run_options(app, options.run);
  add_input_options(app, options.input);
  add_precision_option(app, options.run);
  app.add_option("--methods", options.methods,
                 "a,b:option=value,c or all (see list methods); with --causal or --bias, all are those that take it")
      ->capture_default_str();
  app.add_option("--features", options.features,
                 "16,32,64 or 16:256 (doubling; a range ends at the d that all methods take, n at most)")
      ->capture_default_str();
  app.add_option("--trials", options.trials, "draws of every random method")
      ->check(whole_number(1, kMaximumTrials))
      ->capture_default_str();
  app.add_option(
         "--rows", options.rows,
         "for large n: estimate errors, with intervals, from this many random rows (at least 20; default: all rows)")
      ->check(whole_number(1));
  app.add_flag("--by-rows", options.by_rows,
               "with --rows and --q, --k, --v: the tokens divided over the ranks of mpirun");
  app.add_flag("--scores", options.scores,
               "measure ||B - B~|| of the score matrices too, in two more columns; takes many products with B");
  app.add_flag("--row-errors", options.row_errors,
               "measure single rows too: quantiles of their relative errors and cosines, KL of their scores");
  app.add_flag("--bounds", options.bounds,
               "add four columns with the error bound of a proved theorem, where one applies (docs/claims.md)");
  app.add_option("--save-output", options.save_output,
                 "a folder for the outputs of all rows and the exact ones, as .npy");
}

}  // namespace

std::set<std::string> ErrorOptions::columns() const {
  std::set<std::string> names = input_columns(input);
  if (rows) names.insert("--rows");
  if (scores) names.insert("--scores");
  if (row_errors) names.insert("--row-errors");
  if (bounds) names.insert("--bounds");
  return names;
}

Command error_command() {
  const auto options = std::make_shared<ErrorOptions>();
  return {
      .name = "error",
      .summary = "error of methods against number of features",
      .example = "croquis error --q Q.npy --k K.npy --v V.npy --features 16:256 --out head.csv --plot head.svg",
      .add_options = [options](CLI::App& app) { add_options(app, *options); },
      .run = measuring(options, run_error),
      .results = {.columns = croquis::error_columns().all(),
                  .write_summary = write_grouped_summary,
                  .draw = drawing(kErrorMetric),
                  .picture = "a metric against d, or against flops or seconds, a line for each method; several heads "
                             "together, or over layers and heads with --heat-map",
                  .print = print_errors,
                  .report = [](const Table& table) {
                    return section_of_groups(table, {.title = "Error of the output", .answered = {"spectral_rel"}});
                  }}};
}
