#include "commands/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/attention/problem_precision.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/distributed/communicator.hpp>
#include <croquis/io/csv.hpp>
#include <croquis/measure/error_arguments.hpp>
#include <croquis/measure/method_errors.hpp>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>

#include "commands/command.hpp"
#include "commands/error_by_rows.hpp"
#include "files/environment.hpp"
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

using croquis::ErrorRow;
using croquis::MethodChoice;
using croquis::Problem;
using croquis::Table;

constexpr const char* kErrorMetric = "spectral_rel";

// One row to be computed.
struct ErrorCell {
  arma::uword features;
  std::uint64_t trial;
};

std::vector<ErrorCell> cells_of(const ErrorOptions& options, const MethodChoice& choice,
                                const std::vector<arma::uword>& features) {
  const bool random = croquis::find_method<double>(choice.name).random(choice.options);
  const auto trials = static_cast<std::uint64_t>(random ? options.trials : 1);
  std::vector<ErrorCell> cells;
  for (const arma::uword d : features) {
    for (std::uint64_t trial = 1; trial <= trials; ++trial) cells.push_back({d, trial});
  }
  return cells;
}

Run::Fields key_of(const Input& input, const MethodChoice& choice, const ErrorCell& cell) {
  return Run::key({input.name, choice.name, choice.preset, std::uint64_t{cell.features}, cell.trial});
}

std::vector<Run::Cell> plan_of(const ErrorOptions& options, const std::vector<Input>& inputs,
                               const std::vector<MethodChoice>& methods, const std::vector<arma::uword>& features) {
  std::vector<Run::Cell> plan;
  for (const Input& input : inputs) {
    for (const MethodChoice& choice : methods) {
      for (const ErrorCell& cell : cells_of(options, choice, features)) plan.push_back({key_of(input, choice, cell)});
    }
  }
  return plan;
}

void check(const ErrorOptions& options, const Input& input, const std::vector<MethodChoice>& methods,
           const std::vector<arma::uword>& features) {
  if (options.trials < 1) throw std::invalid_argument(fmt::format("--trials: {} is not positive", options.trials));
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

// The files of --save-output. Inputs are called as rows in a file call them, so that these lead to the same names.
std::string exact_name(const std::string& input, const std::string& target) {
  return fmt::format("{}_exact_{}", croquis::text_of(input), target);
}

std::string output_name(const ErrorRow& row) {
  return fmt::format("{}_{}_{}_d={}_trial={}", croquis::text_of(row.input), row.method, row.preset, row.features,
                     row.trial);
}

std::set<std::string> output_names(const Table& table) {
  std::set<std::string> names;
  for (const ErrorRow& row : croquis::error_columns().rows(table)) {
    if (row.status == "ok") names.insert({output_name(row), exact_name(row.input, row.target)});
  }
  return names;
}

void require_outputs(const SavedOutputs& outputs, const Table& found, const std::string& file) {
  for (const std::string& name : output_names(found)) {
    if (const std::string path = outputs.path_of(name); !std::filesystem::exists(path)) {
      throw std::invalid_argument(
          fmt::format("--resume: {} is missing, and {} has a row of it; put it back, or use --overwrite", path, file));
    }
  }
}

// As the meta file has it, so that outs and ./outs/ are one.
std::string outputs_folder(const ErrorOptions& options) {
  const std::filesystem::path folder = std::filesystem::path(options.save_output).lexically_normal();
  return (folder.has_filename() ? folder : folder.parent_path()).string();
}

// Whether the folder has the outputs of the result that is gone on with or replaced: those of another one stay.
bool has_outputs_of_result(const ErrorOptions& options) {
  if (!options.run.resume && !options.run.overwrite) return false;
  const std::map<std::string, std::string> earlier = identity_of_run(options.run.out);
  const auto folder = earlier.find("--save-output");
  return folder != earlier.end() && folder->second == outputs_folder(options);
}

// The outputs of the result that --overwrite replaces.
std::set<std::string> earlier_outputs(const ErrorOptions& options) {
  try {
    return output_names(typed_table(croquis::read_csv(options.run.out), command_named("error"), options.run.out));
  } catch (const std::invalid_argument&) {
    return {};  // no rows of this command
  }
}

// The cells of a method on this head whose rows this run has to compute.
std::vector<ErrorCell> wanted_cells(const ErrorOptions& options, const Input& input, const MethodChoice& choice,
                                    const std::vector<arma::uword>& features, const Run& run) {
  std::vector<ErrorCell> cells = cells_of(options, choice, features);
  std::erase_if(cells, [&](const ErrorCell& cell) { return !run.wants(key_of(input, choice, cell)); });
  return cells;
}

template <typename T>
void sweep(const ErrorOptions& options, const Input& input, const std::vector<MethodChoice>& methods,
           const std::vector<arma::uword>& features, const std::optional<SavedOutputs>& outputs, std::mutex& reading,
           Run& run) {
  croquis::ErrorSettings settings{
      .rows = {}, .scores = options.scores, .row_errors = options.row_errors, .bounds = options.bounds};
  if (options.rows) settings.rows = static_cast<arma::uword>(*options.rows);
  std::optional<croquis::MethodErrors<T>> errors;  // of the head, which is read when something of it is wanted
  for (const MethodChoice& choice : methods) {
    const std::vector<ErrorCell> cells = wanted_cells(options, input, choice, features, run);
    if (run.stopped()) return;
    if (cells.empty() || run.skip(cells.size())) continue;
    if (!errors) {
      const auto read = [&] {
        const std::lock_guard lock(reading);
        return input.problem();
      };
      const ReturnedMemory returned;
      errors.emplace(croquis::in_precision<T>(read()), settings,
                     croquis::error_keys(options.run.seed, options.input.kind));
    }
    const auto prepared = errors->prepare(choice);
    if (outputs) {
      const croquis::Target target = croquis::find_method<T>(choice.name).target;
      outputs->save(exact_name(input.name, std::string(name_of(target))), *errors->exact_output(target));
    }
    run.compute(cells.size(), choice.name, [&](std::size_t i) {
      arma::mat output;
      ErrorRow row = prepared.row(cells[i].features, cells[i].trial, outputs ? &output : nullptr);
      set_input(row, input, options.run);
      if (row.status == "ok" && outputs) outputs->save(output_name(row), output);
      return croquis::error_columns().record(row, options.columns());
    });
  }
}

// Those of which this run has rows to compute: of a resumed one that may be a few of many.
std::vector<const Input*> unfinished_inputs(const ErrorOptions& options, const std::vector<Input>& inputs,
                                            const std::vector<MethodChoice>& methods,
                                            const std::vector<arma::uword>& features, const Run& run) {
  std::vector<const Input*> unfinished;
  for (const Input& input : inputs) {
    const bool is_wanted = std::any_of(methods.begin(), methods.end(), [&](const MethodChoice& choice) {
      return !wanted_cells(options, input, choice, features, run).empty();
    });
    if (is_wanted) unfinished.push_back(&input);
  }
  return unfinished;
}

// Whether each thread is better given a head of its own: part of what methods prepare for a head, as the decomposition
// of best-rank-d, takes one thread, and the others would wait. Not where few heads would leave threads without one, or
// where large ones, of which each thread would have several n x n matrices, fill the memory.
bool are_many_small(const std::vector<const Input*>& inputs) {
  constexpr arma::uword largest = 1024;
  return inputs.size() >= 2 * static_cast<std::size_t>(croquis::threads()) &&
         std::all_of(inputs.begin(), inputs.end(),
                     [](const Input* input) { return std::max(input->n_q, input->n_k) <= largest; });
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
  run.plan(plan_of(options, inputs, methods, features), [&] {
    for (const std::string& name : earlier) std::filesystem::remove(outputs->path_of(name));
  });
  const std::vector<const Input*> unfinished = unfinished_inputs(options, inputs, methods, features, run);
  std::mutex reading;
  const auto measure = [&](std::size_t i) {
    if (options.run.precision == "float") {
      sweep<float>(options, *unfinished[i], methods, features, outputs, reading, run);
    } else {
      sweep<double>(options, *unfinished[i], methods, features, outputs, reading, run);
    }
  };
  run.for_each(unfinished.size(), are_many_small(unfinished), measure);
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
