// croquis verify: the claims ledger.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <croquis/claims/claim_rows.hpp>
#include <croquis/claims/ledger.hpp>
#include <croquis/claims/selection.hpp>
#include <croquis/claims/thresholds.hpp>
#include <croquis/distributed/communicator.hpp>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "commands/command.hpp"
#include "commands/verify/curves.hpp"
#include "commands/verify/ledger.hpp"
#include "commands/verify/section.hpp"
#include "files/run.hpp"
#include "options/common_options.hpp"
#include "options/input.hpp"

using namespace croquis::claims;

namespace {

using croquis::verdict_name;

/// Exit status: a claim came out other than the file of --expect says.
constexpr int kUnexpectedVerdict = 1;

struct VerifyOptions {
  RunOptions run;
  InputOptions input;
  bool own_input = false;      ///< check on `input`, not on the default inputs
  std::string claims = "all";  ///< all, or ids and globs between commas
  double confidence = 1 - 1e-6;
  std::optional<long long> trials;
  bool quick = false, thorough = false, mutants = false, markdown = false;
  std::string explain;  ///< id of the claim to explain
  std::string expect;   ///< file of expected verdicts
};

// A claim to decide, honestly or with a deliberate mistake.
struct Task {
  const Claim* claim;
  std::string mutant;
  std::string id() const { return mutant.empty() ? claim->id : claim->id + "!" + mutant; }
};

std::vector<Task> tasks_of(const VerifyOptions& options) {
  std::vector<Task> tasks;
  for (const Claim* claim : claims_named(options.claims)) {
    if (!options.mutants) tasks.push_back({claim, ""});
    if (!options.mutants) continue;
    for (const Mutant& mutant : claim->mutants) tasks.push_back({claim, mutant.name});
    for (const Rung& rung : claim->ladder) tasks.push_back({claim, rung.name});
  }
  return tasks;
}

std::string range_of(const croquis::Interval& interval) {
  return std::isnan(interval.lo) ? "" : fmt::format(" [{:.4g}, {:.4g}]", interval.lo, interval.hi);
}

void print_field(const char* name, const std::string& text) {
  if (!text.empty()) fmt::print("{:<12} {}\n", name, text);
}

void print_finding(const Finding& f, std::size_t width) {
  fmt::print("{:<{}}  {:<14}", f.input, width, verdict_name(f.verdict));
  if (f.trials && f.failures) fmt::print("  {} of {} fail", *f.failures, *f.trials);
  if (!std::isnan(f.estimate)) fmt::print("  {:.4g}{}", f.estimate, range_of(f.interval));
  if (!std::isnan(f.bound)) fmt::print("  observed {:.4g}, bound {:.4g}", f.observed, f.bound);
  if (!std::isnan(f.power)) fmt::print("  power {:.3g}", f.power);
  if (!std::isnan(f.tightness.lo)) fmt::print("  tightness{}", range_of(f.tightness));
  if (!f.trivial.empty()) fmt::print("  trivially {}", f.trivial);
  if (!f.threshold.empty()) fmt::print("  threshold {}", f.threshold);
  fmt::print("{}{}\n", f.hypotheses.empty() ? "" : "  ", f.hypotheses);
}

void explain(const Claim& claim, const Ledger& ledger) {
  fmt::print("{}: {}\n\n", claim.id, claim.source);
  print_field("statement", claim.statement);
  print_field("reading", claim.reading);
  print_field("hypotheses", claim.hypotheses);
  print_field("conceded", claim.conceded);
  print_field("proof", claim.proof.empty() ? "none: what is not refuted HOLDS on what was tried" : claim.proof);
  print_field("checked by", claim.method);
  for (const Mutant& mutant : claim.mutants) print_field("mutant", mutant.name + ": " + mutant.mistake);
  for (const Rung& rung : claim.ladder) {
    print_field("ladder", fmt::format("{}: {}; {}: {}", rung.name, rung.change,
                                      rung.survives ? "survives" : "refuted by", rung.fate));
  }
  const LedgerEntry entry = ledger.decide(claim);
  fmt::print("{:<12} {}: {}\n\n", "found", verdict_name(entry.whole.verdict), entry.whole.hypotheses);
  std::size_t width = 5;
  for (const Finding& f : entry.findings) width = std::max(width, f.input.size());
  for (const Finding& f : entry.findings) print_finding(f, width);
}

// In the identity of a run on several heads their names, a line each; "input" is then how many they are.
constexpr const char* kHeads = "heads";

// The names of the user's own heads on which a run was made; none where it was on the default inputs, or is not known.
std::vector<std::string> own_heads(const std::map<std::string, std::string>& identity) {
  const auto input = identity.find("input"), heads = identity.find(kHeads);
  if (input == identity.end() || input->second == "default") return {};
  if (heads == identity.end()) return {input->second};
  std::vector<std::string> names;
  std::istringstream lines(heads->second);
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  return names;
}

std::vector<std::string> remarks_on_ledger(const croquis::Table& table,
                                           const std::map<std::string, std::string>& identity) {
  const std::vector<std::string> own = own_heads(identity);
  if (own.empty()) return {};
  const std::string elsewhere = sentence_of_elsewhere(decided_elsewhere(claim_columns().rows(table), own));
  if (elsewhere.empty()) return {};
  return {elsewhere};
}

constexpr const char* kFullAttention = "verify: takes no --causal; the claims are about full attention";

void validate(const VerifyOptions& options) {
  if (!(options.confidence > 0 && options.confidence < 1)) {
    throw std::invalid_argument(fmt::format("--confidence: {} is not between 0 and 1", options.confidence));
  }
  if (options.trials && *options.trials < 2) {
    throw std::invalid_argument(fmt::format("--trials: {} is less than 2", *options.trials));
  }
  without_mask(options.input, kFullAttention);
  if (options.quick && options.thorough) throw std::invalid_argument("--quick and --thorough: give one of them");
  if (options.mutants && !options.expect.empty()) {
    throw std::invalid_argument("--mutants and --expect: a file of verdicts is about the claims, not their mutants");
  }
  if (parse_shard(options.run.shard).count > 1 && !options.expect.empty()) {
    throw std::invalid_argument(
        "--expect: a shard has a part of the claims; give it with --resume once they are merged");
  }
}

// On the default inputs, or on the heads of the user's own, whose names are then given, and which the identity of the
// run has too.
Ledger ledger_of(const VerifyOptions& options, std::map<std::string, std::string>& identity,
                 std::vector<std::string>& own_names) {
  LedgerOptions how{.confidence = options.confidence,
                    .quick = options.quick,
                    .thorough = options.thorough,
                    .interrupted = Run::interrupted};
  if (options.trials) how.most_trials = static_cast<std::uint64_t>(*options.trials);
  const croquis::Key key = ledger_key(options.run.seed);
  if (!options.own_input) return {how, key};
  const std::vector<Input> inputs = load_inputs(without_mask(options.input, kFullAttention), options.run);
  std::vector<Subject> heads;
  for (const Input& input : inputs) {
    require_square(input, "verify");
    heads.push_back({input.name, input.problem(), input.layer});
    own_names.push_back(input.name);
  }
  identity.merge(identity_of(inputs));
  identity["input"] = inputs.size() == 1 ? inputs.front().name : fmt::format("{} heads", inputs.size());
  if (inputs.size() > 1) identity[kHeads] = fmt::format("{}", fmt::join(own_names, "\n"));
  return {std::move(heads), how, key};
}

void decide_all(const std::vector<Task>& tasks, const Ledger& ledger, const VerifyOptions& options, Run& run) {
  for (const Task& task : tasks) {
    if (Run::interrupted()) break;
    if (!run.wants(Run::key({task.id()}))) continue;
    try {
      run.compute_steps(1, task.id(), [&](std::size_t) {
        const auto start = std::chrono::steady_clock::now();
        const LedgerEntry entry = ledger.decide(*task.claim, task.mutant);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        std::vector<croquis::Record> rows;
        for (ClaimRow& row : rows_of(*task.claim, entry, seconds)) {
          row.seed = options.run.seed;
          if (run.has(Run::key({row.claim, row.input}))) continue;
          rows.push_back(claim_columns().record(row, input_columns(options.input)));
        }
        return rows;
      });
    } catch (const Interrupted&) {
      break;
    }
  }
}

int run_verify(const VerifyOptions& options) {
  validate(options);
  const std::vector<Task> tasks = tasks_of(options);
  const std::map<std::string, std::string> expected =
      options.mutants ? std::map<std::string, std::string>{} : read_expected(options.expect);
  prepare_run(options.run);
  if (!options.run.plot.empty() &&
      std::none_of(tasks.begin(), tasks.end(), [](const Task& task) { return !task.claim->curve.empty(); })) {
    throw std::invalid_argument("--plot: none of these claims has a curve to draw; leave it out");
  }

  std::map<std::string, std::string> identity = {{"input", "default"},
                                                 {"--quick", options.quick ? "true" : "false"},
                                                 {"--thorough", options.thorough ? "true" : "false"},
                                                 {"thresholds", thresholds_digest()},
                                                 {"--confidence", croquis::csv_number(options.confidence)},
                                                 {"--trials", options.trials ? std::to_string(*options.trials) : ""}};
  std::vector<std::string> own_names;
  const Ledger ledger = ledger_of(options, identity, own_names);
  if (!options.explain.empty()) {
    if (croquis::Communicator::world().rank() > 0) return 0;  // which would say the same
    for (const Claim* claim : claims_named(options.explain, "--explain")) explain(*claim, ledger);
    return 0;
  }

  Run run(options.run, "verify", claim_columns().list(input_columns(options.input)), std::move(identity));
  std::vector<Run::Cell> plan;
  plan.reserve(tasks.size());
  for (const Task& task : tasks) plan.push_back({Run::key({task.id(), std::string(kWholeInput)})});
  run.plan(plan);
  decide_all(tasks, ledger, options, run);
  if (const auto status = run.finish()) return *status;

  const std::vector<ClaimRow> rows = claim_columns().rows(run.table());
  const std::vector<LedgerLine> lines = lines_of(rows);
  bool unexpected = false;
  draw_then_print(
      "verify", options.run.plot, [&] { draw_curves(rows, options.run.plot); },
      [&](bool drawn) {
        if (!options.run.quiet) {
          print_ledger(lines, options.markdown);
          const std::vector<std::string> elsewhere =
              options.own_input ? decided_elsewhere(rows, own_names) : std::vector<std::string>{};
          if (options.markdown && !elsewhere.empty()) fmt::print("\n{}\n", sentence_of_elsewhere(elsewhere));
          if (!options.markdown) {
            if (options.mutants) print_survivors(lines);
            print_decided_elsewhere(elsewhere);
            fmt::print("\nrows     {}\nmeta     {}\n", options.run.out, meta_file(options.run.out));
            if (drawn) fmt::print("plot     {}\n", options.run.plot);
          }
        }
        warn_of_broken(lines);
        unexpected = options.mutants ? print_unnoticed(lines) : print_unexpected(lines, expected);
      });
  return unexpected ? kUnexpectedVerdict : 0;
}

// Returns which option of an input of the user's own is given, or nothing, to be asked once the command line has been
// read.
std::function<std::string()> add_options(CLI::App& app, VerifyOptions& options) {
  add_run_options(app, options.run);
  add_double_option(app, options.run);
  auto given_input = add_input_options(app, options.input);
  app.get_option("--causal")->group("");  // refused, with the reason
  app.add_option("--claims", options.claims, "sky.lift,lin.thm1/strict,rpe.*,... or all (see list claims)")
      ->capture_default_str();
  app.add_option("--confidence", options.confidence,
                 "probability, at least, that no random row is wrong about its failure rate")
      ->capture_default_str();
  app.add_option("--trials", options.trials, "draws for each decision, at most (default: as many as it needs)")
      ->check(whole_number(2));
  app.add_flag("--quick", options.quick, "a tenth of the trials: under a minute, but more verdicts are INCONCLUSIVE");
  app.add_flag("--thorough", options.thorough, "ten times the trials: up to half an hour, with more power");
  app.add_option("--explain", options.explain,
                 "print statement, reading, proof, smaller bounds that were tried and findings of these claims, and "
                 "write no files");
  app.add_option("--expect", options.expect, "file of lines 'claim VERDICT'; exit status 1 where one differs");
  app.add_flag("--mutants", options.mutants,
               "run the checks on deliberate mistakes instead, and show what each does to the verdict");
  app.add_flag("--markdown", options.markdown, "print the table in Markdown");
  app.footer(
      "Exit status: 0 done, 1 a verdict is not as expected (--expect, --mutants), 2 bad usage or input, 130 or 143 "
      "interrupted.");
  return given_input;
}

}  // namespace

Command verify_command() {
  const auto options = std::make_shared<VerifyOptions>();
  const auto given_input = std::make_shared<std::function<std::string()>>();
  return {
      .name = "verify",
      .summary = "the claims ledger: the numbered claims of five papers and some of two more, in their readings",
      .example = "croquis verify --claims sky.* --out skyformer.csv",
      .add_options = [=](CLI::App& app) { *given_input = add_options(app, *options); },
      .run =
          [=](const CLI::App& app, const std::string& command_line) {
            infer_kind(app, options->input);
            options->own_input = !(*given_input)().empty();
            describe_run(app, command_line, options->run);
            return run_verify(*options);
          },
      .results = {.columns = claim_columns().all(),
                  .write_summary = {},
                  .draw =
                      [](const croquis::Table& table, const PlotRequest& request) {
                        require_one_picture(request, "verify");
                        draw_curves(claim_columns().rows(table), request.picture);
                      },
                  .picture = "the bound and what was measured, of the claims that have a curve",
                  .print =
                      [](const croquis::Table& table) { print_ledger(lines_of(claim_columns().rows(table)), false); },
                  .report = section_of_ledger,
                  .remarks = remarks_on_ledger}};
}
