#include "commands/error_sweep.hpp"

#include <algorithm>
#include <croquis/attention/problem_precision.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/measure/method_errors.hpp>
#include <mutex>
#include <optional>

#include "commands/error_outputs.hpp"
#include "files/environment.hpp"

namespace {

using croquis::ErrorRow;
using croquis::MethodChoice;

// One row of a method on a head.
struct ErrorCell {
  arma::uword features;
  std::uint64_t trial;
};

std::vector<ErrorCell> cells_of(const ErrorSweep& sweep, const MethodChoice& choice) {
  const bool random = croquis::find_method<double>(choice.name).random(choice.options);
  const auto trials = static_cast<std::uint64_t>(random ? sweep.options.trials : 1);
  std::vector<ErrorCell> cells;
  for (const arma::uword d : sweep.features) {
    for (std::uint64_t trial = 1; trial <= trials; ++trial) cells.push_back({d, trial});
  }
  return cells;
}

Run::Fields key_of(const Input& input, const MethodChoice& choice, const ErrorCell& cell) {
  return Run::key({input.name, choice.name, choice.preset, std::uint64_t{cell.features}, cell.trial});
}

// The cells of a method on this head whose rows this run has to compute.
std::vector<ErrorCell> wanted_cells(const ErrorSweep& sweep, const Input& input, const MethodChoice& choice,
                                    const Run& run) {
  std::vector<ErrorCell> cells = cells_of(sweep, choice);
  std::erase_if(cells, [&](const ErrorCell& cell) { return !run.wants(key_of(input, choice, cell)); });
  return cells;
}

// Heads of which this run has rows to compute: of a resumed one that may be a few of many.
std::vector<const Input*> unfinished_inputs(const ErrorSweep& sweep, const Run& run) {
  std::vector<const Input*> unfinished;
  for (const Input& input : sweep.inputs) {
    const bool is_wanted = std::any_of(sweep.methods.begin(), sweep.methods.end(), [&](const MethodChoice& choice) {
      return !wanted_cells(sweep, input, choice, run).empty();
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

template <typename T>
void measure_head(const ErrorSweep& sweep, const Input& input, const SavedOutputs* outputs, std::mutex& reading,
                  Run& run) {
  const ErrorOptions& options = sweep.options;
  croquis::ErrorSettings settings{
      .rows = {}, .scores = options.scores, .row_errors = options.row_errors, .bounds = options.bounds};
  if (options.rows) settings.rows = static_cast<arma::uword>(*options.rows);
  std::optional<croquis::MethodErrors<T>> errors;  // of the head, which is read when something of it is wanted
  for (const MethodChoice& choice : sweep.methods) {
    const std::vector<ErrorCell> cells = wanted_cells(sweep, input, choice, run);
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

}  // namespace

std::vector<Run::Cell> ErrorSweep::plan() const {
  std::vector<Run::Cell> plan;
  for (const Input& input : inputs) {
    for (const MethodChoice& choice : methods) {
      for (const ErrorCell& cell : cells_of(*this, choice)) plan.push_back({key_of(input, choice, cell)});
    }
  }
  return plan;
}

void ErrorSweep::measure(Run& run, const SavedOutputs* outputs) const {
  const std::vector<const Input*> unfinished = unfinished_inputs(*this, run);
  std::mutex reading;
  run.for_each(unfinished.size(), are_many_small(unfinished), [&](std::size_t i) {
    if (options.run.precision == "float") {
      measure_head<float>(*this, *unfinished[i], outputs, reading, run);
    } else {
      measure_head<double>(*this, *unfinished[i], outputs, reading, run);
    }
  });
}
