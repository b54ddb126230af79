// Heads, candidates and settings for the tests of choices.
#pragma once

#include <doctest/doctest.h>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/measure/choice_candidates.hpp>
#include <croquis/measure/choose.hpp>

#include <string>
#include <vector>

inline constexpr arma::uword kChoiceTokens = 96, kChoiceWidth = 8;

/// Clustered heads, sharper with their number, on sequences that differ.
inline croquis::Problem<double> choice_head(std::size_t sequence, std::size_t head) {
  return croquis::clustered_input(croquis::Key(5).child(sequence).child(head),
                                  {.n = kChoiceTokens, .p = kChoiceWidth, .norm = 2.0 + static_cast<double>(head)},
                                  {.clusters = 12});
}

inline croquis::ChoiceInputs choice_inputs(std::size_t sequences, std::size_t heads) {
  croquis::ChoiceInputs inputs;
  inputs.name = "clusters";
  for (std::size_t h = 0; h < heads; ++h) {
    inputs.heads.push_back(
        {"clusters;layer=" + std::to_string(h / 2) + ";head=" + std::to_string(h % 2), h / 2, h % 2});
  }
  for (std::size_t s = 0; s < sequences; ++s) inputs.sequences.push_back(s + 10);
  inputs.problem = choice_head;
  inputs.shape = [](std::size_t, std::size_t) {
    return croquis::HeadShape{kChoiceTokens, kChoiceTokens, kChoiceWidth, kChoiceWidth};
  };
  return inputs;
}

inline croquis::CandidateLadders choice_ladders(const std::string& methods, const std::vector<arma::uword>& features) {
  return croquis::choice_candidates<double>(croquis::parse_methods(methods), features,
                                            {{kChoiceTokens, kChoiceTokens, kChoiceWidth, kChoiceWidth}}, {},
                                            croquis::CostUnit::flops);
}

/// Cheap enough, so that the number of tokens does not decide.
inline croquis::ChoiceSettings choice_settings(double epsilon) {
  croquis::ChoiceSettings settings;
  settings.epsilon = epsilon;
  settings.delta = 0.2;
  settings.max_cost = 1000;
  settings.draws = 400;
  return settings;
}

inline std::vector<croquis::ChoiceDraw> choice_draws(const croquis::ChoiceInputs& inputs,
                                                     const croquis::CandidateLadders& ladders,
                                                     const croquis::ChoiceSettings& settings,
                                                     std::vector<croquis::ChoiceRow>* rows = nullptr) {
  std::vector<croquis::ChoiceDraw> draws;
  croquis::ChoiceHooks hooks;
  hooks.made = [&](const croquis::ChoiceDraw& draw) { draws.push_back(draw); };
  const auto answer = croquis::choose<double>(inputs, ladders, settings, croquis::Key(1), hooks);
  REQUIRE(answer);
  if (rows != nullptr) *rows = *answer;
  return draws;
}
