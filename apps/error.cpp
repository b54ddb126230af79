#include "error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/measure/errors.hpp>
#include <csignal>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>

#include "lists.hpp"
#include "plot.hpp"
#include "results/environment.hpp"
#include "results/error_summary.hpp"
#include "results/metadata.hpp"
#include "results/progress.hpp"

namespace {

using croquis::csv_field;
using croquis::csv_number;
using croquis::Problem;
using croquis::Stream;
using croquis::Target;
using Clock = std::chrono::steady_clock;

std::atomic<int> caught_signal{0};
void remember_signal(int signal) {
  caught_signal = signal;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

const std::vector<std::string> kColumns = {
    "input",        "method",        "preset",        "target",  "n",           "p",
    "p_v",          "features",      "trial",         "seed",    "precision",   "spectral_abs",
    "spectral_rel", "frobenius_abs", "frobenius_rel", "max_abs", "row_sum_dev", "min_denominator",
    "seconds",      "flops",         "status"};

// One row to be computed.
struct Cell {
  arma::uword features;
  long long trial;
};

using CellKey = std::tuple<std::string, std::string, std::string, std::string>;  // method, preset, features, trial

std::set<CellKey> keys_of(const std::vector<std::vector<std::string>>& rows) {
  std::set<CellKey> keys;
  for (const auto& row : rows) keys.emplace(row[1], row[2], row[7], row[8]);
  return keys;
}

// The exact output of a target, computed when the first method asks for it.
struct Reference {
  croquis::OutputReference output;
  arma::vec log_row_sums;
};

class References {
 public:
  explicit References(const Problem<double>& problem) : problem_(problem) {}

  const Reference& of(Target target) {
    auto found = made_.find(target);
    if (found == made_.end()) {
      auto exact = croquis::exact_attention(problem_, target);
      found = made_
                  .emplace(target,
                           Reference{croquis::OutputReference(std::move(exact.output)), std::move(exact.log_row_sums)})
                  .first;
    }
    return found->second;
  }

 private:
  const Problem<double>& problem_;
  std::map<Target, Reference> made_;
};

struct Measured {
  croquis::OutputErrors errors;
  double row_sum_deviation = std::nan(""), smallest_denominator = std::nan("");
  double seconds = std::nan("");
  std::string status = "ok";
};

template <typename T>
Measured measure(const croquis::BoundMethod<T>& method, Target target, const Reference& reference, arma::uword d,
                 const Stream& stream) {
  Measured measured;
  const double undefined = std::nan("");
  measured.errors = {undefined, undefined, undefined, undefined, undefined};
  try {
    const auto start = Clock::now();
    const croquis::Approximation<T> approximation = method.approximate(d, stream);
    measured.seconds = seconds_since(start);
    if (is_normalised(target) && approximation.scores) {
      measured.row_sum_deviation = croquis::row_sum_deviation(*approximation.scores);
    }
    if (approximation.denominators) {
      measured.smallest_denominator =
          croquis::smallest_denominator(*approximation.denominators, reference.log_row_sums);
    }
    measured.errors = reference.output.compare(arma::conv_to<arma::mat>::from(approximation.output));
  } catch (const std::exception& failure) {
    measured.status = failure.what();
  }
  return measured;
}

// Hands rows to the file in their order, whichever trial ends first.
class OrderedRows {
 public:
  explicit OrderedRows(RowFile& file) : file_(file) {}

  void put(std::size_t index, std::vector<std::string> row) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(index, std::move(row));
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_; first = waiting_.begin()) {
      file_.append(first->second);
      waiting_.erase(first);
      ++next_;
    }
  }

 private:
  RowFile& file_;
  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::string>> waiting_;
  std::size_t next_ = 0;
};

std::vector<Cell> cells_of(const std::vector<arma::uword>& features, long long trials) {
  std::vector<Cell> cells;
  for (const arma::uword d : features) {
    for (long long trial = 1; trial <= trials; ++trial) cells.push_back({d, trial});
  }
  return cells;
}

template <typename T>
class Sweep {
 public:
  Sweep(const ErrorOptions& options, const Input& input, const Problem<T>& problem, const Problem<double>& exact,
        std::vector<MethodChoice> methods, std::vector<arma::uword> features)
      : options_(options),
        input_(input),
        problem_(problem),
        references_(exact),
        methods_(std::move(methods)),
        features_(std::move(features)) {}

  void run(RowFile& file) {
    const std::set<CellKey> done = keys_of(file.found());
    std::vector<std::vector<Cell>> missing;
    std::size_t total = 0;
    for (const MethodChoice& choice : methods_) {
      const bool random = croquis::find_method<T>(choice.name).random(choice.options);
      std::vector<Cell> cells = cells_of(features_, random ? options_.trials : 1);
      std::erase_if(cells, [&](const Cell& cell) {
        return done.contains(
            {choice.name, csv_field(choice.preset), std::to_string(cell.features), std::to_string(cell.trial)});
      });
      total += cells.size();
      missing.push_back(std::move(cells));
    }
    Progress progress(total, options_.run.quiet);
    std::atomic<std::size_t> finished{0};
    for (std::size_t m = 0; m < methods_.size() && caught_signal == 0; ++m) {
      if (!missing[m].empty()) run_method(methods_[m], missing[m], file, progress, finished);
    }
  }

 private:
  void run_method(const MethodChoice& choice, const std::vector<Cell>& cells, RowFile& file, Progress& progress,
                  std::atomic<std::size_t>& finished) {
    const croquis::Method<T>& method = croquis::find_method<T>(choice.name);
    progress.show(finished, choice.name);
    croquis::BoundMethod<T> bound;
    std::string failure;
    const auto start = Clock::now();
    try {
      bound = croquis::bind(method, problem_, choice.options);
    } catch (const std::exception& reason) {
      failure = reason.what();
    }
    const double preparation = seconds_since(start);  // shared by the rows, and part of the cost of each
    const Reference& reference = references_.of(method.target);
    const Stream stream = Stream(options_.run.seed).child("error").child(options_.input.kind).child(method.name);
    OrderedRows rows(file);
    std::mutex progress_mutex;
    croquis::parallel_for(cells.size(), [&](std::size_t i) {
      if (caught_signal != 0) return;
      const Cell& cell = cells[i];
      Measured measured;
      if (failure.empty()) {
        const Stream draw = stream.child(cell.features).child(static_cast<std::uint64_t>(cell.trial));
        measured = measure(bound, method.target, reference, cell.features, draw);
        measured.seconds += preparation;
      } else {
        const double undefined = std::nan("");
        measured.errors = {undefined, undefined, undefined, undefined, undefined};
        measured.status = failure;
      }
      const double flops = failure.empty() ? bound.flops(static_cast<double>(cell.features)) : std::nan("");
      rows.put(i, row_of(choice, method.target, cell, measured, flops));
      const std::lock_guard lock(progress_mutex);
      progress.show(++finished, choice.name);
    });
  }

  std::vector<std::string> row_of(const MethodChoice& choice, Target target, const Cell& cell, const Measured& m,
                                  double flops) const {
    return {csv_field(input_.name),
            choice.name,
            csv_field(choice.preset),
            std::string(name_of(target)),
            std::to_string(problem_.n()),
            std::to_string(problem_.p()),
            std::to_string(problem_.p_v()),
            std::to_string(cell.features),
            std::to_string(cell.trial),
            std::to_string(options_.run.seed),
            options_.run.precision,
            csv_number(m.errors.spectral_abs),
            csv_number(m.errors.spectral_rel),
            csv_number(m.errors.frobenius_abs),
            csv_number(m.errors.frobenius_rel),
            csv_number(m.errors.max_abs),
            csv_number(m.row_sum_deviation),
            csv_number(m.smallest_denominator),
            csv_number(m.seconds),
            csv_number(flops),
            csv_field(m.status)};
  }

  const ErrorOptions& options_;
  const Input& input_;
  Problem<T> problem_;
  References references_;
  std::vector<MethodChoice> methods_;
  std::vector<arma::uword> features_;
};

void check(const ErrorOptions& options, const Problem<double>& problem, const std::vector<MethodChoice>& methods,
           const std::vector<arma::uword>& features) {
  if (options.trials < 1) throw std::invalid_argument(fmt::format("--trials: {} is not positive", options.trials));
  if (features.back() > problem.n()) {
    throw std::invalid_argument(
        fmt::format("--features: {} is more than the n = {} tokens; give at most n", features.back(), problem.n()));
  }
  // A wrong option is the user's, not the method's: find it before anything is computed.
  const Problem<double> tiny(arma::mat(1, 1, arma::fill::zeros), arma::mat(1, 1, arma::fill::zeros),
                             arma::mat(1, 1, arma::fill::zeros));
  for (const MethodChoice& choice : methods) {
    croquis::bind(croquis::find_method<double>(choice.name), tiny, choice.options);
  }
}

template <typename T>
void sweep(const ErrorOptions& options, const Input& input, const std::vector<MethodChoice>& methods,
           const std::vector<arma::uword>& features, RowFile& file) {
  const auto as = [](const arma::mat& m) { return arma::conv_to<arma::Mat<T>>::from(m); };
  const Problem<double>& given = input.problem;
  const croquis::RelativePosition<double>& position = given.position();
  const Problem<T> problem(as(given.Q()), as(given.K()), as(given.V()), {},
                           {arma::conv_to<arma::Col<T>>::from(position.bias), position.causal, position.height});
  // Errors are those of the method on the input it gets: the reference takes the rounded numbers in double.
  const auto back = [](const arma::Mat<T>& m) { return arma::conv_to<arma::mat>::from(m); };
  const Problem<double> exact(
      back(problem.Q()), back(problem.K()), back(problem.V()), {},
      {arma::conv_to<arma::vec>::from(problem.position().bias), position.causal, position.height});
  Sweep<T>(options, input, problem, exact, methods, features).run(file);
}

}  // namespace

Existing RunOptions::existing() const {
  if (resume && overwrite) throw std::invalid_argument("--resume and --overwrite exclude each other");
  return resume ? Existing::resume : overwrite ? Existing::overwrite : Existing::refuse;
}

int run_error(ErrorOptions options) {
  if (options.run.out.empty()) options.run.out = "error.csv";
  const std::vector<MethodChoice> methods = parse_methods(options.methods);
  const std::vector<arma::uword> features = parse_features(options.features);
  if (!options.run.plot.empty()) check_plot_name(options.run.plot);
  croquis::set_threads(options.run.threads);
  prepare_threads(croquis::threads());
  const Input input = load_input(options.input, options.run.seed);
  check(options, input.problem, methods, features);

  const std::string meta = beside(options.run.out, ".meta.json");
  const RunDescription description{options.run.command_line,
                                   options.run.configuration,
                                   {{"command", "error"},
                                    {"input", input.name},
                                    {"numbers of Q, K, V", input.digest},
                                    {"--seed", std::to_string(options.run.seed)},
                                    {"--precision", options.run.precision}},
                                   options.run.seed,
                                   croquis::threads()};
  RowFile file(options.run.out, kColumns, options.run.existing());
  if (!file.found().empty()) require_same_identity(meta, description);
  write_metadata(meta, description);

  std::signal(SIGINT, remember_signal);
  std::signal(SIGTERM, remember_signal);
  if (options.run.precision == "float") {
    sweep<float>(options, input, methods, features, file);
  } else {
    sweep<double>(options, input, methods, features, file);
  }
  if (caught_signal != 0) {
    fmt::print(stderr, "croquis error: stopped; finished rows are in {}, the same command with --resume goes on\n",
               options.run.out);
    return 128 + caught_signal;
  }

  const croquis::CsvTable table = croquis::read_csv(options.run.out);
  const std::vector<ErrorGroup> groups = group_errors(table);
  write_summary(beside(options.run.out, ".summary.csv"), groups);
  if (!options.run.quiet) print_summary(groups, table, options.run.out);
  if (!options.run.plot.empty()) {
    draw_errors(groups, "spectral_rel", options.run.plot);
    if (!options.run.quiet) fmt::print("plot     {}\n", options.run.plot);
  }
  return 0;
}
