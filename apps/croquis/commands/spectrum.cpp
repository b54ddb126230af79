// croquis spectrum: singular values of score matrices and outputs.

#include <croquis/core/memory.hpp>
#include <croquis/measure/spectra.hpp>
#include <croquis/measure/spectrum_summary.hpp>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>

#include "commands/command.hpp"
#include "files/run.hpp"
#include "files/table_file.hpp"
#include "options/bias.hpp"
#include "options/common_options.hpp"
#include "options/heads_in_memory.hpp"
#include "options/input.hpp"
#include "options/lists.hpp"
#include "options/own_matrix.hpp"
#include "options/spectrum_options.hpp"
#include "pictures/spectra.hpp"
#include "report/other_sections.hpp"

namespace {

using croquis::Key;
using croquis::Problem;
using croquis::SpectrumRow;
using croquis::SpectrumSummary;
using croquis::Table;

struct SpectrumCommandOptions {
  RunOptions run;
  InputOptions input;
  std::function<std::string()> input_given;
  std::string matrix;  ///< a file of one's own in place of the input; none when empty
  std::string matrices = "all";
  SpectrumOptions spectrum;
};

// All rows of one matrix of one head, or of a file, which is no head.
struct SpectrumStep {
  const Input* head;
  std::string input, matrix;
  croquis::SpectrumPlan plan;
  std::function<std::vector<SpectrumRow>(const Problem<double>* problem, const Key& key)> rows;
};

std::vector<SpectrumStep> steps_of(const std::vector<Input>& inputs, const std::vector<std::string>& matrices,
                                   const croquis::SpectrumSettings& settings) {
  std::vector<SpectrumStep> steps;
  for (const Input& input : inputs) {
    for (const std::string& matrix : matrices) {
      const auto plan = croquis::plan_spectrum({input.n_q, input.n_k}, input.p_v, matrix, settings);
      steps.push_back({&input, input.name, matrix, plan, [=](const Problem<double>* problem, const Key& key) {
                         return matrix_spectrum(*problem, matrix, key, settings);
                       }});
    }
  }
  return steps;
}

std::vector<SpectrumStep> steps_of(const std::string& path, const arma::mat& matrix,
                                   const croquis::SpectrumSettings& settings) {
  return {{nullptr, path, path, croquis::plan_spectrum(matrix, settings),
           [=, &matrix](const Problem<double>*, const Key& key) {
             return croquis::matrix_spectrum(matrix, key, settings);
           }}};
}

std::vector<croquis::Record> records_of(const SpectrumStep& step, const Problem<double>* problem,
                                        const SpectrumCommandOptions& options, const Run& run) {
  const Key key = croquis::spectrum_key(options.run.seed, step.head != nullptr ? options.input.kind : "matrix");
  std::vector<croquis::Record> records;
  for (SpectrumRow& row : step.rows(problem, key)) {
    // A step that was interrupted left its first rows.
    if (run.has(Run::key({step.input, step.matrix, row.index}))) continue;
    row.input = step.input;
    row.matrix = step.matrix;
    if (step.head != nullptr) {
      row.sequence = step.head->sequence;
      row.layer = step.head->layer;
      row.head = step.head->head;
    }
    row.seed = options.run.seed;
    records.push_back(croquis::spectrum_columns().record(row, input_columns(options.input)));
  }
  return records;
}

std::vector<SpectrumSummary> spectrum_summaries(const Table& table) {
  return croquis::summarise_spectra(croquis::spectrum_columns().rows(table));
}

void write_spectrum_summary(const Table& table, const std::string& out) {
  write_rows(croquis::spectrum_summary_columns(), spectrum_summaries(table), summary_file(out));
}

void plot_spectrum(const Table& table, const PlotRequest& request) {
  require_one_picture(request, "spectrum");
  draw_spectra(spectrum_summaries(table), request.picture);
}

int run_steps(const SpectrumCommandOptions& options, std::vector<SpectrumStep> steps,
              std::map<std::string, std::string> identity) {
  options.spectrum.describe(identity);
  Run run(options.run, "spectrum", croquis::spectrum_columns().list(input_columns(options.input)), identity,
          {summary_file});
  std::vector<Run::Cell> plan;
  plan.reserve(steps.size());
  for (const SpectrumStep& step : steps) {  // the last row of a step says that it is finished
    plan.push_back({Run::key({step.input, step.matrix, std::uint64_t{step.plan.values}})});
  }
  run.plan(plan);
  std::erase_if(steps, [&](const SpectrumStep& step) { return !run.wants(Run::key({step.input, step.matrix})); });
  // Dense matrices go side by side; the products of a matrix-free one use all threads by themselves.
  HeadsInMemory heads;
  for (std::size_t i = 0; i < steps.size() && !Run::interrupted();) {
    if (steps[i].head != nullptr) heads.begin(*steps[i].head);
    std::size_t end = i + 1;
    const auto joins = [&](const SpectrumStep& step) {
      return !step.plan.lanczos && step.head != nullptr && heads.add(*step.head);
    };
    while (!steps[i].plan.lanczos && end < steps.size() && joins(steps[end])) ++end;
    if (!run.skip(end - i)) {
      if (steps[i].head != nullptr) heads.load();
      run.compute_steps(end - i, steps[i].matrix, [&](std::size_t k) {
        const Input* head = steps[i + k].head;
        return records_of(steps[i + k], head == nullptr ? nullptr : &heads.problem(*head), options, run);
      });
    }
    i = end;
  }
  return conclude(run);
}

int run_file(const SpectrumCommandOptions& options) {
  if (options.matrices != "all")
    throw std::invalid_argument("--matrices: those of an input; --matrix is one by itself");
  require_no_input(options.input_given());
  prepare_run(options.run);
  const arma::mat matrix = load_own_matrix(options.matrix, "--matrix");
  croquis::require_memory(sizeof(double) * static_cast<double>(matrix.n_elem), "--matrix: a copy of the matrix",
                          {{"rows", matrix.n_rows}, {"cols", matrix.n_cols}});
  return run_steps(options, steps_of(options.matrix, matrix, options.spectrum.settings()),
                   {{"input", options.matrix}, {"numbers", digest_of_matrix(matrix)}});
}

int run_spectrum(const SpectrumCommandOptions& options) {
  if (!options.matrix.empty()) return run_file(options);
  const std::vector<std::string> matrices = parse_names(options.matrices, "--matrices", croquis::spectrum_matrices());
  require_no_bias(options.input.bias, "spectrum", "no matrix of it has one");
  prepare_run(options.run);
  const std::vector<Input> inputs = load_inputs(options.input, options.run);
  const auto n = static_cast<double>(inputs.front().n_k), n_q = static_cast<double>(inputs.front().n_q);
  if (options.spectrum.method == "dense") {
    croquis::require_memory(2 * sizeof(double) * n_q * n, "--method dense: an n x n matrix and a copy", {{"n", n}});
  }
  return run_steps(options, steps_of(inputs, matrices, options.spectrum.settings()), identity_of(inputs));
}

void add_options(CLI::App& app, SpectrumCommandOptions& options) {
  add_run_options(app, options.run);
  add_double_option(app, options.run);
  options.input_given = add_input_options(app, options.input);
  app.get_option("--bias")->group("");  // refused, with the reason
  app.add_option("--matrix", options.matrix, "a matrix of your own in place of an input: FILE.npy or FILE.mtx");
  app.add_option("--matrices", options.matrices,
                 "some of a (divided by its largest entry), b, c and the outputs bv and cv; or all")
      ->capture_default_str();
  add_spectrum_options(app, options.spectrum, "for n x n matrices above n = 4096", "singular values");
}

}  // namespace

Command spectrum_command() {
  const auto options = std::make_shared<SpectrumCommandOptions>();
  return {
      .name = "spectrum",
      .summary = "singular values of score matrices and outputs, or of a matrix of your own",
      .example = "croquis spectrum --q Q.npy --k K.npy --v V.npy --matrices b,c --out spectrum.csv --plot spectrum.svg",
      .add_options = [options](CLI::App& app) { add_options(app, *options); },
      .run = measuring(options, run_spectrum),
      .results = {.columns = croquis::spectrum_columns().all(),
                  .summary_columns = croquis::spectrum_summary_columns().all(),
                  .write_summary = write_spectrum_summary,
                  .draw = plot_spectrum,
                  .picture = "singular values and their sums; over several layers and heads, a heat map of the sums",
                  .print = [](const Table& table) { print_spectra(spectrum_summaries(table)); },
                  .report = section_of_spectra}};
}
