#include "commands/error_by_rows.hpp"

#include <fmt/format.h>

#include <chrono>
#include <croquis/core/counted.hpp>
#include <croquis/core/peak_memory.hpp>
#include <croquis/distributed/split_methods.hpp>
#include <croquis/distributed/split_scores.hpp>
#include <croquis/io/digest.hpp>
#include <croquis/measure/error_arguments.hpp>
#include <croquis/measure/method_errors.hpp>
#include <stdexcept>

#include "commands/command.hpp"
#include "files/summary.hpp"
#include "options/lists.hpp"
#include "options/method_files.hpp"

namespace {

using croquis::Communicator;
using croquis::ErrorRow;
using croquis::Key;
using croquis::SampledReference;
using croquis::SplitHead;
using croquis::Target;
using Clock = std::chrono::steady_clock;

void check(const ErrorOptions& o) {
  const auto refuse = [](const char* why) { throw std::invalid_argument(fmt::format("--by-rows: {}", why)); };
  if (o.input.q.empty() || o.input.k.empty() || o.input.v.empty()) refuse("needs --q Q.npy --k K.npy --v V.npy");
  refuse_others(o.input, o.run.given);
  if (!o.input.bias.empty() || o.input.causal || o.input.length) refuse("takes no --bias, --causal or --length");
  if (!o.rows) refuse("needs --rows, the number of exact rows that errors are estimated from");
  if (o.scores || o.row_errors) refuse("takes no --scores and no --row-errors");
  if (o.bounds) refuse("takes no --bounds, which need all of the scores");
  if (!o.save_output.empty()) refuse("takes no --save-output");
  for (const char* option : {"--qkv", "--head", "--head-sample"}) {
    if (o.run.given.contains(option)) refuse(fmt::format("takes no {}", option).c_str());
  }
  if (o.run.precision != "double") refuse("computes in double");
  if (!o.run.shard.empty()) refuse("takes no --shard: all ranks work on one cell together");
  if (o.methods == "all") {
    refuse(fmt::format("needs --methods; there are {}", fmt::join(croquis::split_method_names(), ", ")).c_str());
  }
}

// Of the rows with their places, the same for any division: the sum of a digest of each, modulo 2^64. Ranks add it in
// three parts of 22 bits, which doubles add exactly.
std::string digest_of(const SplitHead& head, Communicator& world) {
  constexpr int part = 22, hexadecimal = 16;
  std::uint64_t total = 0;
  const std::pair<const char*, const arma::mat*> matrices[] = {{"Q", &head.q}, {"K", &head.k}, {"V", &head.v}};
  for (const auto& [name, matrix] : matrices) {
    for (arma::uword i = 0; i < matrix->n_rows; ++i) {
      const std::string digest =
          croquis::Digest().add(fmt::format("{} {} ", name, head.first + i)).add(arma::mat(matrix->row(i))).hex();
      total += std::stoull(digest.substr(0, hexadecimal), nullptr, hexadecimal);
    }
  }
  arma::mat parts(1, 3);
  for (int k = 0; k < 3; ++k)
    parts(static_cast<arma::uword>(k)) = static_cast<double>(total >> (k * part) & ((1ULL << part) - 1));
  world.sum(parts);
  total = 0;
  for (int k = 0; k < 3; ++k) total += static_cast<std::uint64_t>(parts(static_cast<arma::uword>(k))) << (k * part);
  return fmt::format("{}x{}x{} {:016x}", head.n, head.q.n_cols, head.v.n_cols, total);
}

// A signal need not come to all ranks: they stop together.
bool stopped(Communicator& world) {
  arma::mat any(1, 1);
  any(0) = Run::interrupted() ? 1 : 0;
  world.maximum(any);
  return any(0) > 0;
}

class SplitReferences {
 public:
  SplitReferences(const ErrorOptions& options, const SplitHead& head, Communicator& world)
      : options_(options), head_(head), world_(world) {}

  const SampledReference& of(Target target) {
    auto found = made_.find(target);
    if (found == made_.end()) {
      const Key draw_key = croquis::error_keys(options_.run.seed, "arrays").sample;
      const arma::uvec rows = SampledReference::draw_rows(head_.n, static_cast<arma::uword>(*options_.rows), draw_key);
      found = made_.try_emplace(target, head_.n, rows, split_exact_rows(head_, target, rows, world_)).first;
    }
    return found->second;
  }

 private:
  const ErrorOptions& options_;
  const SplitHead& head_;
  Communicator& world_;
  std::map<Target, SampledReference> made_;
};

// Fills the measured members of the row; a breakdown becomes its status.
ErrorRow measured(ErrorRow row, const croquis::SplitMethod& method, const SplitHead& head,
                  const SampledReference& reference, const Key& draw_key, Communicator& world) {
  try {
    const auto start = Clock::now();
    const croquis::SplitApproximation approximation = method(head, row.features, draw_key, world);
    row.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (approximation.denominators) {
      const arma::mat own = arma::join_rows(approximation.denominators->values, approximation.denominators->log_scale);
      const arma::mat sampled = gather_rows(own, head.first, reference.rows(), world);
      row.min_denominator =
          croquis::smallest_denominator<double>({sampled.col(0), sampled.col(1)}, reference.log_row_sums());
    }
    croquis::set_errors(row,
                        reference.compare_rows(gather_rows(approximation.output, head.first, reference.rows(), world)));
  } catch (const croquis::CommunicatorError&) {
    throw;                                       // the others may be waiting for this rank: the job is over
  } catch (const std::runtime_error& failure) {  // a breakdown: on all ranks, or on none
    return croquis::failed(row, failure.what());
  } catch (const std::invalid_argument& refusal) {  // a draw that cannot be made: the options decide, on all ranks
    return croquis::failed(row, refusal.what());
  }
  return croquis::checked(row);
}

void print_ranks(const SplitHead& head, double seconds, Communicator& world) {
  arma::mat all(static_cast<arma::uword>(world.size()), 4, arma::fill::zeros);
  const arma::rowvec own = {static_cast<double>(head.first), static_cast<double>(head.own()), seconds,
                            croquis::peak_bytes()};
  all.row(static_cast<arma::uword>(world.rank())) = own;
  world.sum(all);
  if (world.rank() != 0) return;
  fmt::print("\nrank           rows    seconds   peak memory\n");
  for (arma::uword r = 0; r < all.n_rows; ++r) {
    fmt::print("{:<4} {:>14.0f} {:>10.1f} {:>10.0f} MB\n", r, all(r, 1), all(r, 2), all(r, 3) / 1e6);
  }
}

}  // namespace

int run_error_by_rows(const ErrorOptions& options) {
  check(options);
  const auto start = Clock::now();
  const std::vector<croquis::MethodChoice> methods = croquis::parse_methods(options.methods);
  parse_sizes(options.features, "--features");  // what is wrong with it is said before the files are read
  std::vector<croquis::SplitMethod> divided;
  divided.reserve(methods.size());
  for (const croquis::MethodChoice& choice : methods) {
    divided.push_back(croquis::split_method(choice.name, choice.options));
  }
  prepare_run(options.run);
  Communicator& world = Communicator::world();
  const SplitHead head = croquis::read_split_head(options.input.q, options.input.k, options.input.v, world);
  const std::vector<arma::uword> features =
      parse_sizes(options.features, "--features", croquis::largest_features(methods, {{head.n, head.n}}));
  if (features.back() > head.n) {
    throw std::invalid_argument(fmt::format("--features: {} is more than the n = {}; give at most n", features.back(),
                                            croquis::counted(head.n, "token")));
  }
  croquis::require_sampled_rows(static_cast<arma::uword>(*options.rows), head.n);
  require_room_for_rows(static_cast<double>(methods.size() * features.size()) * static_cast<double>(options.trials),
                        "--trials", options.trials);
  const std::string name = name_of_arrays(options.input.q);
  std::map<std::string, std::string> identity = identity_of_files(methods);
  identity["input"] = name;
  identity["--rows"] = std::to_string(*options.rows);
  identity["numbers of Q, K, V by rows"] = digest_of(head, world);
  Run run(options.run, "error", croquis::error_columns().list(options.columns()), identity, summary_files());

  struct Cell {
    std::size_t method;
    arma::uword d;
    std::uint64_t trial;
  };
  std::vector<Cell> cells;
  std::vector<Run::Cell> plan;
  const auto key_of = [&](const Cell& cell) {
    const croquis::MethodChoice& choice = methods[cell.method];
    return Run::key({name, choice.name, choice.preset, std::uint64_t{cell.d}, cell.trial});
  };
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const bool random = croquis::find_method<double>(methods[m].name).random(methods[m].options);
    const auto trials = static_cast<std::uint64_t>(random ? options.trials : 1);
    for (const arma::uword d : features) {
      for (std::uint64_t trial = 1; trial <= trials; ++trial) {
        cells.push_back({m, d, trial});
        plan.push_back({key_of(cells.back())});
      }
    }
  }
  run.plan(plan);
  SplitReferences references(options, head, world);
  for (const Cell& cell : cells) {
    if (!run.wants(key_of(cell))) continue;
    if (stopped(world)) break;
    const croquis::MethodChoice& choice = methods[cell.method];
    const Target target = croquis::find_method<double>(choice.name).target;
    const SampledReference& reference = references.of(target);
    ErrorRow row;
    row.input = name;
    row.method = choice.name;
    row.preset = choice.preset;
    row.target = name_of(target);
    row.n = row.n_q = head.n;
    row.p = head.q.n_cols;
    row.p_v = head.v.n_cols;
    row.features = cell.d;
    row.trial = cell.trial;
    row.seed = options.run.seed;
    row.rows = static_cast<std::uint64_t>(*options.rows);
    run.compute_together(choice.name, [&] {
      const Key draw = croquis::error_keys(options.run.seed, "arrays").draw(choice.name, cell.d, cell.trial);
      return croquis::error_columns().record(measured(row, divided[cell.method], head, reference, draw, world),
                                             options.columns());
    });
  }
  if (!options.run.quiet) print_ranks(head, std::chrono::duration<double>(Clock::now() - start).count(), world);
  return conclude(run);
}
