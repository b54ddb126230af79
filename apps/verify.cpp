#include "verify.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <croquis/claims/ledger.hpp>
#include <map>
#include <stdexcept>

#include "lists.hpp"
#include "verify_curves.hpp"
#include "verify_ledger.hpp"

using namespace croquis::claims;

namespace {

using croquis::csv_field;
using croquis::csv_number;
using croquis::verdict_name;

const Run::Fields kColumns = {"claim", "verdict",  "kind",     "source",     "input", "n",      "p",
                              "d",     "trials",   "failures", "estimate",   "ci_lo", "ci_hi",  "confidence",
                              "bound", "observed", "slack",    "hypotheses", "seed",  "seconds"};

// A claim to decide, honestly or with a deliberate mistake.
struct Task {
  const Claim* claim;
  std::string mutant;
  std::string id() const { return mutant.empty() ? claim->id : claim->id + "!" + mutant; }
};

std::vector<const Claim*> chosen_claims(const std::string& text, const std::string& option) {
  std::vector<const Claim*> chosen;
  const std::vector<std::string> patterns = text == "all" ? std::vector<std::string>{"*"} : split_list(text, option);
  std::vector<bool> used(patterns.size());
  for (const Claim& claim : all_claims()) {
    bool wanted = false;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (::fnmatch(patterns[i].c_str(), claim.id.c_str(), 0) == 0) wanted = used[i] = true;
    }
    if (wanted) chosen.push_back(&claim);
  }
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (!used[i]) {
      throw std::invalid_argument(
          fmt::format("{}: no claim is called '{}'; croquis list claims has them", option, patterns[i]));
    }
  }
  return chosen;
}

std::vector<Task> tasks_of(const VerifyOptions& options) {
  std::vector<Task> tasks;
  for (const Claim* claim : chosen_claims(options.claims, "--claims")) {
    if (!options.mutants) tasks.push_back({claim, ""});
    for (const Mutant& mutant : claim->mutants) {
      if (options.mutants) tasks.push_back({claim, mutant.name});
    }
  }
  return tasks;
}

std::string text_of(const std::optional<arma::uword>& size) {
  return size ? std::to_string(*size) : "NA";
}

Run::Fields row_of(const Task& task, const Finding& f, std::uint64_t seed, double seconds) {
  return {task.id(),
          std::string(verdict_name(f.verdict)),
          task.claim->kind,
          csv_field(task.claim->source),
          csv_field(f.input),
          text_of(f.n),
          text_of(f.p),
          text_of(f.d),
          f.trials ? std::to_string(*f.trials) : "NA",
          f.failures ? std::to_string(*f.failures) : "NA",
          csv_number(f.estimate),
          csv_number(f.interval.lo),
          csv_number(f.interval.hi),
          csv_number(f.confidence),
          csv_number(f.bound),
          csv_number(f.observed),
          csv_number(f.slack()),
          csv_field(f.hypotheses),
          std::to_string(seed),
          csv_number(seconds)};
}

std::string range_of(const croquis::Interval& interval) {
  return std::isnan(interval.lo) ? "" : fmt::format(" [{:.4g}, {:.4g}]", interval.lo, interval.hi);
}

void explain(const Claim& claim, const Ledger& ledger) {
  fmt::print("{}: {}\n\nstatement    {}\nhypotheses   {}\nchecked by   {}\n", claim.id, claim.source, claim.statement,
             claim.hypotheses, claim.method);
  for (const Mutant& mutant : claim.mutants) fmt::print("mutant       {}: {}\n", mutant.name, mutant.mistake);
  const LedgerEntry entry = ledger.decide(claim);
  fmt::print("found        {}: {}\n\n", verdict_name(entry.whole.verdict), entry.whole.hypotheses);
  std::size_t width = 5;
  for (const Finding& f : entry.findings) width = std::max(width, f.input.size());
  for (const Finding& f : entry.findings) {
    fmt::print("{:<{}}  {:<14}", f.input, width, verdict_name(f.verdict));
    if (f.trials && f.failures) fmt::print("  {} of {} fail", *f.failures, *f.trials);
    if (!std::isnan(f.estimate)) fmt::print("  {:.4g}{}", f.estimate, range_of(f.interval));
    if (!std::isnan(f.bound)) fmt::print("  observed {:.4g}, bound {:.4g}", f.observed, f.bound);
    fmt::print("{}{}\n", f.hypotheses.empty() ? "" : "  ", f.hypotheses);
  }
}

void validate(const VerifyOptions& options) {
  if (!(options.confidence > 0 && options.confidence < 1)) {
    throw std::invalid_argument(fmt::format("--confidence: {} is not between 0 and 1", options.confidence));
  }
  if (options.trials && *options.trials < 2) {
    throw std::invalid_argument(fmt::format("--trials: {} is less than 2", *options.trials));
  }
  if (options.mutants && !options.expect.empty()) {
    throw std::invalid_argument("--mutants and --expect: a file of verdicts is about the claims, not their mutants");
  }
  if (parse_shard(options.run.shard).count > 1 && !options.expect.empty()) {
    throw std::invalid_argument(
        "--expect: a shard has a part of the claims; give it with --resume once they are merged");
  }
}

// On the default inputs, or on the user's own, which the identity of the run then has too.
Ledger ledger_of(const VerifyOptions& options, std::map<std::string, std::string>& identity) {
  LedgerOptions how{.confidence = options.confidence, .quick = options.quick, .interrupted = Run::interrupted};
  if (options.trials) how.most_trials = static_cast<std::uint64_t>(*options.trials);
  const croquis::Key key = croquis::Key(options.run.seed).child("verify");
  if (!options.own_input) return {how, key};
  Input input = load_input(options.input, options.run.seed);
  identity.merge(identity_of(input));
  identity["input"] = input.name;
  return {{std::move(input.name), std::move(input.problem)}, how, key};
}

}  // namespace

int run_verify(VerifyOptions options) {
  if (options.run.out.empty()) options.run.out = "verify.csv";
  validate(options);
  const std::vector<Task> tasks = tasks_of(options);
  const std::map<std::string, std::string> expected =
      options.mutants ? std::map<std::string, std::string>{} : read_expected(options.expect);
  prepare_run(options.run);

  std::map<std::string, std::string> identity = {{"input", "default"},
                                                 {"--quick", options.quick ? "true" : "false"},
                                                 {"--confidence", csv_number(options.confidence)},
                                                 {"--trials", options.trials ? std::to_string(*options.trials) : ""}};
  const Ledger ledger = ledger_of(options, identity);

  if (!options.explain.empty()) {
    explain(*chosen_claims(options.explain, "--explain").front(), ledger);
    return 0;
  }

  Run run(options.run, "verify", kColumns, {{"claim"}, {"input"}}, std::move(identity));
  std::vector<Run::Cell> plan;
  plan.reserve(tasks.size());
  for (const Task& task : tasks) plan.push_back({{task.id(), std::string(kWholeInput)}});
  run.plan(plan);
  for (const Task& task : tasks) {
    if (Run::interrupted()) break;
    if (!run.wants({task.id()})) continue;
    try {
      run.compute_steps(1, task.id(), [&](std::size_t) {
        const auto start = std::chrono::steady_clock::now();
        const LedgerEntry entry = ledger.decide(*task.claim, task.mutant);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        std::vector<Run::Fields> rows;
        for (const Finding& finding : entry.findings) {
          if (!run.has({task.id(), csv_field(finding.input)})) {
            rows.push_back(row_of(task, finding, options.run.seed, Finding::kNone));
          }
        }
        rows.push_back(row_of(task, entry.whole, options.run.seed, seconds));
        return rows;
      });
    } catch (const Interrupted&) {
      break;
    }
  }
  if (const auto status = run.finish()) return *status;

  const croquis::CsvTable table = croquis::read_csv(options.run.out);
  if (!options.run.plot.empty()) draw_curves(table, options.run.plot);
  const std::vector<LedgerLine> lines = lines_of(table);
  if (!options.run.quiet) {
    print_ledger(lines, options.markdown);
    if (!options.markdown) {
      fmt::print("\nrows     {}\nmeta     {}\n", options.run.out, beside(options.run.out, ".meta.json"));
      if (!options.run.plot.empty()) fmt::print("plot     {}\n", options.run.plot);
    }
  }
  return (options.mutants ? print_unnoticed(lines) : print_unexpected(lines, expected)) ? kUnexpectedVerdict : 0;
}

void print_claims() {
  fmt::print("{:<24}{:<13}{:<30}{}\n", "claim", "kind", "source", "statement");
  for (const Claim& claim : all_claims()) {
    fmt::print("{:<24}{:<13}{:<30}{}\n", claim.id, claim.kind, claim.source, claim.statement);
  }
}
