#include "dimension.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/core/threads.hpp>
#include <croquis/io/csv.hpp>
#include <croquis/sampling/leverage.hpp>
#include <croquis/stats/intervals.hpp>
#include <limits>
#include <optional>
#include <stdexcept>

#include "dimension_lift.hpp"
#include "dimension_summary.hpp"
#include "lists.hpp"
#include "results/groups.hpp"

namespace {

using croquis::csv_field;
using croquis::csv_number;
using croquis::Key;
using croquis::Problem;

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr arma::uword kSideBySide = 1024;  // tokens: dense lifts of more are taken one after the other, for the memory
constexpr double kMissed = 0.05;           // of the interval for the probability of failure
const Run::Fields kColumns = {
    "input",        "n",          "p",         "norm",         "width",         "epsilon",
    "delta",        "lambda",     "norm_c",    "norm_lift",    "stable_rank_c", "stable_rank_lift",
    "d_stat",       "d_stat_lo",  "d_stat_hi", "leverage_max", "leverage_q90",  "leverage_q50",
    "leverage_q10", "beta",       "d_theorem", "d_suffices",   "failures",      "trials",
    "failure_lo",   "failure_hi", "method",    "seed",         "status"};

// A head at one width: a row for every epsilon.
struct Step {
  const Input* input;
  double width;
  bool dense;
};

struct Sufficient {
  double d = kUndefined;
  std::uint64_t failures = 0;
};

// The smallest d at which at most a part `delta` of the draws fails.
Sufficient smallest(std::vector<double> draws, double delta) {
  std::sort(draws.begin(), draws.end());
  const auto allowed = static_cast<std::size_t>(std::floor(delta * static_cast<double>(draws.size()) + 1e-9));
  const double d = draws[draws.size() - 1 - std::min(allowed, draws.size() - 1)];
  // Where no d does, those that fail are the draws that fail with all 2n of their landmarks.
  const auto failures = std::count_if(draws.begin(), draws.end(), [&](double x) { return x > d || std::isinf(x); });
  return {d, static_cast<std::uint64_t>(failures)};
}

class Measurement {
 public:
  Measurement(const DimensionOptions& options, std::vector<double> epsilons)
      : options_(options), epsilons_(std::move(epsilons)) {}

  // Empty when a signal came: a row with fewer trials would not be the one that was asked for.
  std::vector<Run::Fields> rows(const Step& step, const Run& run) const {
    const Problem<double>& given = step.input->problem;
    const Key draw_key = Key(options_.run.seed).child("dimension").child(step.input->name).child(given.n());
    LiftSpectrum spectrum;
    std::vector<Sufficient> sufficient(epsilons_.size());
    std::string status = "ok";
    try {
      const Problem<double> problem(given.Q() / step.width, given.K() / step.width, given.V());
      spectrum = step.dense ? dense_lift_spectrum(problem, epsilons_, draw_key)
                            : lanczos_lift_spectrum(problem, epsilons_, static_cast<arma::uword>(options_.leading),
                                                    static_cast<int>(options_.probes), draw_key);
      if (options_.trials > 0) sufficient = searched(problem, spectrum.norm_c, step.dense, draw_key);
    } catch (const std::exception& failure) {
      spectrum = {kUndefined, kUndefined, kUndefined, kUndefined, {}};
      spectrum.dimensions.assign(epsilons_.size(), undefined());
      status = failure.what();
    }
    std::vector<Run::Fields> rows;
    if (Run::interrupted()) return rows;
    for (std::size_t e = 0; e < epsilons_.size(); ++e) {
      if (run.has(key(step, epsilons_[e]))) continue;
      rows.push_back(row(step, spectrum, e, sufficient[e], status));
    }
    return rows;
  }

  Run::Fields key(const Step& step, double epsilon) const {
    return {csv_field(step.input->name), std::to_string(step.input->problem.n()), csv_number(step.width),
            csv_number(epsilon)};
  }

 private:
  static LiftDimension undefined() {
    LiftDimension d;
    d.lambda = d.d_stat = d.d_stat_lo = d.d_stat_hi = d.leverage_max = d.leverage_q90 = d.leverage_q50 =
        d.leverage_q10 = d.beta = kUndefined;
    return d;
  }

  std::vector<Sufficient> searched(const Problem<double>& problem, double norm_c, bool dense,
                                   const Key& draw_key) const {
    const auto exact = kernelized_scores(problem, dense);
    const auto trials = static_cast<std::size_t>(options_.trials);
    std::vector<std::vector<double>> draws(epsilons_.size(), std::vector<double>(trials, kUndefined));
    croquis::parallel_for(trials, [&](std::size_t t) {
      if (Run::interrupted()) return;
      // Widths meet the same landmarks: their rows are paired.
      const auto d = sufficient_landmarks(problem, exact, norm_c, epsilons_, draw_key.child("trial").child(t + 1));
      for (std::size_t e = 0; e < d.size(); ++e) draws[e][t] = d[e];
    });
    std::vector<Sufficient> found;
    found.reserve(draws.size());
    for (std::vector<double>& some : draws) found.push_back(smallest(std::move(some), options_.delta));
    return found;
  }

  Run::Fields row(const Step& step, const LiftSpectrum& spectrum, std::size_t e, const Sufficient& sufficient,
                  const std::string& status) const {
    const Problem<double>& p = step.input->problem;
    const LiftDimension& d = spectrum.dimensions[e];
    const auto n = static_cast<double>(p.n());
    const double norm = std::sqrt((arma::accu(arma::square(p.Q())) + arma::accu(arma::square(p.K()))) / (2 * n));
    const double theorem = std::ceil(56.0 / 3 * d.d_stat_hi / d.beta * std::log(4 * n / options_.delta));
    const bool searched = options_.trials > 0 && status == "ok";
    croquis::Interval failure{kUndefined, kUndefined};
    if (searched) {
      failure = croquis::clopper_pearson(sufficient.failures, static_cast<std::uint64_t>(options_.trials), kMissed);
    }
    Run::Fields fields = {csv_field(step.input->name), std::to_string(p.n()), std::to_string(p.p())};
    for (const double x : {norm, step.width, epsilons_[e], options_.delta, d.lambda, spectrum.norm_c,
                           spectrum.norm_lift, spectrum.stable_rank_c, spectrum.stable_rank_lift, d.d_stat, d.d_stat_lo,
                           d.d_stat_hi, d.leverage_max, d.leverage_q90, d.leverage_q50, d.leverage_q10, d.beta, theorem,
                           searched && std::isfinite(sufficient.d) ? sufficient.d : kUndefined}) {
      fields.push_back(csv_number(x));
    }
    fields.push_back(searched ? std::to_string(sufficient.failures) : "NA");
    fields.push_back(std::to_string(options_.trials));
    for (const double x : {failure.lo, failure.hi}) fields.push_back(csv_number(x));
    fields.push_back(step.dense ? "dense" : "lanczos");
    fields.push_back(std::to_string(options_.run.seed));
    fields.push_back(csv_field(status));
    return fields;
  }

  const DimensionOptions& options_;
  std::vector<double> epsilons_;
};

std::vector<double> parse_positive(const std::string& text, const std::string& option) {
  std::vector<double> values;
  for (const std::string& item : split_list(text, option)) {
    const auto value = number_in(item);
    if (!value || *value <= 0) throw std::invalid_argument(fmt::format("{}: '{}' is not positive", option, item));
    values.push_back(*value);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

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
      InputOptions one = options.input;
      one.n = n;
      one.norm = norm;
      for (Input& input : load_inputs(one, options.run.seed)) inputs.push_back(std::move(input));
    }
  }
  return inputs;
}

}  // namespace

int run_dimension(DimensionOptions options) {
  if (options.run.out.empty()) options.run.out = "dimension.csv";
  const std::vector<double> epsilons = parse_positive(options.epsilons, "--epsilons");
  const std::vector<double> widths = parse_positive(options.widths, "--widths");
  if (epsilons.back() >= 1) throw std::invalid_argument(fmt::format("--epsilons: {} is not below 1", epsilons.back()));
  if (!(options.delta > 0 && options.delta < 0.5)) {
    throw std::invalid_argument(fmt::format("--delta: {} is not between 0 and 0.5", options.delta));
  }
  if (options.trials < 0) throw std::invalid_argument(fmt::format("--trials: {} is negative", options.trials));
  if (options.leading < 1) throw std::invalid_argument(fmt::format("--leading: {} is not positive", options.leading));
  if (options.probes < 2) throw std::invalid_argument(fmt::format("--probes: {} is less than 2", options.probes));
  prepare_run(options.run);
  const std::vector<Input> inputs = load_all(options);
  std::map<std::string, std::string> identity = identity_of(inputs);
  identity["--delta"] = csv_number(options.delta);
  identity["--trials"] = std::to_string(options.trials);
  identity["--method"] = options.method;
  identity["--leading"] = std::to_string(options.leading);
  identity["--probes"] = std::to_string(options.probes);
  Run run(options.run, "dimension", kColumns, {{"input", "n", "width"}, {"epsilon"}}, identity);

  const Measurement measurement(options, epsilons);
  std::vector<Step> steps;
  std::vector<Run::Cell> plan;
  for (const Input& input : inputs) {
    constexpr arma::uword most = croquis::RidgeLeverage<double>::kLargestN / 2;
    if (options.method == "dense" && input.problem.n() > most) {
      throw std::invalid_argument(fmt::format("--method dense: n = {} is more than {}", input.problem.n(), most));
    }
    const bool dense = options.method == "dense" || (options.method == "auto" && input.problem.n() <= most);
    for (const double width : widths) {
      steps.push_back({&input, width, dense});
      plan.emplace_back();
      for (const double epsilon : epsilons) plan.back().push_back(measurement.key(steps.back(), epsilon));
    }
  }
  run.plan(plan);
  std::erase_if(steps, [&](const Step& step) {
    return !run.wants({csv_field(step.input->name), std::to_string(step.input->problem.n()), csv_number(step.width)});
  });
  const auto alone = [&](const Step& step) { return !step.dense || step.input->problem.n() > kSideBySide; };
  for (std::size_t i = 0; i < steps.size() && !Run::interrupted();) {
    std::size_t end = i + 1;
    while (!alone(steps[i]) && end < steps.size() && !alone(steps[end])) ++end;
    run.compute_steps(end - i, fmt::format("n = {}, width {:g}", steps[i].input->problem.n(), steps[i].width),
                      [&](std::size_t k) { return measurement.rows(steps[i + k], run); });
    i = end;
  }
  if (const auto status = run.finish()) return *status;

  const croquis::CsvTable table = croquis::read_csv(options.run.out);
  const std::vector<DimensionCurve> curves = dimension_curves(table);
  write_dimension_summary(beside(options.run.out, ".summary.csv"), curves);
  if (!options.run.plot.empty()) draw_dimension(curves, options.run.plot);
  if (!options.run.quiet) {
    print_dimension(table);
    print_files(table, options.run.out, options.run.plot);
  }
  return 0;
}
