// Settings and inputs of which there is no choice.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/measure/choice_candidates.hpp>
#include <croquis/measure/choose.hpp>
#include <croquis/measure/cost.hpp>

#include <functional>

#include "measure/clustered_choice.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE("choose: settings outside their ranges are refused") {
  const ChoiceInputs inputs = choice_inputs(1, 1);
  const CandidateLadders ladders = choice_ladders("v-mean", {8});
  const auto refused = [&](const std::function<void(ChoiceSettings&)>& change) {
    ChoiceSettings settings = choice_settings(0.1);
    change(settings);
    return refusal([&] { choose<double>(inputs, ladders, settings, Key(1)); });
  };
  CHECK(contains(refused([](auto& s) { s.epsilon = 0; }), "epsilon > 0"));
  CHECK(contains(refused([](auto& s) { s.delta = 1; }), "0 < delta < 1"));
  CHECK(contains(refused([](auto& s) { s.confidence = 1; }), "0 < confidence < 1"));
  CHECK(contains(refused([](auto& s) { s.max_cost = 0; }), "max_cost > 0"));
  CHECK(contains(refused([](auto& s) { s.draws = 0; }), "draws >= 1"));
  CHECK(contains(refused([](auto& s) { s.rows = 3; }), "rows: 3 is none of"));
  CHECK(contains(refused([](auto& s) { s.rows = kChoiceTokens + 1; }), "to n = 96"));
  CHECK(contains(refused([](auto& s) { s.metric = "beauty"; }), "frobenius_rel"));
  CHECK(contains(refused([](auto& s) {
                   s.rows = 32;
                   s.metric = "row_rel_max";
                 }),
                 "frobenius_rel, spectral_rel, got"));
  CHECK(refusal([] { choice_per_from_name("heads"); }) == "per: is head, layer or model, got per = heads");
  CHECK(refusal([] { cost_unit_from_name("euros"); }) == "cost: is flops or seconds, got cost = euros");
}

TEST_CASE("choose: a sequence that is listed twice, and problems of another shape than stated, are refused") {
  const CandidateLadders ladders = choice_ladders("v-mean", {1});
  const auto refused = [&](const ChoiceInputs& inputs) {
    return refusal([&] { choose<double>(inputs, ladders, choice_settings(0.1), Key(1)); });
  };
  ChoiceInputs twice = choice_inputs(3, 1);
  twice.sequences[2] = twice.sequences[0];
  CHECK(contains(refused(twice), fmt::format("twice = {}", twice.sequences[0])));
  ChoiceInputs longer = choice_inputs(3, 1);
  // Twice the width of the values, and all keys but one.
  longer.problem = [before = longer.problem](std::size_t s, std::size_t h) {
    const Problem<double> problem = before(s, h);
    return Problem<double>(problem.Q(), problem.K(), arma::join_rows(problem.V(), problem.V()));
  };
  CHECK(contains(refused(longer), fmt::format("p_v = {}, stated n_q = {}", 2 * kChoiceWidth, kChoiceTokens)));
  ChoiceInputs fewer = choice_inputs(3, 1);
  fewer.problem = [before = fewer.problem](std::size_t s, std::size_t h) {
    const Problem<double> problem = before(s, h);
    return Problem<double>(problem.Q(), problem.K().tail_rows(kChoiceTokens - 1),
                           problem.V().tail_rows(kChoiceTokens - 1));
  };
  CHECK(contains(refused(fewer), fmt::format("n_k = {}, p = ", kChoiceTokens - 1)));
}

TEST_CASE("choose: a choice for each layer needs heads with layers") {
  ChoiceInputs inputs = choice_inputs(2, 1);
  inputs.heads[0].layer.reset();
  const CandidateLadders candidates = choice_candidates<double>(
      parse_methods("v-mean"), {1}, {{kChoiceTokens, kChoiceTokens, kChoiceWidth, kChoiceWidth}}, {}, CostUnit::flops);
  ChoiceSettings settings;
  settings.per = ChoicePer::layer;
  CHECK(contains(refusal([&] { choose<double>(inputs, candidates, settings, Key(1)); }), "heads with layers"));
}
