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

/// What one choice is made for.
enum class ChoicePer { head, layer, model };
/// "head", "layer" and "model". Throws std::invalid_argument for any other text.
ChoicePer choice_per_from_name(const std::string& name);

/// A head that choices are made for.
struct ChoiceHead {
  std::string input;  ///< its name in the results
  std::optional<std::uint64_t> layer, head;
};

/// The heads on every sequence. Heads of one sequence need not be independent, and are not taken to be.
struct ChoiceInputs {
  std::string name;                      ///< in the results, of a choice for all heads
  std::vector<ChoiceHead> heads;         ///< at least one
  std::vector<std::uint64_t> sequences;  ///< their numbers; a single one: the choice is about draws on it
  /// The numbers of a head on a sequence, by their places in the lists: the same every time, for one thread at a time.
  std::function<Problem<double>(std::size_t sequence, std::size_t head)> problem;
  std::function<HeadShape(std::size_t sequence, std::size_t head)> shape;
  bool has_bias = false, causal = false;  ///< the position of all of them
};

struct ChoiceSettings {
  double epsilon = 0.1;      ///< the largest error that is good enough, > 0
  double delta = 0.05;       ///< how often it may be exceeded, in (0, 1)
  double confidence = 0.95;  ///< of all returned choices together, in (0, 1)
  /// An error of ErrorRow: frobenius_rel, spectral_rel, row_rel_q99, ... (choice_metrics())
  std::string metric = "frobenius_rel";
  ChoicePer per = ChoicePer::head;
  CostUnit cost = CostUnit::flops;
  double max_cost = 1;  ///< in units of exact attention: candidates that cost as much or more are left out
  /// With one sequence, the most draws of a candidate; with several, draws of a random method on each.
  std::uint64_t draws = 1;
  std::optional<arma::uword> rows = {};  ///< estimate the error from so many rows, and decide by the interval's end
};

/// ChoiceSettings::draws where a user does not say: 1000, and with several sequences 1.
std::uint64_t default_draws(std::size_t sequences);

/// The metrics that a choice can be made by; with rows, those that have an interval.
const std::vector<std::string>& choice_metrics(bool with_rows);

/// One evaluation: the error of a candidate on one head of one sequence in one draw.
struct ChoiceDraw {
  std::string input;
  std::optional<std::uint64_t> layer, head;
  std::uint64_t sequence = 0;
  std::string method, preset;
  std::uint64_t features = 0, trial = 0, seed = 0;
  std::string precision = "double";
  double error = std::numeric_limits<double>::quiet_NaN();  ///< NaN: it failed
  double cost_ratio = std::numeric_limits<double>::quiet_NaN();
  std::string status = "ok";
};
const Columns<ChoiceDraw>& choice_draw_columns();

/// The answer for a head, a layer or the model; the columns say what each member is.
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
  std::string cost_unit, precision = "double";
};
const Columns<ChoiceRow>& choice_columns();

/// Hooks of a caller that shows progress, keeps evaluations for later, or stops.
struct ChoiceHooks {
  /// An evaluation that was made before, of the same key and inputs: the one with these keys (all but the error).
  std::function<std::optional<double>(const ChoiceDraw&)> known = {};
  std::function<void(const ChoiceDraw&)> made = {};  ///< called for each new evaluation, by one thread at a time
  /// After every unit: sequences or draws that are done, all there are, choices that are still open.
  std::function<void(std::uint64_t done, std::uint64_t of, std::size_t open)> progress = {};
  std::function<bool()> stop = {};  ///< asked before every batch of heads; true: return without an answer
};

/// ChoiceRow::input of the choices, in their order.
std::vector<std::string> choice_names(const ChoiceInputs& inputs, ChoicePer per);

/// The smallest number of sequences (with one, of draws) that can certify any candidate, if none ever fails.
std::uint64_t units_to_certify(const ChoiceSettings& settings, std::size_t ladders);

/// For every head (layer, model) the candidate of least cost of which it is shown that
///   P(error <= epsilon) >= 1 - delta,
/// the probability being over the draws of the method and, with several sequences, over a new sequence from where
/// these came; for a layer or the model also over its heads, each as likely. "exact" where nothing cheaper is.
///
/// Guarantees: P(a returned choice has P(error > epsilon) >= delta) <= 1 - confidence, over all that is random, if
///   sequences are independent and identically distributed (docs/choose.md has the theorem and its proof). A failure of
///   a method, and an error that is not a number, count as error > epsilon. A method without randomness on a single
///   sequence is right or wrong, and known after one evaluation. With `rows` the error on each draw is itself
///   estimated, and the guarantee is as good as the coverage of its interval (SampledErrors).
/// Order: sequences are taken in an order drawn from `key`, so that a sorted file does not matter. The candidates are
///   ordered by `candidates` alone, before any error is known.
/// Randomness: draw t of a method at d on head h of a sequence of number s has
///   key.child("draws").child(s).child(h).child(method).child(d).child(t). The same result for any number of threads.
/// Cost: exact attention once for each head of each sequence, and a call of each candidate that is still open.
/// Returns nothing if `hooks.stop` said so. Throws: std::invalid_argument for settings outside their ranges.
template <typename T>
std::optional<std::vector<ChoiceRow>> choose(const ChoiceInputs& inputs, const CandidateLadders& candidates,
                                             const ChoiceSettings& settings, const Key& key,
                                             const ChoiceHooks& hooks = {});

}  // namespace croquis
