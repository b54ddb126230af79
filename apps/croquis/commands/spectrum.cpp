// croquis spectrum: singular values of score matrices and outputs.
#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/choices.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/measure/spectra.hpp>
#include <memory>
#include <stdexcept>

#include "commands/command.hpp"
#include "files/run.hpp"
#include "files/summary.hpp"
#include "files/table_file.hpp"
#include "options/common_options.hpp"
#include "options/heads_in_memory.hpp"
#include "options/input.hpp"
#include "options/spectrum_options.hpp"
#include "pictures/spectra.hpp"

namespace {

using croquis::Key;
using croquis::Problem;
using croquis::SpectrumRow;
using croquis::SpectrumSummary;
using croquis::Table;

struct Options {
  RunOptions run;
  InputOptions input;
  std::string matrices = "all";
  SpectrumOptions spectrum;
};

// All rows of one matrix of one head.
struct Step {
  const Input* input;
  std::string matrix;
  croquis::SpectrumPlan plan;
};

std::vector<Step> steps_of(const std::vector<Input>& inputs, const std::vector<std::string>& matrices,
                           const Options& options) {
  std::vector<Step> steps;
  for (const Input& input : inputs) {
    for (const std::string& matrix : matrices) {
      steps.push_back({&input, matrix,
                       croquis::plan_spectrum({input.n_q, input.n_k}, input.p_v, matrix, options.spectrum.settings())});
    }
  }
  return steps;
}

std::vector<croquis::Record> records_of(const Step& step, const Problem<double>& problem, const Options& options,
                                        const Run& run) {
  const Key key = Key(options.run.seed).child("spectrum").child(step.input->name);
  std::vector<croquis::Record> records;
  for (SpectrumRow& row : matrix_spectrum(problem, step.matrix, key, options.spectrum.settings())) {
    // A step that was interrupted left its first rows.
    if (run.has(Run::key({step.input->name, step.matrix, row.index}))) continue;
    row.input = step.input->name;
    row.layer = step.input->layer;
    row.head = step.input->head;
    row.seed = options.run.seed;
    records.push_back(croquis::spectrum_columns().record(row));
  }
  return records;
}

std::vector<std::string> parse_matrices(const std::string& text) {
  std::vector<std::string> matrices;
  for (const croquis::Choice& choice : croquis::parse_choices(text, "--matrices", croquis::spectrum_matrices())) {
    if (!choice.options.empty()) throw std::invalid_argument("--matrices: a matrix takes no options");
    matrices.push_back(choice.name);
  }
  return matrices;
}

std::vector<SpectrumSummary> summaries_of(const Table& table) {
  return croquis::summarise_spectra(croquis::spectrum_columns().rows(table));
}

void write_spectrum_summary(const Table& table, const std::string& path) {
  write_rows(croquis::spectrum_summary_columns(), summaries_of(table), path);
}

void draw(const Table& table, const std::string& metric, const std::string& path) {
  if (!metric.empty()) throw std::invalid_argument("--metric: a result of croquis spectrum has one plot");
  draw_spectra(summaries_of(table), path);
}

int run_spectrum(const Options& options) {
  const std::vector<std::string> matrices = parse_matrices(options.matrices);
  prepare_run(options.run);
  const std::vector<Input> inputs = load_inputs(options.input, options.run.seed);
  const auto n = static_cast<double>(inputs.front().n_k), n_q = static_cast<double>(inputs.front().n_q);
  if (options.spectrum.method == "dense") {
    croquis::require_memory(2 * sizeof(double) * n_q * n, "--method dense: an n x n matrix and a copy", {{"n", n}});
  }
  std::map<std::string, std::string> identity = identity_of(inputs);
  options.spectrum.describe(identity);
  Run run(options.run, "spectrum", croquis::spectrum_columns().list(), identity);

  std::vector<Step> steps = steps_of(inputs, matrices, options);
  std::vector<Run::Cell> plan;
  plan.reserve(steps.size());
  for (const Step& step : steps) {  // the last row of a step says that it is finished
    plan.push_back({Run::key({step.input->name, step.matrix, std::uint64_t{step.plan.values}})});
  }
  run.plan(plan);
  std::erase_if(steps, [&](const Step& step) { return !run.wants(Run::key({step.input->name, step.matrix})); });
  // Dense matrices go side by side; the products of a matrix-free one use all threads by themselves.
  HeadsInMemory heads;
  for (std::size_t i = 0; i < steps.size() && !Run::interrupted();) {
    heads.begin(*steps[i].input);
    std::size_t end = i + 1;
    while (!steps[i].plan.lanczos && end < steps.size() && !steps[end].plan.lanczos && heads.add(*steps[end].input)) {
      ++end;
    }
    if (!run.skip(end - i)) {
      heads.load();
      run.compute_steps(end - i, steps[i].matrix, [&](std::size_t k) {
        return records_of(steps[i + k], heads.problem(*steps[i + k].input), options, run);
      });
    }
    i = end;
  }
  if (const auto status = run.finish()) return *status;

  const std::vector<SpectrumSummary> summaries = summaries_of(run.table());
  write_rows(croquis::spectrum_summary_columns(), summaries, beside(options.run.out, ".summary.csv"));
  if (!options.run.plot.empty()) draw_spectra(summaries, options.run.plot);
  if (!options.run.quiet) {
    print_spectra(summaries);
    print_files(run.table(), options.run.out, options.run.plot);
  }
  return 0;
}

void add_options(CLI::App& app, Options& options) {
  add_run_options(app, options.run);
  add_input_options(app, options.input);
  app.add_option("--matrices", options.matrices, "of a (over its largest entry), b, c, the outputs bv and cv; or all")
      ->capture_default_str();
  add_spectrum_options(app, options.spectrum, "for n x n matrices above n = 4096", "singular values");
}

}  // namespace

Command spectrum_command() {
  const auto options = std::make_shared<Options>();
  return {
      .name = "spectrum",
      .summary = "singular values of score matrices and outputs",
      .example = "croquis spectrum --q Q.npy --k K.npy --v V.npy --matrices b,c --out spectrum.csv --plot spectrum.svg",
      .add_options = [options](CLI::App& app) { add_options(app, *options); },
      .run = measuring(options, run_spectrum),
      .results = {croquis::spectrum_columns().all(), croquis::spectrum_summary_columns().all(), write_spectrum_summary,
                  draw}};
}
