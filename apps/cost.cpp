#include "cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/stats/regression.hpp>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

#include "bias.hpp"
#include "lists.hpp"
#include "plot.hpp"
#include "results/groups.hpp"
#include "results/memory.hpp"

namespace {

using croquis::csv_field;
using croquis::csv_number;
using croquis::Key;
using croquis::Problem;
using croquis::Target;
using Clock = std::chrono::steady_clock;

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
const Run::Fields kColumns = {"input", "method",    "preset",  "n",       "p",          "p_v",   "features", "repeat",
                              "seed",  "precision", "threads", "seconds", "peak_bytes", "flops", "status"};

// One thing to be timed: a method at n and d, or exact attention (d = 0).
template <typename T>
struct Work {
  std::function<void()> prepare, call;  // prepare is timed too: it is part of what a single problem costs
  double flops = kUndefined;
};

template <typename T>
Work<T> work_of(const MethodChoice& choice, const Problem<T>& problem, arma::uword d, const Key& draw_key) {
  const auto bound = std::make_shared<croquis::BoundMethod<T>>();
  const croquis::Method<T>& method = croquis::find_method<T>(choice.name);
  *bound = croquis::bind(method, problem, choice.options);
  const double flops = bound->flops(static_cast<double>(d));
  return {[bound, &method, &choice, &problem] { *bound = croquis::bind(method, problem, choice.options); },
          [bound, d, draw_key] { bound->approximate(d, draw_key); }, flops};
}

template <typename T>
Work<T> exact_work(const Problem<T>& problem, Target target) {
  const auto n = static_cast<double>(problem.n());
  const auto width = static_cast<double>(problem.p() + problem.p_v());
  return {[] {}, [&problem, target] { croquis::exact_attention(problem, target); }, 2 * n * n * width + n * n};
}

// A method of the list, or an exact target.
struct Candidate {
  MethodChoice choice;
  bool exact = false;
  Target target = Target::softmax;
};

// Softmax first, then the other targets that the methods have and that cost something else: kernelized, and those with
// a position where there is one. Unit rows change nothing.
std::vector<Candidate> candidates_of(const std::string& text, bool with_position) {
  std::vector<Candidate> candidates = {{{"exact", {}, "paper"}, true, Target::softmax}};
  if (text == "exact") return candidates;
  std::vector<MethodChoice> methods = parse_methods(text);
  if (text == "all") std::erase_if(methods, [](const MethodChoice& m) { return m.name == "best-rank-d"; });
  for (const Target target : {Target::kernelized, Target::softmax_rpe, Target::normalized_rpe}) {
    if (croquis::has_position(target) && !with_position) continue;
    const bool wanted = std::any_of(methods.begin(), methods.end(), [target](const MethodChoice& m) {
      return croquis::find_method<double>(m.name).target == target;
    });
    if (wanted) candidates.push_back({{fmt::format("exact-{}", name_of(target)), {}, "paper"}, true, target});
  }
  for (const MethodChoice& m : methods) candidates.push_back({m, false, Target::softmax});
  return candidates;
}

struct Times {
  std::vector<double> seconds;
  double peak = kUndefined, flops = kUndefined;
  std::string status = "ok";
};

template <typename T>
Times measure(const Candidate& candidate, const Problem<T>& problem, arma::uword d, const CostOptions& options) {
  Times times;
  try {
    const Key draw_key = Key(options.run.seed).child("cost");
    const Work<T> work =
        candidate.exact ? exact_work(problem, candidate.target) : work_of(candidate.choice, problem, d, draw_key);
    times.flops = work.flops;
    times.peak = peak_bytes_of([&] {
      work.prepare();
      work.call();
    });
    for (long long i = 0; i < options.warmup; ++i) work.call();
    for (long long i = 0; i < options.repeats; ++i) {
      const auto start = Clock::now();
      work.prepare();
      work.call();
      times.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
  } catch (const std::exception& failure) {
    times.status = failure.what();
  }
  times.seconds.resize(static_cast<std::size_t>(options.repeats), kUndefined);
  return times;
}

// A candidate at n and d: a row for every repeat.
struct Cell {
  const Candidate* candidate;
  arma::uword n, d;
};

std::vector<Cell> cells_of(const std::vector<Candidate>& candidates, const std::vector<arma::uword>& sizes,
                           const std::vector<arma::uword>& features, const std::optional<long long>& exact_to) {
  std::vector<Cell> cells;
  for (const arma::uword n : sizes) {
    for (const Candidate& candidate : candidates) {
      if (candidate.exact && exact_to && n > static_cast<arma::uword>(*exact_to)) continue;
      for (const arma::uword d : candidate.exact ? std::vector<arma::uword>{0} : features) {
        cells.push_back({&candidate, n, d});
      }
    }
  }
  return cells;
}

Run::Fields key_of(const Cell& cell) {
  const MethodChoice& choice = cell.candidate->choice;
  return {choice.name, csv_field(choice.preset), std::to_string(cell.n), std::to_string(cell.d)};
}

Run::Fields key_of(const Cell& cell, long long repeat) {
  Run::Fields key = key_of(cell);
  key.push_back(std::to_string(repeat));
  return key;
}

template <typename T>
std::vector<Run::Fields> rows_of(const Cell& cell, const Problem<T>& problem, const CostOptions& options,
                                 const Run& run) {
  const Times times = measure(*cell.candidate, problem, cell.d, options);
  const Run::Fields key = key_of(cell);
  std::vector<Run::Fields> rows;
  for (long long repeat = 1; repeat <= options.repeats; ++repeat) {
    if (run.has(key_of(cell, repeat))) continue;  // of a cell that was interrupted
    rows.push_back({csv_field("gaussian" + name_of_bias(options.bias, options.causal)), key[0], key[1], key[2],
                    std::to_string(problem.p()), std::to_string(problem.p_v()), key[3], std::to_string(repeat),
                    std::to_string(options.run.seed), options.run.precision, std::to_string(croquis::threads()),
                    csv_number(times.seconds[static_cast<std::size_t>(repeat - 1)]), csv_number(times.peak),
                    csv_number(times.flops), csv_field(times.status)});
  }
  return rows;
}

template <typename T>
Problem<T> problem_of(const CostOptions& options, arma::uword n) {
  croquis::SyntheticSize gaussian;
  gaussian.n = n;
  gaussian.p = static_cast<arma::uword>(options.p);
  // Norms at which attention is neither uniform nor a maximum; no method's cost depends on them.
  const Key draw_key = Key(options.run.seed).child("input");
  const Problem<double> drawn = gaussian_input(draw_key, gaussian);
  const auto position = parse_bias(options.bias, options.causal, n, draw_key.child("bias"));
  const auto as = [](const arma::mat& m) { return arma::conv_to<arma::Mat<T>>::from(m); };
  return {as(drawn.Q()),
          as(drawn.K()),
          as(drawn.V()),
          {},
          {arma::conv_to<arma::Col<T>>::from(position.bias), position.causal, position.height}};
}

template <typename T>
void measure_all(Run& run, const CostOptions& options, const std::vector<Cell>& wanted) {
  std::optional<Problem<T>> problem;
  for (const Cell& cell : wanted) {
    if (Run::interrupted()) return;
    if (run.skip(1)) continue;
    if (!problem || problem->n() != cell.n) problem.emplace(problem_of<T>(options, cell.n));
    // Timed alone, on all threads.
    run.compute_steps(1, fmt::format("{} n = {}", cell.candidate->choice.name, cell.n),
                      [&](std::size_t) { return rows_of(cell, *problem, options, run); });
  }
}

// The exponent of the median time in n, by least squares over the sizes, for every curve with three sizes or more.
void print_growth(const std::vector<Group>& groups) {
  std::vector<std::string> labels;
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> curves;
  for (const Group& g : groups) {
    if (g.metric("seconds") == nullptr) continue;
    auto [slot, added] = curves.try_emplace(g.label);
    if (added) labels.push_back(g.label);
    slot->second.first.push_back(static_cast<double>(g.x));
    slot->second.second.push_back(g.metric("seconds")->q50);
  }
  fmt::print("\ngrowth: exponent of time in n (95 % interval)\n\n");
  constexpr std::size_t least_sizes = 3;
  constexpr double alpha = 0.05;
  for (const std::string& label : labels) {
    const auto& [n, seconds] = curves[label];
    if (n.size() < least_sizes) continue;
    const croquis::LineFit fit = croquis::fit_power_law(n, seconds);
    const croquis::Interval interval = fit.slope_interval(alpha);
    fmt::print("{:<32} {:.3f} ({:.3f}, {:.3f})\n", label, fit.slope, interval.lo, interval.hi);
  }
}

}  // namespace

int run_cost(CostOptions options) {
#ifndef NDEBUG
  throw std::invalid_argument(
      "cost: this is a build without optimisation, its times mean nothing; build the release preset");
#endif
  if (options.run.out.empty()) options.run.out = "cost.csv";
  if (options.repeats < 1) throw std::invalid_argument(fmt::format("--repeats: {} is not positive", options.repeats));
  if (options.warmup < 0) throw std::invalid_argument(fmt::format("--warmup: {} is negative", options.warmup));
  if (options.p < 1) throw std::invalid_argument(fmt::format("--p: {} is not a positive number", options.p));
  const bool with_position = options.causal || !options.bias.empty();
  const std::vector<Candidate> candidates = candidates_of(options.methods, with_position);
  const std::vector<arma::uword> sizes = parse_sizes(options.n, "--n");
  const std::vector<arma::uword> features = parse_sizes(options.features, "--features");
  for (const arma::uword n : sizes) {  // a bias that does not fit is refused before there is a file
    croquis::require_valid(parse_bias(options.bias, options.causal, n, Key(options.run.seed)), n);
  }
  const auto largest = static_cast<double>(sizes.back()), width = static_cast<double>(options.p);
  croquis::require_memory(6 * sizeof(double) * largest * width, "cost: Q, K, V and a copy",
                          {{"n", sizes.back()}, {"p", options.p}});
  if (options.methods != "exact") {
    const double number = options.run.precision == "float" ? sizeof(float) : sizeof(double);
    croquis::require_memory(number * largest * static_cast<double>(features.back()),
                            "--features: the n x d numbers of a method", {{"n", sizes.back()}, {"d", features.back()}});
  }
  prepare_run(options.run);
  require_room_for_rows(static_cast<double>((candidates.size() * features.size() + 1) * sizes.size()) *
                            static_cast<double>(options.repeats),
                        "--repeats", options.repeats);
  Run run(options.run, "cost", kColumns, {{"method", "preset", "n", "features"}, {"repeat"}},
          {{"--p", std::to_string(options.p)},
           {"--bias", options.bias + (options.causal ? ";causal" : "")},
           {"--threads", std::to_string(croquis::threads())}});
  std::vector<Cell> cells = cells_of(candidates, sizes, features, options.exact_to);
  if (cells.empty()) {
    throw std::invalid_argument(
        fmt::format("--exact-to: {} is below every n, and there are no methods", *options.exact_to));
  }
  std::vector<Run::Cell> plan;
  for (const Cell& cell : cells) {
    plan.emplace_back();
    for (long long repeat = 1; repeat <= options.repeats; ++repeat) plan.back().push_back(key_of(cell, repeat));
  }
  run.plan(plan);
  std::erase_if(cells, [&](const Cell& cell) { return !run.wants(key_of(cell)); });
  if (options.run.precision == "float") {
    measure_all<float>(run, options, cells);
  } else {
    measure_all<double>(run, options, cells);
  }
  if (const auto status = run.finish()) return *status;

  const croquis::CsvTable table = croquis::read_csv(options.run.out);
  const Grouping& grouping = grouping_of(table);
  const std::vector<Group> groups = group_rows(table, grouping);
  write_summary(beside(options.run.out, ".summary.csv"), groups, grouping);
  if (!options.run.plot.empty()) draw_groups(groups, grouping, "seconds", options.run.plot);
  if (!options.run.quiet) {
    const std::string x = grouping.x == "n" ? "n" : "d";
    print_groups(fmt::format("seconds a call, median of {} (10 % to 90 %); p = {}, {}, {} threads", options.repeats,
                             options.p, options.run.precision, croquis::threads()),
                 groups, "seconds", x, Statistic::median);
    print_groups("peak memory of a call in bytes, measured", groups, "peak_bytes", x, Statistic::median);
    if (grouping.x == "n") print_growth(groups);
    print_files(table, options.run.out, options.run.plot);
  }
  return 0;
}
