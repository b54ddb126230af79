// The cheapest choice of a method for each layer whose loss rises by little: `croquis choose --target-loss`.
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
};

struct LossSettings {
  double target = 0.01;              ///< the largest rise of the mean loss that is good enough, > 0
  double confidence = 0.95;          ///< in (0, 1)
  double max_cost = 1;               ///< in units of exact attention: candidates that cost as much or more are left out
  std::size_t search_sequences = 4;  ///< so many find the order of the steps, the others test it; >= 1
};

/// A step on the way from exact attention in all layers to the cheapest candidate in each: one layer takes a cheaper
/// method than before. The columns say what each member is.
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

struct LossChoice {
  std::vector<LossStep> steps;    ///< in their order, those that were tested
  std::vector<ChoiceRow> layers;  ///< one for each, as answers with the metric "loss", epsilon the target
};

/// Chooses a method for each layer, for all of its heads.
///
/// Search, on the first `search_sequences` of an order drawn from `key`: the divergence KL(exact || approximated) of
/// the predictions with one layer replaced alone, for every candidate and layer. It is what the loss of a calibrated
/// model rises by on average, with far less noise than the rise on a few labels. On the lower convex hull of (cost, KL)
/// of each layer, exact attention included, a step down saves cost for a divergence. The steps of all layers are taken
/// in the order of divergence for cost: where divergences add up over layers, the cheapest choice for each sum. Steps
/// end where the sum is 4 targets. Test, on all other sequences: the mean over the sequences of loss - exact loss after
/// each step, errors going on through the layers. From the first step on, a step is certified if the upper confidence
/// limit of Student for that mean is at most the target, and all before it are certified.
///
/// Guarantees: P(a certified step has a mean rise above the target on new sequences) <= 1 - confidence, as far as
///   Student's limit holds: exactly for rises that are normal, asymptotically for others (docs/choose.md). The order of
///   the steps is fixed before the test, so there is no price for their number.
/// A pass that fails is an infinite rise. Randomness: a pass on a sequence of number s has
/// key.child("loss").child(s). The same result for any number of threads.
/// Cost: of the search, layers x candidates passes a sequence; of the test, a pass for each step and sequence. Memory:
///   a sequence a thread. Returns nothing if `hooks.stop` said so; hooks get the rises as errors.
/// Throws: std::invalid_argument for settings outside their ranges, too few sequences, and as ModelOnSequence.
template <typename T>
std::optional<LossChoice> choose_by_loss(const LossInputs& inputs, const CandidateLadders& candidates,
                                         const LossSettings& settings, const Key& key, const ChoiceHooks& hooks = {});

}  // namespace croquis
