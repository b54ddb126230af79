// The cheapest approximation that is good enough, with a guarantee: what `croquis choose` measures.
#pragma once

#include <croquis/attention/method_choice.hpp>
#include <croquis/attention/problem.hpp>
#include <croquis/measure/choice_candidates.hpp>
#include <croquis/measure/columns.hpp>
#include <croquis/random/key.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

/// Whether a choice is made for each head, for each layer or for the model.
enum class ChoicePer { head, layer, model };
/// "head", "layer" and "model". Throws std::invalid_argument for any other text.
ChoicePer choice_per_from_name(const std::string& name);

/// A head for which choices are made.
struct ChoiceHead {
  std::string input;  ///< its name in the results
  std::optional<std::uint64_t> layer, head;
};

/// The heads on every sequence. Heads of one sequence need not be independent, and are not taken to be.
struct ChoiceInputs {
  std::string name;                      ///< in the results, for a choice for all heads
  std::vector<ChoiceHead> heads;         ///< at least one
  std::vector<std::uint64_t> sequences;  ///< their numbers; with a single one, the choice is about draws on it
  /// Q, K and V of a head on a sequence, by their indices in the lists: the same in every call; called by one thread at
  /// a time.
  std::function<Problem<double>(std::size_t sequence, std::size_t head)> problem;
  std::function<HeadShape(std::size_t sequence, std::size_t head)> shape;
};

struct ChoiceSettings {
  double epsilon = 0.1;      ///< the largest error that is acceptable, > 0
  double delta = 0.05;       ///< the probability with which it may be exceeded, in (0, 1)
  double confidence = 0.95;  ///< of all returned choices together, in (0, 1)
  /// An error of ErrorRow: frobenius_rel, spectral_rel, row_rel_q99, ... (choice_metrics())
  std::string metric = "frobenius_rel";
  ChoicePer per = ChoicePer::head;
  CostUnit cost = CostUnit::flops;
  double max_cost = 1;  ///< in units of exact attention: where a method costs as much or more, exact attention is used
  /// With one sequence, the maximum number of draws of a candidate; with several, the draws of a random method on each.
  std::uint64_t draws = 1;
  /// Estimate the error from this many rows, and use the upper end of its interval. Not set: all rows.
  std::optional<arma::uword> rows = {};
};

/// The default value of ChoiceSettings::draws: 1000 with one sequence, 1 with several.
std::uint64_t default_draws(std::size_t sequences);

/// The metrics that a choice can use; with rows, only those that have an interval.
const std::vector<std::string>& choice_metrics(bool with_rows);

/// One evaluation: the error of a candidate on one head of one sequence in one draw.
struct ChoiceDraw {
  std::string input;
  std::optional<std::uint64_t> layer, head;
  std::uint64_t sequence = 0;
  std::string method, preset;
  std::uint64_t features = 0, trial = 0, seed = 0;
  std::string precision = "double";
  double error = std::numeric_limits<double>::quiet_NaN();  ///< NaN if the method failed
  double cost_ratio = std::numeric_limits<double>::quiet_NaN();
  std::string status = "ok";
};
const Columns<ChoiceDraw>& choice_draw_columns();

/// The answer for a head, a layer or the model. choice_columns() documents the members.
struct ChoiceRow {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  std::string input;
  std::optional<std::uint64_t> layer, head;
  double eps = 0, delta = 0, confidence = 0;
  std::string metric, method, preset;
  std::uint64_t features = 0;
  double cost = kUndefined, exact_cost = kUndefined, cost_ratio = kUndefined;
  double error_median = kUndefined, error_q95 = kUndefined, failure_upper = kUndefined;
  std::uint64_t draws = 0, sequences = 0;
  std::string status;
  std::optional<std::uint64_t> needed;
  std::uint64_t open = 0, evaluations = 0, seed = 0;
  std::string cost_unit, precision = "double", target;
  double flops_limit = kUndefined;
  std::uint64_t heads = 0;
  std::optional<std::uint64_t> rows;
  double time_ratio = kUndefined;
};
const Columns<ChoiceRow>& choice_columns();

/// Hooks for callers that divide the choices, show progress, store evaluations or stop the search.
struct ChoiceHooks {
  /// Whether the choice with this ChoiceRow::input is to be made. The others are left out of the answer, and no choice
  /// depends on which these are.
  std::function<bool(const std::string& input)> wanted = {};
  /// The error of an earlier evaluation with the same key and inputs, identified by all members but the error; empty if
  /// there is none.
  std::function<std::optional<double>(const ChoiceDraw&)> known = {};
  std::function<void(const ChoiceDraw&)> made = {};  ///< called for each new evaluation, by one thread at a time
  /// Called after every unit with the number of sequences or draws that are done, the number of all, and the number of
  /// choices that are still open.
  std::function<void(std::uint64_t done, std::uint64_t of, std::size_t open)> progress = {};
  std::function<bool()> stop = {};  ///< called before every batch of heads; if true, there is no answer
};

/// Throws std::invalid_argument for a number that occurs twice: a sequence would be evidence twice, with the same
/// draws.
void require_distinct_sequences(const std::vector<std::uint64_t>& sequences, const char* where);

/// ChoiceRow::input of the choices, in their order.
std::vector<std::string> choice_names(const ChoiceInputs& inputs, ChoicePer per);

/// For each candidate of candidates.ladders its cost on all heads and sequences (CandidateLadders::cost_on), divided by
/// the cost of exact attention on them. Throws: std::invalid_argument if `candidates` does not have the shape of a
/// head.
std::vector<std::vector<double>> candidate_cost_ratios(const ChoiceInputs& inputs, const CandidateLadders& candidates,
                                                       double max_cost);

/// Whether an evaluation of an earlier call still belongs to one of these candidates. With costs in seconds, which are
/// measured in each call, a candidate may now be exact attention on a sequence where it was not before, or the reverse.
bool is_current(const ChoiceDraw& draw, const ChoiceInputs& inputs, const CandidateLadders& candidates,
                double max_cost);

/// The smallest number of sequences (with one sequence, of draws) with which any candidate can be certified, if none
/// ever fails.
std::uint64_t units_to_certify(const ChoiceSettings& settings, std::size_t ladders);

/// For every head (layer, model), the cheapest candidate for which it is shown that
///   P(error <= epsilon) >= 1 - delta.
/// The probability is over the draws of the method and, with several sequences, over a new sequence from the same
/// source; for a layer or the model also over its heads, each equally likely. The answer is "exact" if no cheaper
/// candidate is shown to be good enough. Where a sequence is too short for a method at its d, or exact attention costs
/// no more there, the candidate is exact attention: it does not fail, and has its cost (ChoiceRow::flops_limit).
///
/// Guarantees: P(a returned choice has P(error > epsilon) >= delta) <= 1 - confidence, over all that is random, if
///   sequences are independent and identically distributed (theorem and proof in docs/choose.md). A failure of a
///   method, and an error that is not a number, count as error > epsilon. A method without randomness on a single
///   sequence is decided by one evaluation. With `rows` the error of each draw is itself estimated from rows of its
///   own, those of a method without randomness too. If the upper end of the interval (SampledErrors) is above epsilon
///   with probability at least c where the error is, then the guarantee is P(error > epsilon) < delta / c.
/// Order: sequences are taken in an order drawn from `key`, so a sorted file makes no difference. The order of the
///   candidates is that of `candidates`, and depends on no sequence.
/// Randomness: draw t of a method at d on inputs.heads[h] of sequence number s uses
///   key.child("draws").child(s).child(h).child(method).child(d).child(t), so that a head has other draws where there
///   are other heads before it. Its error is estimated from the rows of key.child("rows").child(s).child(t), the same
///   for all heads and candidates. The result is the same for any number of threads.
/// Cost: exact attention once for each head of each sequence, with `rows` so many rows of it for each draw, and a call
///   of each candidate that is still open. With several sequences and costs in seconds, some seven calls of each chosen
///   method on each head (ChoiceRow::time_ratio).
/// Returns: nothing if `hooks.stop` returned true.
/// Throws: std::invalid_argument for settings outside their ranges, also for more or fewer rows than can be sampled; as
///   require_distinct_sequences; and for a problem of another shape than inputs.shape states.
template <typename T>
std::optional<std::vector<ChoiceRow>> choose(const ChoiceInputs& inputs, const CandidateLadders& candidates,
                                             const ChoiceSettings& settings, const Key& key,
                                             const ChoiceHooks& hooks = {});

}  // namespace croquis
