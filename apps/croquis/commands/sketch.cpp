// croquis sketch: sketching operators and landmark policies compared on a matrix.
#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/choices.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/measure/sketch_quality.hpp>
#include <croquis/sketch/distributions.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "commands/command.hpp"
#include "commands/sketch_landmarks.hpp"
#include "commands/sketch_operators.hpp"
#include "commands/sketch_subject.hpp"
#include "commands/sketch_tables.hpp"
#include "files/run.hpp"
#include "files/summary.hpp"
#include "options/bias.hpp"
#include "options/common_options.hpp"
#include "options/lists.hpp"
#include "options/own_matrix.hpp"
#include "pictures/curves.hpp"
#include "report/groups_section.hpp"

namespace {

using croquis::Choice;
using croquis::Key;
using croquis::SketchRow;

struct SketchOptions {
  RunOptions run;
  InputOptions input;
  std::function<std::string()> input_given;
  SketchSubjectOptions subject;
  std::string sketches = "all", landmarks = "all";
  std::string features = "16:256";
  long long trials = 20;
};

// Operators and policies, the same for every subject.
struct SketchCandidates {
  std::vector<Choice> operators;
  std::vector<std::string> policies;
};

// An operator or a policy on one subject: its cells are its sizes and trials.
struct SketchCurve {
  std::string input, kind, name;
};
using SketchCell = std::pair<arma::uword, std::uint64_t>;  // d, trial

std::vector<SketchCurve> curves_of(const PendingSketchSubject& subject, const SketchCandidates& candidates) {
  std::vector<SketchCurve> curves;
  for (const Choice& choice : candidates.operators) curves.push_back({subject.input, "operator", choice.label});
  for (const std::string& policy : candidates.policies) curves.push_back({subject.input, "landmarks", policy});
  return curves;
}

std::vector<SketchCell> cells_of(const std::vector<arma::uword>& features, long long trials) {
  std::vector<SketchCell> cells;
  for (const arma::uword d : features) {
    for (std::uint64_t trial = 1; trial <= static_cast<std::uint64_t>(trials); ++trial) cells.emplace_back(d, trial);
  }
  return cells;
}

Run::Fields key_of(const SketchCurve& curve, const SketchCell& cell) {
  return Run::key({curve.input, curve.kind, curve.name, std::uint64_t{cell.first}, cell.second});
}

std::vector<Run::Cell> plan_of(const std::vector<PendingSketchSubject>& subjects, const SketchCandidates& candidates,
                               const std::vector<SketchCell>& cells) {
  std::vector<Run::Cell> plan;
  for (const PendingSketchSubject& subject : subjects) {
    for (const SketchCurve& curve : curves_of(subject, candidates)) {
      for (const SketchCell& cell : cells) plan.push_back({key_of(curve, cell)});
    }
  }
  return plan;
}

// Of one subject.
class Comparison {
 public:
  Comparison(const SketchOptions& options, const SketchSubject& subject, const std::vector<SketchCell>& cells, Run& run)
      : options_(options), subject_(subject), cells_(cells), run_(run) {}

  void operators(const std::vector<Choice>& choices) {
    if (choices.empty()) return;
    // The product BV is that of sketches of the tokens of V.
    const bool sketches_keys = subject_.problem && subject_.problem->n_k() == subject_.matrix.n_rows;
    const croquis::SketchQuality quality(subject_.matrix, subject_.basis,
                                         sketches_keys ? subject_.problem : std::nullopt, subject_.factor);
    for (const Choice& choice : choices) {
      const std::map<std::string, double> parameters = parameters_of(choice);
      std::vector<double> weights;
      if (croquis::find_sketch_distribution<double>(choice.name).weighted) weights = importance();
      // Not completed here: what a size refuses is the status of its rows.
      compute({subject_.input, "operator", choice.label}, [&](arma::uword d, const Key& key) {
        return quality.row({choice.name, subject_.matrix.n_rows, d, key.name(), parameters, weights});
      });
    }
  }

  void landmarks(const std::vector<std::string>& policies) {
    if (policies.empty()) return;
    croquis::LandmarkQuality quality = subject_.problem
                                           ? croquis::LandmarkQuality(*subject_.problem)
                                           : croquis::LandmarkQuality(*subject_.kernel, subject_.n <= kLargestDense);
    for (const std::string& policy : policies) {
      quality.prepare(policy);
      compute({subject_.input, "landmarks", policy},
              [&](arma::uword d, const Key& key) { return quality.row(d, key); });
    }
  }

 private:
  // By the squares of the row norms, as for a matrix product; of two factors by the products of their row norms.
  std::vector<double> importance() const {
    const auto squares = [](const arma::mat& matrix) -> arma::vec {  // over a power of two: they do not vanish
      return arma::sum(arma::square(croquis::over_power_of_two(matrix)), 1);
    };
    arma::vec weights = squares(subject_.matrix);
    if (subject_.factor) weights = arma::sqrt(weights) % arma::sqrt(squares(*subject_.factor));
    return arma::conv_to<std::vector<double>>::from(weights);
  }

  template <typename Measure>
  void compute(const SketchCurve& curve, const Measure& measure) {
    std::vector<SketchCell> cells = cells_;
    std::erase_if(cells, [&](const SketchCell& cell) { return !run_.wants(key_of(curve, cell)); });
    run_.compute(cells.size(), curve.name, [&](std::size_t i) {
      const auto [d, trial] = cells[i];
      SketchRow row = measure(d, croquis::sketch_key(options_.run.seed, curve.kind, curve.name, d, trial));
      row.input = subject_.input;
      row.matrix = subject_.name;
      row.sequence = subject_.sequence;
      row.layer = subject_.layer;
      row.head = subject_.head;
      row.n = subject_.n;
      row.cols = subject_.cols;
      row.rank = subject_.basis.n_cols;
      row.name = curve.name;
      row.trial = trial;
      row.seed = options_.run.seed;
      return croquis::sketch_columns().record(row, input_columns(options_.input));
    });
  }

  const SketchOptions& options_;
  const SketchSubject& subject_;
  const std::vector<SketchCell>& cells_;
  Run& run_;
};

// Reads the subject when something of it is wanted.
void compare(const SketchOptions& options, const PendingSketchSubject& pending, const SketchCandidates& candidates,
             const std::vector<SketchCell>& cells, Run& run) {
  std::size_t wanted = 0;
  for (const SketchCurve& curve : curves_of(pending, candidates)) {
    for (const SketchCell& cell : cells) wanted += run.wants(key_of(curve, cell)) ? 1 : 0;
  }
  if (Run::interrupted() || wanted == 0 || run.skip(wanted)) return;
  const auto subject = pending.load();
  Comparison comparison(options, *subject, cells, run);
  comparison.operators(candidates.operators);
  comparison.landmarks(candidates.policies);
}

void require_memory_for(const PendingSketchSubject& subject, const SketchCandidates& candidates, arma::uword largest) {
  const double d = static_cast<double>(largest);
  if (!candidates.operators.empty()) {
    croquis::require_memory(sizeof(double) * d * static_cast<double>(subject.cols), "--features: a sketched matrix",
                            {{"d", largest}, {"cols", subject.cols}});
  }
  if (!candidates.policies.empty()) {
    croquis::require_memory(
        2 * sizeof(double) * std::min(d, static_cast<double>(subject.n)) * static_cast<double>(subject.n),
        "--features: columns at the landmarks and a factor", {{"d", largest}, {"n", subject.n}});
  }
}

// Of the operators that were asked for, those that take the subjects and sizes; and the policies.
void choose_candidates(const SketchOptions& options, const std::vector<PendingSketchSubject>& subjects,
                       const std::set<arma::uword>& rows, const std::vector<arma::uword>& features,
                       SketchCandidates& candidates) {
  const bool operators = !candidates.operators.empty();
  if (!operators && !subjects.front().head) {
    if (const std::string why = subjects.front().load()->no_landmarks; !why.empty()) {
      throw std::invalid_argument(
          fmt::format("--sketches none: there is nothing to measure, as landmarks need a square matrix; {}", why));
    }
  }
  candidates.policies = landmark_policies(options.landmarks, subjects, options.input.causal, features.front());
  if (!operators && candidates.policies.empty()) {
    throw std::invalid_argument("--sketches none: no landmark policy is left");
  }
  for (const PendingSketchSubject& subject : subjects) require_memory_for(subject, candidates, features.back());
  if (operators) candidates.operators = usable_sketches(candidates.operators, options.sketches, rows, features);
}

int run_sketch(const SketchOptions& options) {
  SketchCandidates candidates{.operators = parse_sketches(options.sketches), .policies = {}};
  parse_sizes(options.features, "--features");
  require_no_bias(options.input.bias, "sketch", "no matrix of it has one");
  prepare_run(options.run);
  if (is_matrix_file(options.subject.matrix)) require_no_input(options.input_given());
  const bool landmarks = options.landmarks != "none";
  if (candidates.operators.empty() && !landmarks) throw std::invalid_argument("--sketches, --landmarks: both are none");
  if (candidates.operators.empty() && !options.subject.product.empty()) {
    throw std::invalid_argument("--product: there are no operators to compare on it, --sketches is none");
  }
  const auto [subjects, identity] =
      sketch_subjects(options.subject, options.input, options.run, !candidates.operators.empty(), landmarks);
  std::set<arma::uword> rows;
  for (const PendingSketchSubject& subject : subjects) rows.insert(subject.n);
  const std::vector<arma::uword> features = parse_sizes(options.features, "--features", *rows.begin());
  choose_candidates(options, subjects, rows, features, candidates);
  const std::size_t curves = subjects.size() * (candidates.operators.size() + candidates.policies.size());
  require_room_for_rows(static_cast<double>(curves * features.size()) * static_cast<double>(options.trials), "--trials",
                        options.trials);

  Run run(options.run, "sketch", croquis::sketch_columns().list(input_columns(options.input)), identity,
          summary_files(subjects.size()));
  const std::vector<SketchCell> cells = cells_of(features, options.trials);
  run.plan(plan_of(subjects, candidates, cells));
  for (const PendingSketchSubject& subject : subjects) compare(options, subject, candidates, cells, run);
  return conclude(run);
}

void add_options(CLI::App& app, SketchOptions& options) {
  add_run_options(app, options.run);
  add_double_option(app, options.run);
  options.input_given = add_input_options(app, options.input);
  app.get_option("--bias")->group("");  // refused, with the reason
  add_subject_options(app, options.subject);
  app.add_option("--sketches", options.sketches, "a,b:option=value,c, all or none (see list sketches)")
      ->capture_default_str();
  app.add_option("--landmarks", options.landmarks,
                 "landmark policies on the lift of Q, K, on a matrix or a kernel of your own: a,b, all or none")
      ->capture_default_str();
  app.add_option("--features", options.features, "16,32,64 or 16:256 (doubling; a range ends at n)")
      ->capture_default_str();
  app.add_option("--trials", options.trials, "draws of every operator and landmark policy, for each d")
      ->check(whole_number(1, kMaximumTrials))
      ->capture_default_str();
}

}  // namespace

Command sketch_command() {
  const auto options = std::make_shared<SketchOptions>();
  return {.name = "sketch",
          .summary = "sketching operators and landmark policies on a matrix",
          .example = "croquis sketch --matrix v --sketches gaussian,srht,sjlt:s=4 --landmarks none --out sketch.csv",
          .add_options = [options](CLI::App& app) { add_options(app, *options); },
          .run = measuring(options, run_sketch),
          .results = {.columns = croquis::sketch_columns().all(),
                      .write_summary = write_grouped_summary,
                      .draw = drawing(),
                      .picture = "a metric against d, a line for each operator or landmark policy",
                      .print = print_sketch_tables,
                      .report =
                          [](const croquis::Table& table) {
                            return section_of_groups(
                                table, {.title = "Operators and landmark policies",
                                        .answered = {"product_spectral_rel", "norm_error", "nystrom_spectral_rel"}});
                          },
                      .said_of_all = {"matrix"}}};
}
