// The cheapest choice of a method for each layer with which the loss of the model rises by little: `croquis choose
// --target-loss`.
#pragma once

#include <croquis/measure/choose.hpp>
#include <croquis/measure/model_loss.hpp>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

/// A model with labelled sequences, which are read when they are needed.
struct LossInputs {
  std::string name;  ///< in the results
  Model model;
  std::vector<std::uint64_t> sequences;  ///< their numbers; at least two more than search_sequences
  std::function<LabelledSequence(std::size_t sequence)> read;  ///< by the place in the list; for any thread
  std::function<HeadShape(std::size_t sequence)> shape;        ///< of its heads, one of those of the candidates
};

struct LossSettings {
  double target = 0.01;              ///< the largest rise of the mean loss that is acceptable, > 0
  double confidence = 0.95;          ///< in (0, 1)
  double max_cost = 1;               ///< in units of exact attention: candidates that cost as much or more are left out
  std::size_t search_sequences = 4;  ///< sequences for finding the steps, >= 1; the others test them
};

/// A step on the way from exact attention in all layers to the cheapest candidate in each: one layer gets a cheaper
/// method than before. loss_step_columns() documents the members.
struct LossStep {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  std::uint64_t step = 0, layer = 0;
  std::string method, preset;
  std::uint64_t features = 0;
  double cost_ratio = kUndefined, predicted = kUndefined;
  double rise = kUndefined, rise_error = kUndefined, rise_upper = kUndefined;
  std::uint64_t sequences = 0;
  std::string status;
};
const Columns<LossStep>& loss_step_columns();

/// A step is hopeless, and not tested, if by the search the loss after it has risen by more than this many targets.
constexpr double kTargetsToTest = 4;

struct LossChoice {
  std::vector<LossStep> steps;    ///< the steps that were tested, in order
  std::size_t untested = 0;       ///< steps after them, which are hopeless
  std::vector<ChoiceRow> layers;  ///< one for each layer: answers with the metric "loss" and the target as epsilon
};

/// Chooses a method for each layer, for all of its heads.
///
/// Search, on the first `search_sequences` of an order drawn from `key`: for every layer and candidate, the divergence
/// KL(exact || approximated) of the model's predictions if only this layer is replaced. If the model's probabilities
/// were the true ones, this would be the mean rise of the loss; it has far less noise than the rise on a few labels. On
/// the lower convex hull of (cost, KL) of each layer, exact attention included, every step to a cheaper point saves
/// cost for some divergence. The steps of all layers are taken in ascending order of divergence per saved cost: if
/// divergences add up over layers, this gives the cheapest choice for each sum. Steps end when the sum reaches
/// kTargetsToTest targets.
///
/// Test, on all other sequences: the mean over the sequences of loss - exact loss after each step, with errors
/// propagated through the layers. In order, a step is certified if Student's upper confidence limit for that mean is at
/// most the target and all steps before it are certified.
///
/// Where a sequence is too short for a method, or exact attention costs no more, a candidate is exact attention. The
/// steps depend on no sequence of the test, nor on its length.
/// Guarantees: P(a certified step has a mean rise above the target on new sequences) <= 1 - confidence, as far as
///   Student's limit holds: exactly for normal rises, asymptotically for others (docs/choose.md). The order of the
///   steps is fixed before the test, so their number has no price. A pass that fails counts as an infinite rise.
/// Randomness: a pass on sequence number s uses key.child("loss").child(s). The result is the same for any number of
///   threads.
/// Cost: search: layers x candidates passes for each sequence; test: a pass for each step and sequence. Memory: a
///   sequence for each thread.
/// Returns: nothing if `hooks.stop` returned true. Hooks get the rises as errors.
/// Throws: std::invalid_argument for settings outside their ranges and too few sequences; also as
///   require_distinct_sequences and ModelOnSequence.
template <typename T>
std::optional<LossChoice> choose_by_loss(const LossInputs& inputs, const CandidateLadders& candidates,
                                         const LossSettings& settings, const Key& key, const ChoiceHooks& hooks = {});

}  // namespace croquis
