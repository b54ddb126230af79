#include <algorithm>
#include <croquis/attention/problem_precision.hpp>
#include <croquis/core/require.hpp>
#include <croquis/measure/choice_groups.hpp>
#include <croquis/measure/choice_seconds.hpp>
#include <croquis/measure/cost.hpp>
#include <stdexcept>
#include <vector>

namespace croquis {
namespace {

// The seconds of a candidate on a head; `exact` and `exact_flops` are those of exact attention there. What computes
// exact attention costs as much, whatever the clock says.
template <typename T>
double candidate_seconds(const Problem<T>& head, const ChoiceCandidate& candidate, double candidate_flops, double exact,
                         double exact_flops, double max_cost, std::uint64_t repeats) {
  if (candidate_flops == exact_flops) return exact;
  const CostCandidate timed{.choice = candidate.choice};
  const auto twice = call_costs(head, timed, candidate.features, Key(1), {.repeats = 2, .warmup = 1});
  if (twice.front().status != "ok") return candidate_flops / exact_flops * exact;
  const double seconds = std::min(twice[0].seconds, twice[1].seconds);
  constexpr double long_call = 0.02;  // s; of two such calls an interruption by other work does not double both
  if (seconds > std::max(long_call, 2 * max_cost * exact)) return seconds;
  return call_seconds(head, timed, candidate.features, repeats);
}

// Adds the seconds of one head of a choice, with the share that it has in the mean, to those of entry g.
template <typename T>
void add_seconds(const Problem<T>& head, double share, std::size_t g, const CandidateLadders& in_flops, std::size_t s,
                 double max_cost, std::uint64_t repeats, CandidateLadders& timed) {
  const double exact = call_seconds(head, exact_candidate(in_flops.target), 0, repeats);
  timed.exact_costs[g] += share * exact;
  for (std::size_t l = 0; l < in_flops.ladders.size(); ++l) {
    for (std::size_t j = 0; j < in_flops.ladders[l].size(); ++j) {
      const ChoiceCandidate& candidate = in_flops.ladders[l][j];
      timed.ladders[l][j].costs[g] += share * candidate_seconds(head, candidate, candidate.costs[s], exact,
                                                                in_flops.exact_costs[s], max_cost, repeats);
    }
  }
}

}  // namespace

template <typename T>
std::optional<CandidateLadders> timed_on_heads(const CandidateLadders& in_flops, const ChoiceInputs& inputs,
                                               const ChoiceSettings& settings, const TimingHooks& hooks,
                                               std::uint64_t repeats) {
  constexpr const char* where = "timed_on_heads";
  require(inputs.sequences.size() == 1, where, "one sequence", {{"sequences", inputs.sequences.size()}});
  const std::vector<ChoiceGroup> groups = grouped_heads(inputs, settings.per);
  const auto is_wanted = [&](const ChoiceGroup& group) { return !hooks.wanted || hooks.wanted(group.input); };

  CandidateLadders timed = in_flops;
  timed.shapes.clear();
  timed.shape_of_head.resize(inputs.heads.size());
  std::vector<std::size_t> in_flops_of;  // of each choice
  std::uint64_t heads = 0, done = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const HeadShape shape = inputs.shape(0, groups[g].heads.front());
    for (const std::size_t h : groups[g].heads) {
      require(inputs.shape(0, h) == shape, where, "heads of one shape for each choice");
      timed.shape_of_head[h] = g;
    }
    timed.shapes.push_back(shape);
    in_flops_of.push_back(in_flops.number_of(shape));
    if (is_wanted(groups[g])) heads += groups[g].heads.size();
  }
  const auto begin = [&](std::vector<double>& costs) {
    costs.clear();
    for (const ChoiceGroup& group : groups) costs.push_back(is_wanted(group) ? 0 : ChoiceRow::kUndefined);
  };
  begin(timed.exact_costs);
  for (auto& ladder : timed.ladders) {
    for (ChoiceCandidate& candidate : ladder) begin(candidate.costs);
  }

  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!is_wanted(groups[g])) continue;
    for (const std::size_t h : groups[g].heads) {
      if (hooks.go_on && !hooks.go_on(done++, heads)) return {};
      add_seconds(in_precision<T>(inputs.problem(0, h)), 1 / static_cast<double>(groups[g].heads.size()), g, in_flops,
                  in_flops_of[g], settings.max_cost, repeats, timed);
    }
  }
  const auto rates = [&](const std::vector<double>& seconds, const std::vector<double>& flops) {
    std::vector<double> result;
    for (std::size_t g = 0; g < groups.size(); ++g) result.push_back(seconds[g] / flops[in_flops_of[g]]);
    return result;
  };
  timed.exact_rates = rates(timed.exact_costs, in_flops.exact_costs);
  for (std::size_t l = 0; l < timed.ladders.size(); ++l) {
    for (std::size_t j = 0; j < timed.ladders[l].size(); ++j) {
      timed.ladders[l][j].rates = rates(timed.ladders[l][j].costs, in_flops.ladders[l][j].costs);
    }
  }
  return timed;
}

template <typename T>
double time_ratio_on_heads(const ChoiceCandidate& candidate, const std::vector<std::size_t>& heads,
                           const ChoiceInputs& inputs, const CandidateLadders& candidates, std::uint64_t repeats) {
  const std::size_t timed = candidates.timed_shape(candidate.costs);
  for (std::size_t s = 0; s < inputs.sequences.size(); ++s) {
    if (inputs.shape(s, heads.front()) != candidates.shapes[timed]) continue;
    double seconds = 0;
    for (const std::size_t h : heads) {
      try {
        seconds += call_seconds(in_precision<T>(inputs.problem(s, h)), {.choice = candidate.choice}, candidate.features,
                                repeats);
      } catch (const std::runtime_error&) {
        return ChoiceRow::kUndefined;
      }
    }
    return seconds / static_cast<double>(heads.size()) / candidate.costs[timed];
  }
  return ChoiceRow::kUndefined;
}

template double time_ratio_on_heads<float>(const ChoiceCandidate&, const std::vector<std::size_t>&, const ChoiceInputs&,
                                           const CandidateLadders&, std::uint64_t);
template double time_ratio_on_heads<double>(const ChoiceCandidate&, const std::vector<std::size_t>&,
                                            const ChoiceInputs&, const CandidateLadders&, std::uint64_t);
template std::optional<CandidateLadders> timed_on_heads<float>(const CandidateLadders&, const ChoiceInputs&,
                                                               const ChoiceSettings&, const TimingHooks&,
                                                               std::uint64_t);
template std::optional<CandidateLadders> timed_on_heads<double>(const CandidateLadders&, const ChoiceInputs&,
                                                                const ChoiceSettings&, const TimingHooks&,
                                                                std::uint64_t);

}  // namespace croquis
