// croquis dimension: statistical dimension of the lift, and the landmarks that Skyformer's Theorem 2 asks for.
#include <fmt/format.h>

#include <algorithm>
#include <croquis/io/csv.hpp>
#include <croquis/measure/dimension.hpp>
#include <memory>
#include <optional>
#include <stdexcept>

#include "commands/command.hpp"
#include "files/number.hpp"
#include "files/run.hpp"
#include "files/table_file.hpp"
#include "options/bias.hpp"
#include "options/common_options.hpp"
#include "options/heads_in_memory.hpp"
#include "options/input.hpp"
#include "options/lists.hpp"
#include "options/spectrum_options.hpp"
#include "pictures/dimension.hpp"
#include "report/other_sections.hpp"

namespace {

using croquis::DimensionCurve;
using croquis::DimensionRow;
using croquis::Key;
using croquis::Table;

constexpr arma::uword kSideBySide = 1024;  // tokens: dense lifts of more are taken one after the other, for the memory

struct DimensionOptions {
  RunOptions run;
  InputOptions input;
  std::string n;      // tokens, a list; empty: 256,512,1024, or the size of the arrays
  std::string norms;  // of synthetic inputs, a list; empty: their default
  std::string widths = "1", epsilons = "0.01,0.1,0.5";
  double delta = 0.1;
  std::uint64_t trials = 20;
  SpectrumOptions spectrum;
};

// A head at one width: a row for every epsilon.
struct DimensionStep {
  const Input* input;
  double width;
  bool dense;

  bool alone() const { return !dense || input->n_k > kSideBySide; }
  Run::Fields key() const { return Run::key({input->name, std::uint64_t{input->n_k}, width}); }
  Run::Fields key(double epsilon) const { return Run::key({input->name, std::uint64_t{input->n_k}, width, epsilon}); }
};

std::vector<double> parse_positive(const std::string& text, const std::string& option) {
  std::vector<double> values = numbers_once(text, option, [&](const std::string& item) {
    const auto value = parse_number(item);
    if (!value || *value <= 0) {
      throw std::invalid_argument(fmt::format("{}: '{}' is not positive and finite", option, item));
    }
    return *value;
  });
  std::sort(values.begin(), values.end());
  return values;
}

constexpr const char* kFullLift = "the lift is that of full attention";
constexpr const char* kNoMask = "dimension: takes no --causal; the lift is that of full attention";

std::vector<Input> load_all(const DimensionOptions& options) {
  const bool arrays = options.input.kind == "arrays" || options.input.kind == "model";
  std::vector<std::optional<long long>> sizes;
  std::vector<std::optional<double>> norms;
  if (!options.n.empty() || !arrays) {
    for (const arma::uword n : parse_sizes(options.n.empty() ? "256,512,1024" : options.n, "--n"))
      sizes.emplace_back(n);
  }
  if (!options.norms.empty()) {
    for (const double norm : parse_positive(options.norms, "--norms")) norms.emplace_back(norm);
  }
  if (sizes.empty()) sizes.emplace_back();
  if (norms.empty()) norms.emplace_back();
  std::vector<Input> inputs;
  for (const auto& n : sizes) {
    for (const auto& norm : norms) {
      InputOptions one = without_mask(options.input, kNoMask);
      one.n = n;
      one.norm = norm;
      for (Input& input : load_inputs(one, options.run)) {
        require_square(input, "dimension");
        inputs.push_back(std::move(input));
      }
    }
  }
  return inputs;
}

croquis::DimensionSettings dimension_settings(const DimensionOptions& options) {
  return {.epsilons = parse_positive(options.epsilons, "--epsilons"),
          .delta = options.delta,
          .trials = options.trials,
          .spectrum = options.spectrum.settings(),
          .stop_requested = Run::interrupted};
}

void check(const croquis::DimensionSettings& settings) {
  if (settings.epsilons.back() >= 1) {
    throw std::invalid_argument(fmt::format("--epsilons: {} is not below 1", settings.epsilons.back()));
  }
  if (!(settings.delta > 0 && settings.delta < 0.5)) {
    throw std::invalid_argument(fmt::format("--delta: {} is not between 0 and 0.5", settings.delta));
  }
}

std::vector<DimensionStep> steps_of(const std::vector<Input>& inputs, const std::vector<double>& widths,
                                    const DimensionOptions& options) {
  std::vector<DimensionStep> steps;
  for (const Input& input : inputs) {
    constexpr arma::uword most = croquis::kLargestDenseLift;
    if (options.spectrum.method == "dense" && input.n_k > most) {
      throw std::invalid_argument(fmt::format("--method dense: n = {} is more than {}", input.n_k, most));
    }
    const bool dense = croquis::has_dense_lift(input.n_k, options.spectrum.settings().method);
    for (const double width : widths) steps.push_back({&input, width, dense});
  }
  return steps;
}

std::vector<croquis::Record> records_of(const DimensionStep& step, const croquis::Problem<double>& problem,
                                        const DimensionOptions& options, const croquis::DimensionSettings& settings,
                                        const Run& run) {
  const Key key = croquis::dimension_key(options.run.seed, options.input.kind);
  std::vector<croquis::Record> records;
  for (DimensionRow& row : lift_dimensions(problem, step.width, key, settings)) {
    if (run.has(step.key(row.epsilon))) continue;  // of a step that was interrupted
    row.input = step.input->name;
    row.sequence = step.input->sequence;
    row.layer = step.input->layer;
    row.head = step.input->head;
    row.seed = options.run.seed;
    records.push_back(croquis::dimension_columns().record(row, input_columns(options.input)));
  }
  return records;
}

std::vector<DimensionCurve> curves_of(const Table& table) {
  return croquis::dimension_curves(croquis::dimension_columns().rows(table));
}

void write_dimension_summary(const Table& table, const std::string& out) {
  write_rows(croquis::dimension_summary_columns(), croquis::summarise_dimensions(curves_of(table)), summary_file(out));
}

void plot_dimension(const Table& table, const PlotRequest& request) {
  require_one_picture(request, "dimension");
  draw_dimension(curves_of(table), request.picture);
}

int run_dimension(const DimensionOptions& options) {
  const croquis::DimensionSettings settings = dimension_settings(options);
  const std::vector<double> widths = parse_positive(options.widths, "--widths");
  check(settings);
  require_no_bias(options.input.bias, "dimension", kFullLift);
  prepare_run(options.run);
  const std::vector<Input> inputs = load_all(options);
  std::map<std::string, std::string> identity = identity_of(inputs);
  identity["--delta"] = croquis::csv_number(options.delta);
  identity["--trials"] = std::to_string(options.trials);
  options.spectrum.describe(identity);
  Run run(options.run, "dimension", croquis::dimension_columns().list(input_columns(options.input)), identity,
          {summary_file});

  std::vector<DimensionStep> steps = steps_of(inputs, widths, options);
  std::vector<Run::Cell> plan;
  for (const DimensionStep& step : steps) {
    plan.emplace_back();
    for (const double epsilon : settings.epsilons) plan.back().push_back(step.key(epsilon));
  }
  run.plan(plan);
  std::erase_if(steps, [&](const DimensionStep& step) { return !run.wants(step.key()); });
  HeadsInMemory heads;
  for (std::size_t i = 0; i < steps.size() && !Run::interrupted();) {
    heads.begin(*steps[i].input);
    std::size_t end = i + 1;
    while (!steps[i].alone() && end < steps.size() && !steps[end].alone() && heads.add(*steps[end].input)) ++end;
    if (!run.skip(end - i)) {
      heads.load();
      run.compute_steps(end - i, fmt::format("n = {}, width {:g}", steps[i].input->n_k, steps[i].width),
                        [&](std::size_t k) {
                          const DimensionStep& step = steps[i + k];
                          return records_of(step, heads.problem(*step.input), options, settings, run);
                        });
    }
    i = end;
  }
  return conclude(run);
}

void add_options(CLI::App& app, DimensionOptions& options) {
  add_run_options(app, options.run);
  add_double_option(app, options.run);
  add_input_options(app, options.input);
  for (const char* one : {"--n", "--norm"}) app.remove_option(app.get_option(one));
  for (const char* one : {"--bias", "--causal"}) app.get_option(one)->group("");  // refused, with the reason
  app.add_option("--n", options.n, "tokens: 256,1024 or 256:2048 (default 256,512,1024)");
  app.add_option("--norms", options.norms, "synthetic inputs: norms of queries and keys, as 2,4,8");
  app.add_option("--widths", options.widths, "factors for the kernel's width p^{1/4}")->capture_default_str();
  app.add_option("--epsilons", options.epsilons, "epsilon = lambda / ||C||, below 1")->capture_default_str();
  app.add_option("--delta", options.delta, "probability with which the theorem may fail")->capture_default_str();
  app.add_option("--trials", options.trials,
                 "draws for d_suffices, the number of landmarks that suffices; 0: do not compute it")
      ->check(whole_number(0, kMaximumTrials))
      ->capture_default_str();
  add_spectrum_options(app, options.spectrum, "above n = 4096", "eigenvalues");
}

}  // namespace

Command dimension_command() {
  const auto options = std::make_shared<DimensionOptions>();
  return {
      .name = "dimension",
      .summary = "statistical dimension of the lift, and the landmarks that it asks for",
      .example = "croquis dimension --n 256,512 --norms 2,4 --epsilons 0.1 --out dimension.csv --plot dimension.svg",
      .add_options = [options](CLI::App& app) { add_options(app, *options); },
      .run = measuring(options, run_dimension),
      .results = {.columns = croquis::dimension_columns().all(),
                  .summary_columns = croquis::dimension_summary_columns().all(),
                  .write_summary = write_dimension_summary,
                  .draw = plot_dimension,
                  .picture = "the statistical dimension, and the landmarks, against n",
                  .print = [](const Table& table) { print_dimensions(croquis::dimension_columns().rows(table)); },
                  .report = section_of_dimensions,
                  .said_of_all = {"delta"}}};
}
