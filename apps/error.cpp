#include "error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <croquis/core/memory.hpp>
#include <limits>
#include <optional>

#include "error_by_rows.hpp"
#include "error_row.hpp"
#include "lists.hpp"
#include "measured.hpp"
#include "plot.hpp"
#include "results/groups.hpp"

namespace {

using croquis::csv_field;
using croquis::Key;
using croquis::Problem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One row to be computed.
struct Cell {
  arma::uword features;
  long long trial;
};

std::vector<Cell> cells_of(const ErrorOptions& options, const MethodChoice& choice,
                           const std::vector<arma::uword>& features) {
  const bool random = croquis::find_method<double>(choice.name).random(choice.options);
  std::vector<Cell> cells;
  for (const arma::uword d : features) {
    for (long long trial = 1; trial <= (random ? options.trials : 1); ++trial) cells.push_back({d, trial});
  }
  return cells;
}

Run::Fields key_of(const Input& input, const MethodChoice& choice, const Cell& cell) {
  return {csv_field(input.name), choice.name, csv_field(choice.preset), std::to_string(cell.features),
          std::to_string(cell.trial)};
}

std::vector<Run::Cell> plan_of(const ErrorOptions& options, const std::vector<Input>& inputs,
                               const std::vector<MethodChoice>& methods, const std::vector<arma::uword>& features) {
  std::vector<Run::Cell> plan;
  for (const Input& input : inputs) {
    for (const MethodChoice& choice : methods) {
      for (const Cell& cell : cells_of(options, choice, features)) plan.push_back({key_of(input, choice, cell)});
    }
  }
  return plan;
}

template <typename T>
class Sweep {
 public:
  Sweep(const ErrorOptions& options, const Input& input, const Problem<T>& problem, const Problem<double>& exact)
      : options_(options), input_(input), problem_(problem), references_(exact, options) {}

  void compute(Run& run, const std::vector<MethodChoice>& methods, const std::vector<arma::uword>& features) {
    for (const MethodChoice& choice : methods) {
      std::vector<Cell> wanted = cells_of(options_, choice, features);
      std::erase_if(wanted, [&](const Cell& cell) { return !run.wants(key_of(input_, choice, cell)); });
      if (Run::interrupted()) return;
      if (!run.skip(wanted.size())) compute_method(run, choice, wanted);
    }
  }

 private:
  void compute_method(Run& run, const MethodChoice& choice, const std::vector<Cell>& cells) {
    const croquis::Method<T>& method = croquis::find_method<T>(choice.name);
    croquis::BoundMethod<T> bound;
    std::string failure;
    const Reference* reference = nullptr;
    const auto start = Clock::now();
    try {
      if (options_.rows && method.quadratic) {
        throw std::runtime_error("takes O(n^2) work, which --rows is to avoid");
      }
      bound = croquis::bind(method, problem_, choice.options);
    } catch (const std::exception& reason) {
      failure = reason.what();
    }
    const double preparation = seconds_since(start);  // shared by the rows, and part of the cost of each
    try {
      reference = &references_.of(method.target);
    } catch (const std::exception& reason) {
      failure = reason.what();
    }
    const Key draw_key = Key(options_.run.seed).child("error").child(options_.input.kind).child(method.name);
    run.compute(cells.size(), choice.name, [&](std::size_t i) {
      const Cell& cell = cells[i];
      Measured measured;
      double flops = Measured::kUndefined;
      if (failure.empty()) {
        const Key draw = draw_key.child(cell.features).child(static_cast<std::uint64_t>(cell.trial));
        measured = measure(bound, method.target, *reference, cell.features, draw);
        measured.seconds += preparation;
        flops = bound.flops(static_cast<double>(cell.features));
      } else {
        measured.status = failure;
      }
      return error_row(options_, {input_.name, &choice, method.target, problem_.n(), problem_.p(), problem_.p_v()},
                       cell.features, cell.trial, measured, flops);
    });
  }

  const ErrorOptions& options_;
  const Input& input_;
  Problem<T> problem_;
  References references_;
};

void check(const ErrorOptions& options, const Problem<double>& problem, const std::vector<MethodChoice>& methods,
           const std::vector<arma::uword>& features) {
  if (options.trials < 1) throw std::invalid_argument(fmt::format("--trials: {} is not positive", options.trials));
  if (features.back() > problem.n()) {
    throw std::invalid_argument(
        fmt::format("--features: {} is more than the n = {} tokens; give at most n", features.back(), problem.n()));
  }
  const auto n = static_cast<double>(problem.n()), d = static_cast<double>(features.back());
  croquis::require_memory(n * d * (options.run.precision == "float" ? 4 : 8),
                          "--features: the n x d numbers of a method", {{"n", problem.n()}, {"d", features.back()}});
  const auto least = static_cast<long long>(croquis::SampledReference::kGroups);
  if (options.rows && (*options.rows < least || *options.rows > static_cast<long long>(problem.n()))) {
    throw std::invalid_argument(fmt::format("--rows: {} is none of {} to n = {}", *options.rows, least, problem.n()));
  }
  if (options.run.precision == "float") {
    const croquis::LongestRow longest = croquis::longest_row(problem.Q(), problem.K(), problem.V());
    const double most = 0.99 * croquis::largest_row_norm<float>(problem.n());  // rounding to float may add to a norm
    if (longest.norm > most) {
      throw std::invalid_argument(
          fmt::format("--precision float: row {} of {} has norm {:.3g}, and squares of more than {:.3g} overflow in "
                      "float; give --precision double",
                      longest.row, longest.matrix, longest.norm, most));
    }
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
           const std::vector<arma::uword>& features, Run& run) {
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
  Sweep<T>(options, input, problem, exact).compute(run, methods, features);
}

}  // namespace

int run_error(ErrorOptions options) {
  if (options.run.out.empty()) options.run.out = "error.csv";
  if (options.by_rows) return run_error_by_rows(options);
  const std::vector<MethodChoice> methods = parse_methods(options.methods);
  const std::vector<arma::uword> features = parse_sizes(options.features, "--features");
  prepare_run(options.run);
  const std::vector<Input> inputs = load_inputs(options.input, options.run.seed);
  for (const Input& input : inputs) check(options, input.problem, methods, features);

  require_room_for_rows(
      static_cast<double>(inputs.size() * methods.size() * features.size()) * static_cast<double>(options.trials),
      "--trials", options.trials);
  Run run(options.run, "error", error_columns(options), kErrorKeys, identity_of(inputs));
  run.plan(plan_of(options, inputs, methods, features));
  for (const Input& input : inputs) {
    if (options.run.precision == "float") {
      sweep<float>(options, input, methods, features, run);
    } else {
      sweep<double>(options, input, methods, features, run);
    }
  }
  if (const auto status = run.finish()) return *status;

  const croquis::CsvTable table = croquis::read_csv(options.run.out);
  const Grouping& grouping = grouping_of(table);
  write_summary(beside(options.run.out, ".summary.csv"), group_rows(table, grouping), grouping);
  // The table and the plot of several heads are about all of them together.
  const std::vector<Group> groups = group_rows(table, inputs.size() > 1 ? over_inputs(grouping) : grouping);
  if (!options.run.plot.empty()) draw_groups(groups, grouping, "spectral_rel", options.run.plot);
  if (!options.run.quiet) {
    print_groups(fmt::format("relative spectral error of the output, mean (standard error); {}, n = {}, p = {}",
                             inputs.size() > 1 ? fmt::format("{} heads", inputs.size()) : inputs.front().name,
                             inputs.front().problem.n(), inputs.front().problem.p()),
                 groups, "spectral_rel");
    if (options.scores) print_groups("relative spectral error of the scores", groups, "scores_spectral_rel");
    print_files(table, options.run.out, options.run.plot);
  }
  return 0;
}
