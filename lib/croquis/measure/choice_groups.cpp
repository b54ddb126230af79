#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/measure/choice_groups.hpp>
#include <croquis/stats/summary.hpp>
#include <limits>
#include <utility>

namespace croquis {

std::vector<ChoiceGroup> grouped_heads(const ChoiceInputs& inputs, ChoicePer per) {
  std::vector<ChoiceGroup> groups;
  for (std::size_t h = 0; h < inputs.heads.size(); ++h) {
    const ChoiceHead& head = inputs.heads[h];
    ChoiceGroup group;
    group.input = per == ChoicePer::head ? head.input : inputs.name;
    if (per != ChoicePer::model) group.layer = head.layer;
    if (per == ChoicePer::head) group.head = head.head;
    if (per == ChoicePer::layer && head.layer) group.input += fmt::format(";layer={}", *head.layer);
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const ChoiceGroup& g) { return g.input == group.input; });
    ChoiceGroup& place = same == groups.end() ? groups.emplace_back(std::move(group)) : *same;
    place.heads.push_back(h);
  }
  return groups;
}

namespace {

// How many heads of a group, over all sequences, have the costs of each of the shapes.
std::vector<double> counts_of_shapes(const ChoiceGroup& group, const ChoiceInputs& inputs,
                                     const CandidateLadders& candidates) {
  std::vector<double> counts(candidates.shapes.size());
  for (std::size_t s = 0; s < inputs.sequences.size(); ++s) {
    for (const std::size_t h : group.heads) ++counts[candidates.number_of(inputs.shape(s, h), h)];
  }
  return counts;
}

// Which candidates there are must not depend on the lengths of the sequences (docs/choose.md). One that is used on none
// of them is exact attention on all, and can be left out.
void add_ladders(ChoiceGroup& group, const ChoiceInputs& inputs, const CandidateLadders& candidates, double max_cost) {
  const std::vector<double> counts = counts_of_shapes(group, inputs, candidates);
  const auto sequences = static_cast<double>(inputs.sequences.size());
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0) group.exact_cost += counts[k] * candidates.exact_costs[k] / sequences;  // others may be NaN
  }
  for (const std::vector<ChoiceCandidate>& ladder : candidates.ladders) {
    std::vector<const ChoiceCandidate*> rungs;
    std::vector<double> costs;
    for (const ChoiceCandidate& candidate : ladder) {
      double cost = 0;
      bool is_used = false;
      for (std::size_t k = 0; k < counts.size(); ++k) {
        if (counts[k] == 0) continue;
        cost += counts[k] * candidates.cost_on(candidate, k, max_cost) / sequences;
        is_used = is_used || candidates.is_used(candidate, k, max_cost);
      }
      if (!is_used) continue;
      rungs.push_back(&candidate);
      costs.push_back(cost);
    }
    if (rungs.empty()) continue;
    group.errors.emplace_back(rungs.size());
    group.ladders.push_back(std::move(rungs));
    group.costs.push_back(std::move(costs));
  }
}

}  // namespace

std::vector<std::string> choice_names(const ChoiceInputs& inputs, ChoicePer per) {
  std::vector<std::string> names;
  for (const ChoiceGroup& group : grouped_heads(inputs, per)) names.push_back(group.input);
  return names;
}

std::vector<std::vector<double>> candidate_cost_ratios(const ChoiceInputs& inputs, const CandidateLadders& candidates,
                                                       double max_cost) {
  const ChoiceGroup all = grouped_heads(inputs, ChoicePer::model).front();
  const std::vector<double> counts = counts_of_shapes(all, inputs, candidates);
  double exact = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) exact += counts[k] * candidates.exact_costs[k];
  std::vector<std::vector<double>> ratios;
  for (const std::vector<ChoiceCandidate>& ladder : candidates.ladders) {
    std::vector<double> of_ladder;
    for (const ChoiceCandidate& candidate : ladder) {
      double cost = 0;
      for (std::size_t k = 0; k < counts.size(); ++k) cost += counts[k] * candidates.cost_on(candidate, k, max_cost);
      of_ladder.push_back(cost / exact);
    }
    ratios.push_back(std::move(of_ladder));
  }
  return ratios;
}

std::vector<ChoiceGroup> choice_groups(const ChoiceInputs& inputs, const CandidateLadders& candidates,
                                       const ChoiceSettings& settings) {
  std::vector<ChoiceGroup> groups = grouped_heads(inputs, settings.per);
  for (ChoiceGroup& group : groups) {
    add_ladders(group, inputs, candidates, settings.max_cost);
    group.race.emplace(group.costs, ChoiceRace::Settings{.delta = settings.delta,
                                                         .alpha = 1 - settings.confidence,
                                                         .ladders = candidates.methods * groups.size()});
  }
  return groups;
}

ChoiceRow answer_of(const ChoiceGroup& group, const ChoiceInputs& inputs, const CandidateLadders& candidates,
                    const ChoiceSettings& settings) {
  const ChoiceRace& race = *group.race;
  ChoiceRow row;
  row.input = group.input;
  row.layer = group.layer;
  row.head = group.head;
  row.eps = settings.epsilon;
  row.delta = settings.delta;
  row.confidence = settings.confidence;
  row.metric = settings.metric;
  row.method = row.status = "exact";
  row.preset = "paper";
  row.cost = row.exact_cost = group.exact_cost;
  row.cost_unit = settings.cost == CostUnit::flops ? "flops" : "seconds";
  row.target = name_of(candidates.target);
  row.evaluations = group.evaluations;
  row.heads = group.heads.size();
  row.rows = settings.rows;
  const auto winner = race.winner(), leader = race.leader();
  for (const Rung rung : race.open()) row.open += !winner || race.cost(rung) < race.cost(*winner) ? 1 : 0;
  if (const auto shown = winner ? winner : leader) {
    const ChoiceCandidate& candidate = group.candidate(*shown);
    row.status = winner ? "chosen" : "undecided";
    row.method = candidate.choice.name;
    row.preset = candidate.choice.preset;
    row.features = candidate.features;
    row.cost = race.cost(*shown);
    const std::size_t first = group.heads.front();
    row.flops_limit =
        candidates.flops_limit(candidate, candidates.number_of(inputs.shape(0, first), first), settings.max_cost);
    row.failure_upper = race.upper_limit(*shown);
    row.sequences = inputs.sequences.size() == 1 ? 1 : race.observed(*shown);
    if (!winner) row.needed = race.units_needed(*shown);
    std::vector<double> errors = group.errors[shown->ladder][shown->rung];
    row.draws = errors.size();
    for (double& error : errors) error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    std::sort(errors.begin(), errors.end());
    if (!errors.empty()) {
      row.error_median = quantile(errors, 0.5);
      row.error_q95 = quantile(errors, 0.95);
    }
  }
  row.cost_ratio = row.cost / row.exact_cost;
  return row;
}

}  // namespace croquis
