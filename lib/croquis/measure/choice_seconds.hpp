// Costs in seconds of the very heads that a choice is for.
#pragma once

#include <croquis/measure/choose.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

/// Hooks for callers that show progress, divide the choices or stop the timing.
struct TimingHooks {
  /// Called before each head with the number of heads that are done and of all that are timed; if false, there is no
  /// answer.
  std::function<bool(std::uint64_t done, std::uint64_t of)> go_on = {};
  /// Whether the choice with this ChoiceRow::input is to be made. The costs of others are NaN.
  std::function<bool(const std::string& input)> wanted = {};
};

/// The candidates with costs in seconds from costs in flops (CostUnit::flops): those of call_seconds() on the heads
/// themselves, on the first of the sequences, as a mean over the heads of a choice. The time of some methods depends on
/// the head (docs/choose.md), so random tokens of its shape may take another.
///
/// It is for inputs with one sequence. With several, costs that depend on one of them would make the candidates
/// depend on the data that certify them. Draws of the timed calls are not those of choose().
///
/// A candidate of which two calls on a head take more than 20 ms each, and more than twice what it may cost, has the
/// shorter of the two as its cost: it is not used. One that fails on a head is left to fail in choose(): its cost is
/// what its flops take at the rate of exact attention.
/// Cost: some ten calls of each candidate and of exact attention on each head, or 20 ms of calls if that is more.
/// Returns: nothing if hooks.go_on returned false.
/// Throws: std::invalid_argument unless there is one sequence, and if the heads of a choice have different shapes; also
///   as CandidateLadders::number_of.
template <typename T>
std::optional<CandidateLadders> timed_on_heads(const CandidateLadders& in_flops, const ChoiceInputs& inputs,
                                               const ChoiceSettings& settings, const TimingHooks& hooks = {},
                                               std::uint64_t repeats = 5);

/// With costs in seconds of random tokens: the time of a candidate on these heads themselves, numbers of
/// inputs.heads, over the time on random tokens of their size; a mean over the heads. It is measured on the first
/// sequence with heads of the shape that was timed; NaN if there is none, or if a call fails there.
template <typename T>
double time_ratio_on_heads(const ChoiceCandidate& candidate, const std::vector<std::size_t>& heads,
                           const ChoiceInputs& inputs, const CandidateLadders& candidates, std::uint64_t repeats = 5);

}  // namespace croquis
