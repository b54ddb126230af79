// The state of the choices that choose() makes: their heads, their candidates and their races. Not installed.
#pragma once

#include <croquis/measure/choice_race.hpp>
#include <croquis/measure/choose.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

/// One choice: for a head, a layer or the model.
struct ChoiceGroup {
  std::string input = {};
  std::optional<std::uint64_t> layer = {}, head = {};
  std::vector<std::size_t> heads = {};  ///< indices into ChoiceInputs::heads
  double exact_cost = 0;                ///< exact attention on all its heads of a sequence, mean over the sequences
  std::vector<std::vector<const ChoiceCandidate*>> ladders = {};  ///< candidates that are used on some of its heads
  std::vector<std::vector<double>> costs = {};                    ///< of the candidates, as exact_cost
  std::vector<std::vector<std::vector<double>>> errors = {};      ///< of each candidate, in order of evaluation
  std::optional<ChoiceRace> race = {};
  std::uint64_t evaluations = 0;  ///< number of errors that were looked at, zeros of exact attention included

  const ChoiceCandidate& candidate(Rung rung) const { return *ladders[rung.ladder][rung.rung]; }
};

/// All choices with nothing but their names and heads, in the order of their first heads.
std::vector<ChoiceGroup> grouped_heads(const ChoiceInputs& inputs, ChoicePer per);

/// All choices with their costs and races, ready to be decided. They share the error probability, and point into
/// `candidates`, which must outlive them.
/// Throws: std::invalid_argument if `candidates` does not have the shape of a head.
std::vector<ChoiceGroup> choice_groups(const ChoiceInputs& inputs, const CandidateLadders& candidates,
                                       const ChoiceSettings& settings);

/// The current answer. The caller sets seed and precision.
ChoiceRow answer_of(const ChoiceGroup& group, const ChoiceInputs& inputs, const CandidateLadders& candidates,
                    const ChoiceSettings& settings);

}  // namespace croquis
