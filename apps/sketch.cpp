#include "sketch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/distributed/communicator.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <croquis/measure/errors.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/sampling/landmarks.hpp>
#include <croquis/sketch/distributions.hpp>
#include <limits>
#include <optional>

#include "lists.hpp"
#include "plot.hpp"
#include "results/finite.hpp"
#include "results/groups.hpp"
#include "results/progress.hpp"
#include "sketch_subject.hpp"

namespace {

using croquis::csv_field;
using croquis::csv_number;
using croquis::Key;
using croquis::Problem;
using Clock = std::chrono::steady_clock;

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
const Run::Fields kColumns = {"input",
                              "matrix",
                              "n",
                              "cols",
                              "rank",
                              "kind",
                              "name",
                              "features",
                              "trial",
                              "seed",
                              "norm_error",
                              "injectivity",
                              "dilation",
                              "product_spectral_rel",
                              "product_frobenius_rel",
                              "nystrom_spectral_rel",
                              "nystrom_trace_rel",
                              "seconds",
                              "status"};

struct Measured {
  double norm_error = kUndefined, injectivity = kUndefined, dilation = kUndefined;
  double product_spectral = kUndefined, product_frobenius = kUndefined;
  double nystrom_spectral = kUndefined, nystrom_trace = kUndefined;
  double seconds = kUndefined;
  std::string status = "ok";
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Comparison {
 public:
  Comparison(const SketchOptions& options, SketchSubject subject, std::vector<arma::uword> features)
      : options_(options), subject_(std::move(subject)), features_(std::move(features)) {
    norms_ = arma::sum(arma::square(subject_.matrix), 0).t();
    if (subject_.problem) {
      scores_ = exact_scores(*subject_.problem, croquis::Target::softmax);
      product_.emplace(scores_->apply(subject_.problem->V()));
    }
  }

  void operators(Run& run, const std::vector<Choice>& choices) {
    for (const Choice& choice : choices) {
      std::map<std::string, double> parameters;
      for (const auto& [key, value] : choice.options) parameters[key] = number_in(value).value_or(kUndefined);
      const bool weighted = croquis::find_sketch_distribution<double>(choice.name).weighted;
      std::vector<double> weights;  // importance by the squares of the row norms, as for a matrix product
      if (weighted) {
        weights = arma::conv_to<std::vector<double>>::from(arma::sum(arma::square(subject_.matrix), 1));
      }
      compute(run, "operator", choice.label, [&](arma::uword d, const Key& draw_key) {
        return embedding(
            croquis::describe_sketch(choice.name, subject_.matrix.n_rows, d, draw_key, parameters, weights));
      });
    }
  }

  void landmarks(Run& run, const std::vector<std::string>& policies) {
    if (policies.empty() || !subject_.problem) return;
    const Problem<double>& p = *subject_.problem;
    const croquis::LiftedPoints<double> lift(p.Q(), p.K());
    const croquis::KernelMatrix<double> kernel = lift.kernel();
    const arma::mat dense = kernel.dense();
    const double norm = croquis::spectral_norm(croquis::as_operator(dense), Key(1)).value;
    for (const std::string& policy : policies) {
      const auto start = Clock::now();
      const croquis::LandmarkSampler<double> sampler(kernel, croquis::landmark_policy(policy));
      const double preparation = seconds_since(start);
      compute(run, "landmarks", policy, [&](arma::uword d, const Key& draw_key) {
        Measured measured = nystrom(kernel, dense, norm, sampler, lift, d, draw_key);
        measured.seconds += preparation;
        return measured;
      });
    }
  }

  // The cells that compute() goes through.
  void plan(std::vector<Run::Cell>& cells, const std::string& kind, const std::string& name) const {
    for (const arma::uword d : features_) {
      for (long long trial = 1; trial <= options_.trials; ++trial) {
        cells.push_back({{kind, csv_field(name), std::to_string(d), std::to_string(trial)}});
      }
    }
  }

 private:
  template <typename Measure>
  void compute(Run& run, const std::string& kind, const std::string& name, const Measure& measure) {
    std::vector<std::pair<arma::uword, long long>> cells;
    for (const arma::uword d : features_) {
      for (long long trial = 1; trial <= options_.trials; ++trial) {
        if (run.wants({kind, csv_field(name), std::to_string(d), std::to_string(trial)})) cells.emplace_back(d, trial);
      }
    }
    const Key draw_key = Key(options_.run.seed).child("sketch").child(kind).child(name);
    run.compute(cells.size(), name, [&](std::size_t i) {
      const auto [d, trial] = cells[i];
      Measured m;
      try {
        m = measure(d, draw_key.child(d).child(static_cast<std::uint64_t>(trial)));
        m.status = status_of({{"norm_error", m.norm_error, true},
                              {"injectivity", m.injectivity, true},
                              {"dilation", m.dilation, true},
                              {"product_spectral_rel", m.product_spectral, true},
                              {"product_frobenius_rel", m.product_frobenius, true},
                              {"nystrom_spectral_rel", m.nystrom_spectral, true},
                              {"nystrom_trace_rel", m.nystrom_trace, true}});
        if (m.status != "ok") throw std::runtime_error(m.status);
      } catch (const std::exception& failure) {
        m = {};
        m.status = failure.what();
      }
      return Run::Fields{csv_field(subject_.input),
                         csv_field(subject_.name),
                         std::to_string(subject_.matrix.n_rows),
                         std::to_string(subject_.matrix.n_cols),
                         std::to_string(subject_.basis.n_cols),
                         kind,
                         csv_field(name),
                         std::to_string(d),
                         std::to_string(trial),
                         std::to_string(options_.run.seed),
                         csv_number(m.norm_error),
                         csv_number(m.injectivity),
                         csv_number(m.dilation),
                         csv_number(m.product_spectral),
                         csv_number(m.product_frobenius),
                         csv_number(m.nystrom_spectral),
                         csv_number(m.nystrom_trace),
                         csv_number(m.seconds),
                         csv_field(m.status)};
    });
  }

  Measured embedding(const croquis::SketchDescription& description) const {
    Measured m;
    const auto start = Clock::now();
    const croquis::AnySketch<double> sketch = croquis::make_sketch<double>(description);
    const arma::mat sketched = sketch.left(subject_.matrix);
    m.seconds = seconds_since(start);
    const arma::vec ratios = arma::sum(arma::square(sketched), 0).t() / norms_;
    m.norm_error = arma::mean(arma::abs(ratios.elem(arma::find(norms_ > 0)) - 1));
    const arma::vec stretch = arma::svd(sketch.left(subject_.basis));
    m.dilation = stretch.max();
    m.injectivity = description.cols < subject_.basis.n_cols ? 0.0 : stretch.min();
    if (subject_.problem) {
      const auto errors = product_->compare(scores_->apply(sketch.expand(sketch.left(subject_.problem->V()))));
      m.product_spectral = errors.spectral_rel;
      m.product_frobenius = errors.frobenius_rel;
    }
    return m;
  }

  static Measured nystrom(const croquis::KernelMatrix<double>& kernel, const arma::mat& dense, double norm,
                          const croquis::LandmarkSampler<double>& sampler, const croquis::LiftedPoints<double>& lift,
                          arma::uword d, const Key& draw_key) {
    Measured m;
    const auto start = Clock::now();
    const arma::uvec landmarks = sampler.draw(d, draw_key);
    m.seconds = seconds_since(start);
    const auto core = croquis::pseudo_inverse_psd(kernel.block(landmarks, landmarks), core_cutoff(lift, d));
    arma::mat factor = kernel.columns(landmarks) * core.right;  // M~ = factor factor^T
    factor.each_row() /= arma::sqrt(core.values).t();
    const auto residual = [&](const arma::mat& x) -> arma::mat { return dense * x - factor * (factor.t() * x); };
    constexpr double kAccuracy = 1e-4;  // far below the spread of the trials
    m.nystrom_spectral = croquis::spectral_norm<double>({dense.n_rows, dense.n_rows, residual, residual},
                                                        draw_key.child("norm"), {.tolerance = kAccuracy})
                             .value /
                         norm;
    m.nystrom_trace = 1 - arma::accu(arma::square(factor)) / arma::accu(kernel.diagonal);
    return m;
  }

  const SketchOptions& options_;
  SketchSubject subject_;
  std::vector<arma::uword> features_;
  arma::vec norms_;  // squared, of the columns
  std::optional<croquis::LinearOperator<double>> scores_;
  std::optional<croquis::OutputReference> product_;
};

std::vector<Choice> parse_sketches(const std::string& text) {
  std::vector<std::string> known;
  for (const auto& distribution : croquis::sketch_distributions<double>()) known.push_back(distribution.name);
  return parse_choices(text, "--sketches", known);
}

std::vector<std::string> parse_landmarks(const std::string& text, bool available) {
  std::vector<std::string> known = croquis::landmark_policy_names();
  std::erase(known, "given");
  if (text == "none" || (text == "all" && !available)) return {};
  if (!available)
    throw std::invalid_argument("--landmarks: a matrix from a file has no queries and keys to choose from");
  std::vector<std::string> names;
  for (const Choice& choice : parse_choices(text, "--landmarks", known)) {
    if (!choice.options.empty()) throw std::invalid_argument("--landmarks: a policy takes no options");
    names.push_back(choice.name);
  }
  return names;
}

}  // namespace

int run_sketch(SketchOptions options) {
  if (options.run.out.empty()) options.run.out = "sketch.csv";
  if (options.trials < 1) throw std::invalid_argument(fmt::format("--trials: {} is not positive", options.trials));
  const std::vector<Choice> sketches = parse_sketches(options.sketches);
  const std::vector<arma::uword> features = parse_sizes(options.features, "--features");
  prepare_run(options.run);
  SketchSubject subject = load_sketch_subject(options.matrix, options.input, options.rank, options.run.seed);
  std::vector<std::string> policies = parse_landmarks(options.landmarks, subject.problem.has_value());
  if (!policies.empty() && subject.problem->n() > kLargestDense / 2) {
    if (croquis::Communicator::world().rank() == 0) {
      say(fmt::format("croquis sketch: landmark policies are left out, n = {} is more than {}\n", subject.problem->n(),
                      kLargestDense / 2));
    }
    policies.clear();
  }
  croquis::require_memory(
      sizeof(double) * static_cast<double>(features.back()) * static_cast<double>(subject.matrix.n_cols),
      "--features: a sketched matrix", {{"d", features.back()}, {"cols", subject.matrix.n_cols}});
  for (const Choice& choice : sketches) {  // a wrong parameter is the user's: find it before anything is computed
    std::map<std::string, double> parameters;
    for (const auto& [key, value] : choice.options) parameters[key] = number_in(value).value_or(kUndefined);
    const bool weighted = croquis::find_sketch_distribution<double>(choice.name).weighted;
    const arma::uword n = subject.matrix.n_rows;
    croquis::describe_sketch(choice.name, n, features.back(), Key(1), parameters,
                             std::vector<double>(weighted ? n : 0, 1.0));
  }

  const std::string title =
      fmt::format("{}, {} of {} x {}", subject.input, subject.name, subject.matrix.n_rows, subject.matrix.n_cols);
  const std::string rank = std::to_string(subject.basis.n_cols);
  require_room_for_rows(
      static_cast<double>((sketches.size() + policies.size()) * features.size()) * static_cast<double>(options.trials),
      "--trials", options.trials);
  Run run(options.run, "sketch", kColumns, {{"kind", "name", "features", "trial"}}, subject.identity);
  Comparison comparison(options, std::move(subject), features);
  std::vector<Run::Cell> cells;
  for (const Choice& choice : sketches) comparison.plan(cells, "operator", choice.label);
  for (const std::string& policy : policies) comparison.plan(cells, "landmarks", policy);
  run.plan(cells);
  comparison.operators(run, sketches);
  comparison.landmarks(run, policies);
  if (const auto status = run.finish()) return *status;

  const croquis::CsvTable table = croquis::read_csv(options.run.out);
  const std::vector<Group> groups = group_rows(table, sketch_grouping());
  write_summary(beside(options.run.out, ".summary.csv"), groups, sketch_grouping());
  if (!options.run.plot.empty()) draw_groups(groups, sketch_grouping(), default_metric(groups), options.run.plot);
  if (!options.run.quiet) {
    const auto of_kind = [&](const char* kind) {
      std::vector<Group> some = groups;
      std::erase_if(some, [&](const Group& g) { return g.key.at("kind") != kind; });
      return some;
    };
    const std::vector<Group> operators = of_kind("operator");
    fmt::print("\n{}; means of {} trials (standard error)\n", title, options.trials);
    print_groups("| ||S^T x||^2 / ||x||^2 - 1 |, mean over the columns x", operators, "norm_error");
    print_groups("injectivity: smallest singular value of S^T U, U spanning the leading " + rank + " directions",
                 groups, "injectivity");
    print_groups("dilation: largest singular value of S^T U", operators, "dilation");
    print_groups("||BV - B S S^T V|| / ||BV||", operators, "product_spectral_rel");
    print_groups("Nystrom on the lift M, by landmarks: ||M - M~|| / ||M||", of_kind("landmarks"),
                 "nystrom_spectral_rel");
    print_files(table, options.run.out, options.run.plot);
  }
  return 0;
}
