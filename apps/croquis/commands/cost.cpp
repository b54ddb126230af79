// croquis cost: time, peak memory and flops against n and d.
#include <fmt/format.h>

#include <croquis/attention/problem_precision.hpp>
#include <croquis/core/counted.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/measure/cost.hpp>
#include <croquis/measure/error_arguments.hpp>
#include <memory>
#include <optional>
#include <stdexcept>

#include "commands/command.hpp"
#include "files/group_table.hpp"
#include "files/run.hpp"
#include "files/summary.hpp"
#include "files/text_table.hpp"
#include "options/bias.hpp"
#include "options/common_options.hpp"
#include "options/lists.hpp"
#include "options/said_of.hpp"
#include "pictures/curves.hpp"
#include "report/groups_section.hpp"

namespace {

using croquis::CostCandidate;
using croquis::CostRow;
using croquis::Key;
using croquis::Problem;

struct CostOptions {
  RunOptions run;
  std::string methods = "all", n = "1024:8192", features = "64", bias;
  bool causal = false;
  arma::uword p = 64;
  croquis::CostSettings calls;
  std::optional<arma::uword> exact_to;  // the largest n at which exact attention is timed; all of them without it
};

// A candidate at n and d: a row for every repeat.
struct CostCell {
  const CostCandidate* candidate;
  arma::uword n, d;

  Run::Fields key() const {
    const croquis::MethodChoice& choice = candidate->choice;
    return Run::key({choice.name, choice.preset, std::uint64_t{n}, std::uint64_t{d}});
  }
  Run::Fields key(std::uint64_t repeat) const {
    Run::Fields row = key();
    row.push_back(std::to_string(repeat));
    return row;
  }
};

std::vector<CostCell> cells_of(const std::vector<CostCandidate>& candidates, const std::vector<arma::uword>& sizes,
                               const std::vector<arma::uword>& features, const std::optional<arma::uword>& exact_to) {
  std::vector<CostCell> cells;
  for (const arma::uword n : sizes) {
    for (const CostCandidate& candidate : candidates) {
      if (candidate.exact && exact_to && n > *exact_to) continue;
      for (const arma::uword d : candidate.exact ? std::vector<arma::uword>{0} : features) {
        cells.push_back({&candidate, n, d});
      }
    }
  }
  return cells;
}

void check(const CostOptions& options, const std::vector<CostCandidate>& candidates,
           const std::vector<arma::uword>& sizes, const std::vector<arma::uword>& features) {
  for (const arma::uword n : sizes) {  // a bias that does not fit is refused before there is a file
    const auto position = parse_bias(options.bias, options.causal, n, Key(options.run.seed));
    if (!options.bias.empty()) said_of("--bias " + options.bias, [&] { croquis::require_valid(position, n); });
  }
  const auto largest = static_cast<double>(sizes.back()), width = static_cast<double>(options.p);
  croquis::require_memory(6 * sizeof(double) * largest * width, "cost: Q, K, V and a copy",
                          {{"n", sizes.back()}, {"p", options.p}});
  if (options.methods == "exact") return;
  // A smaller n may have failed rows at a d that is beyond it.
  croquis::require_features(features, methods_among(candidates), {sizes.back(), sizes.back()},
                            options.run.precision == "float" ? sizeof(float) : sizeof(double));
}

// Norms at which attention is neither uniform nor a maximum. Flops do not depend on them, but the time of methods that
// choose by the head does (docs/choose.md).
template <typename T>
Problem<T> problem_of(const CostOptions& options, arma::uword n) {
  croquis::SyntheticSize gaussian;
  gaussian.n = n;
  gaussian.p = options.p;
  const Key key = Key(options.run.seed).child("input");
  const Problem<double> drawn = gaussian_input(key, gaussian);
  return croquis::in_precision<T>(Problem<double>(drawn.Q(), drawn.K(), drawn.V(), {},
                                                  parse_bias(options.bias, options.causal, n, key.child("bias"))));
}

template <typename T>
std::vector<croquis::Record> records_of(const CostCell& cell, const Problem<T>& problem, const CostOptions& options,
                                        const Run& run) {
  const Key key = Key(options.run.seed).child("cost");
  std::vector<croquis::Record> records;
  for (CostRow& row : croquis::call_costs(problem, *cell.candidate, cell.d, key, options.calls)) {
    if (run.has(cell.key(row.repeat))) continue;  // of a cell that was interrupted
    row.input = "gaussian" + name_of_bias(options.bias, options.causal);
    row.seed = options.run.seed;
    records.push_back(croquis::cost_columns().record(row));
  }
  return records;
}

template <typename T>
void measure_all(Run& run, const CostOptions& options, const std::vector<CostCell>& wanted) {
  std::optional<Problem<T>> problem;
  for (const CostCell& cell : wanted) {
    if (Run::interrupted()) return;
    if (run.skip(1)) continue;
    if (!problem || problem->n() != cell.n) problem.emplace(problem_of<T>(options, cell.n));
    // Timed alone, on all threads.
    run.compute_steps(1, fmt::format("{} n = {}", cell.candidate->choice.name, cell.n),
                      [&](std::size_t) { return records_of(cell, *problem, options, run); });
  }
}

void print_growth(const croquis::Grouping& grouping) {
  const std::vector<croquis::Growth> growths = croquis::growth_of_time(grouping);
  if (growths.empty()) return;
  fmt::print("\ngrowth: exponent of time in n (95 % interval)\n\n");
  constexpr double alpha = 0.05;
  TextTable table({{TextColumn::Side::left, 31}, {}});
  for (const croquis::Growth& growth : growths) {
    const croquis::Interval interval = growth.fit.slope_interval(alpha);
    table.add({growth.label, fmt::format("{:.3f} ({:.3f}, {:.3f})", growth.fit.slope, interval.lo, interval.hi)});
  }
  fmt::print("{}", table.text());
}

void print_costs(const croquis::Table& table) {
  const croquis::Grouping grouping = croquis::group_rows(table);
  const croquis::CostRow first = croquis::cost_columns().rows({table.columns, {table.rows.front()}}).front();
  print_groups(fmt::format("seconds a call, median of {} (10 % to 90 %); p = {}, {}, {}{}", grouping.draws, first.p,
                           first.precision, croquis::counted(first.threads, "thread"),
                           first.input.ends_with(";causal") ? ", causal attention" : ""),
               grouping, "seconds", Statistic::median);
  print_groups("peak memory of a call in bytes, measured", grouping, "peak_bytes", Statistic::median);
  if (grouping.axis.name == "n") print_growth(grouping);
}

int run_cost(const CostOptions& options) {
#ifndef NDEBUG
  throw std::invalid_argument(
      "cost: this is a build without optimisation, its times mean nothing; build the release preset");
#endif
  const std::vector<CostCandidate> candidates =
      croquis::cost_candidates(options.methods, {1, 1}, {.causal = options.causal, .bias = !options.bias.empty()});
  const std::vector<arma::uword> sizes = parse_sizes(options.n, "--n");
  const std::vector<arma::uword> features = parse_sizes(options.features, "--features");
  check(options, candidates, sizes, features);
  prepare_run(options.run);
  require_room_for_rows(static_cast<double>((candidates.size() * features.size() + 1) * sizes.size()) *
                            static_cast<double>(options.calls.repeats),
                        "--repeats", static_cast<long long>(options.calls.repeats));
  const std::map<std::string, std::string> identity = {{"--p", std::to_string(options.p)},
                                                       {"--bias", options.bias + (options.causal ? ";causal" : "")},
                                                       {"--threads", std::to_string(croquis::threads())},
                                                       {"--warmup", std::to_string(options.calls.warmup)}};
  Run run(options.run, "cost", croquis::cost_columns().list(), identity, summary_files());
  std::vector<CostCell> cells = cells_of(candidates, sizes, features, options.exact_to);
  if (cells.empty()) {
    throw std::invalid_argument(
        fmt::format("--exact-to: {} is below every n, and there are no methods", *options.exact_to));
  }
  std::vector<Run::Cell> plan;
  for (const CostCell& cell : cells) {
    plan.emplace_back();
    for (std::uint64_t repeat = 1; repeat <= options.calls.repeats; ++repeat) plan.back().push_back(cell.key(repeat));
  }
  run.plan(plan);
  std::erase_if(cells, [&](const CostCell& cell) { return !run.wants(cell.key()); });
  if (options.run.precision == "float") {
    measure_all<float>(run, options, cells);
  } else {
    measure_all<double>(run, options, cells);
  }
  return conclude(run);
}

void add_options(CLI::App& app, CostOptions& options) {
  add_run_options(app, options.run);
  add_precision_option(app, options.run);
  app.add_option("--methods", options.methods,
                 "a,b:option=value,c, all (but best-rank-d), or exact alone; exact attention is timed with them")
      ->capture_default_str();
  app.add_option("--n", options.n, "tokens: 1024,4096 or 1024:8192 (doubling)")->capture_default_str();
  app.add_option("--features", options.features, "16,32,64 or 16:256 (doubling)")->capture_default_str();
  app.add_option("--p", options.p, "width of the head")->check(whole_number(1))->capture_default_str();
  add_bias_options(app, options.bias, options.causal);
  app.add_option("--repeats", options.calls.repeats, "timed calls for each method, n and d")
      ->check(whole_number(1, kMaximumTrials))
      ->capture_default_str();
  app.add_option("--exact-to", options.exact_to, "exact attention for n up to this one (default: all)")
      ->check(whole_number(0));
  app.add_option("--warmup", options.calls.warmup, "untimed calls before the timed ones")
      ->check(whole_number(0, kMaximumTrials))
      ->capture_default_str();
}

}  // namespace

Command cost_command() {
  const auto options = std::make_shared<CostOptions>();
  return {.name = "cost",
          .summary = "time, peak memory and flops against n and d",
          .example =
              "croquis cost --methods skyformer,performer --n 1024:8192 --features 64 --out cost.csv --plot cost.svg",
          .add_options = [options](CLI::App& app) { add_options(app, *options); },
          .run = measuring(options, run_cost),
          .results = {
              .columns = croquis::cost_columns().all(),
              .write_summary = write_grouped_summary,
              .draw = drawing("seconds"),
              .picture = "seconds, peak_bytes or flops against n (or d, where there is one n), a line for each method",
              .print = print_costs,
              .report = section_of_costs,
              .said_of_all = {"p", "precision", "threads"}}};
}
