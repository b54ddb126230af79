#include "spectrum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/score_matrices.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/io/csv.hpp>
#include <croquis/linalg/spectrum.hpp>
#include <croquis/linalg/trace_estimate.hpp>
#include <limits>
#include <stdexcept>

#include "lists.hpp"
#include "results/finite.hpp"
#include "results/groups.hpp"
#include "spectrum_summary.hpp"

namespace {

using croquis::csv_field;
using croquis::csv_number;
using croquis::Key;
using croquis::Problem;
using croquis::ScoreMatrix;

constexpr arma::uword kLargestDense = 4096;  // n x n above this: two minutes and 128 MB a matrix
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
const std::vector<std::string> kMatrices = {"a", "b", "c", "bv", "cv"};
const Run::Fields kColumns = {"input",         "matrix",         "n",         "p",          "method",
                              "index",         "singular_value", "residual",  "cumulative", "cumulative_lo",
                              "cumulative_hi", "frobenius",      "log_scale", "seed",       "status"};

// All rows of one matrix of one head.
struct Step {
  const Input* input;
  std::string matrix;
  bool lanczos;
  arma::uword count;  // singular values
};

struct Spectrum {
  arma::vec values, residuals;
  double total = kUndefined, total_lo = kUndefined, total_hi = kUndefined;  // sum of all singular values
  double frobenius = kUndefined, log_scale = 0;
  std::string status = "ok";
};

ScoreMatrix score_matrix_of(const std::string& matrix) {
  if (matrix == "a") return ScoreMatrix::raw;
  return matrix == "b" ? ScoreMatrix::softmax : ScoreMatrix::kernelized;
}

Spectrum dense_spectrum(const Problem<double>& problem, const std::string& matrix) {
  Spectrum s;
  if (matrix == "bv" || matrix == "cv") {
    const croquis::Target target = matrix == "bv" ? croquis::Target::softmax : croquis::Target::kernelized;
    s.values = croquis::singular_values(exact_attention(problem, target).output);
  } else {
    s.values = croquis::singular_values(croquis::score_matrix(problem, score_matrix_of(matrix)));
    if (matrix == "a") s.log_scale = croquis::largest_log_score(problem);
  }
  s.residuals.zeros(s.values.n_elem);
  s.total = s.total_lo = s.total_hi = arma::accu(s.values);
  s.frobenius = arma::norm(s.values);
  return s;
}

Spectrum lanczos_spectrum(const Problem<double>& problem, const std::string& matrix, const Key& draw_key,
                          const SpectrumOptions& options) {
  Spectrum s;
  const croquis::ScoreOperator scores = croquis::score_operator(problem, score_matrix_of(matrix));
  const auto leading =
      croquis::leading_spectrum(scores.matrix, static_cast<arma::uword>(options.leading), draw_key.child("leading"));
  s.values = leading.values;
  s.residuals = leading.residuals;
  s.frobenius = scores.frobenius;
  s.log_scale = scores.log_scale;
  const auto sum =
      croquis::spectral_sum<double>(scores.matrix, [](double x) { return x; }, leading.values, leading.right,
                                    draw_key.child("sum"), {.probes = static_cast<int>(options.probes)});
  s.total = sum.value;
  s.total_lo = sum.lower;
  s.total_hi = sum.upper;
  return s;
}

std::vector<Run::Fields> rows_of(const Step& step, const SpectrumOptions& options, const Run& run) {
  const Problem<double>& problem = step.input->problem;
  Spectrum s;
  try {
    if (step.lanczos) {
      const Key draw_key = Key(options.run.seed).child("spectrum").child(step.input->name).child(step.matrix);
      s = lanczos_spectrum(problem, step.matrix, draw_key, options);
    } else {
      s = dense_spectrum(problem, step.matrix);
    }
    s.status = status_of({{"singular_value", arma::accu(s.values)},
                          {"frobenius", s.frobenius},
                          {"log_scale", s.log_scale},
                          {"cumulative", s.total, true}});
    if (s.status != "ok") throw std::runtime_error(s.status);
  } catch (const std::exception& failure) {
    s = {};
    s.values = s.residuals = {kUndefined};
    s.status = failure.what();
  }
  std::vector<Run::Fields> rows;
  double sum = 0;
  for (arma::uword i = 0; i < s.values.n_elem; ++i) {
    sum += s.values(i);
    // A step that was interrupted left its first rows.
    if (run.has({csv_field(step.input->name), step.matrix, std::to_string(i + 1)})) continue;
    rows.push_back({csv_field(step.input->name), step.matrix, std::to_string(problem.n()), std::to_string(problem.p()),
                    step.lanczos ? "lanczos" : "dense", std::to_string(i + 1), csv_number(s.values(i)),
                    csv_number(s.residuals(i)), csv_number(std::min(1.0, sum / s.total)),
                    csv_number(std::min(1.0, sum / s.total_hi)), csv_number(std::min(1.0, sum / s.total_lo)),
                    csv_number(s.frobenius), csv_number(s.log_scale), std::to_string(options.run.seed),
                    csv_field(s.status)});
  }
  return rows;
}

std::vector<Step> steps_of(const std::vector<Input>& inputs, const std::vector<std::string>& matrices,
                           const SpectrumOptions& options) {
  std::vector<Step> steps;
  for (const Input& input : inputs) {
    const arma::uword n = input.problem.n();
    for (const std::string& matrix : matrices) {
      const bool output = matrix == "bv" || matrix == "cv";
      const bool lanczos = !output && (options.method == "lanczos" || (options.method == "auto" && n > kLargestDense));
      const arma::uword all = output ? std::min(n, input.problem.p_v()) : n;
      const arma::uword count = lanczos ? std::min(all, static_cast<arma::uword>(options.leading)) : all;
      steps.push_back({&input, matrix, lanczos, count});
    }
  }
  return steps;
}

std::vector<std::string> parse_matrices(const std::string& text) {
  std::vector<std::string> matrices;
  for (const Choice& choice : parse_choices(text, "--matrices", kMatrices)) {
    if (!choice.options.empty()) throw std::invalid_argument("--matrices: a matrix takes no options");
    matrices.push_back(choice.name);
  }
  return matrices;
}

}  // namespace

int run_spectrum(SpectrumOptions options) {
  if (options.run.out.empty()) options.run.out = "spectrum.csv";
  if (options.leading < 1) throw std::invalid_argument(fmt::format("--leading: {} is not positive", options.leading));
  if (options.probes < 2) throw std::invalid_argument(fmt::format("--probes: {} is less than 2", options.probes));
  const std::vector<std::string> matrices = parse_matrices(options.matrices);
  prepare_run(options.run);
  const std::vector<Input> inputs = load_inputs(options.input, options.run.seed);
  const auto n = static_cast<double>(inputs.front().problem.n());
  if (options.method == "dense") {
    croquis::require_memory(2 * sizeof(double) * n * n, "--method dense: an n x n matrix and a copy", {{"n", n}});
  }
  std::map<std::string, std::string> identity = identity_of(inputs);
  identity["--method"] = options.method;
  identity["--leading"] = std::to_string(options.leading);
  identity["--probes"] = std::to_string(options.probes);
  Run run(options.run, "spectrum", kColumns, {{"input", "matrix"}, {"index"}}, identity);

  // Dense matrices go side by side; the products of a matrix-free one use all threads by themselves.
  std::vector<Step> steps = steps_of(inputs, matrices, options);
  std::vector<Run::Cell> plan;
  plan.reserve(steps.size());
  for (const Step& step : steps) {
    plan.push_back({{csv_field(step.input->name), step.matrix, std::to_string(step.count)}});
  }
  run.plan(plan);
  std::erase_if(steps, [&](const Step& step) { return !run.wants({csv_field(step.input->name), step.matrix}); });
  for (std::size_t i = 0; i < steps.size() && !Run::interrupted();) {
    std::size_t end = i + 1;
    while (!steps[i].lanczos && end < steps.size() && !steps[end].lanczos) ++end;
    run.compute_steps(end - i, steps[i].matrix, [&](std::size_t k) { return rows_of(steps[i + k], options, run); });
    i = end;
  }
  if (const auto status = run.finish()) return *status;

  const croquis::CsvTable table = croquis::read_csv(options.run.out);
  const std::vector<SpectrumSummary> summaries = summarise_spectra(table);
  write_spectrum_summary(beside(options.run.out, ".summary.csv"), summaries);
  if (!options.run.plot.empty()) draw_spectra(summaries, options.run.plot);
  if (!options.run.quiet) {
    print_spectra(summaries);
    print_files(table, options.run.out, options.run.plot);
  }
  return 0;
}
