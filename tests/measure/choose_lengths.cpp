// Choices on sequences of different lengths, on some of which a candidate is exact attention.
#include <doctest/doctest.h>
#include <croquis/measure/choice_candidates.hpp>
#include <croquis/measure/choose.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "measure/clustered_choice.hpp"

using namespace croquis;

TEST_CASE("choose: candidates and their price do not depend on the lengths of the sequences") {
  // Sequences of 24 and of 96 tokens; the last one alone is short, or all but the first.
  const HeadShape whole{kChoiceTokens, kChoiceTokens, kChoiceWidth, kChoiceWidth},
      part{24, 24, kChoiceWidth, kChoiceWidth};
  const CandidateLadders ladders = choice_candidates<double>(parse_methods("nystromformer,linformer"), {4, 32, 128},
                                                             {whole, part}, {}, CostUnit::flops);
  ChoiceSettings settings = choice_settings(1e9);
  settings.draws = 1;
  const double exact_ratio = ladders.exact_costs[1] / ladders.exact_costs[0];
  for (const std::size_t longs : {std::size_t{1}, std::size_t{39}}) {
    CAPTURE(longs);
    ChoiceInputs inputs = choice_inputs(40, 1);
    inputs.shape = [&](std::size_t s, std::size_t) { return s < longs ? whole : part; };
    inputs.problem = [&](std::size_t s, std::size_t h) {
      const Problem<double> head = choice_head(s, h);
      const arma::uword n = inputs.shape(s, h).n_k;
      return Problem<double>(head.Q().head_rows(n), head.K().head_rows(n), head.V().head_rows(n));
    };
    std::vector<ChoiceRow> rows;
    std::map<std::pair<std::string, std::uint64_t>, std::size_t> seen;
    std::size_t exact = 0;
    for (const ChoiceDraw& draw : choice_draws(inputs, ladders, settings, &rows)) {
      ++seen[{draw.method, draw.features}];
      const bool is_short = draw.sequence >= 10 + longs;
      const bool is_exact = draw.features == 32 && is_short;  // d is more than 24
      CHECK((draw.status == "exact") == is_exact);
      if (!is_exact) continue;
      ++exact;
      CHECK(draw.error == 0);
      CHECK(draw.cost_ratio == 1);
    }
    CHECK(exact > 0);
    // Nothing fails, so all are certified after as many sequences as two ladders need; 128 suits no sequence.
    CHECK(seen.size() == 4);
    for (const auto& [candidate, count] : seen) CHECK(count == units_to_certify(settings, 2));
    const ChoiceRow& row = rows.front();
    CHECK(row.evaluations == seen.size() * units_to_certify(settings, 2));  // those of exact attention too
    CHECK(row.status == "chosen");
    CHECK(row.features == 4);
    CHECK(row.flops_limit == settings.max_cost);
    CHECK(row.heads == 1);
    const double share = static_cast<double>(longs) / 40;
    CHECK(row.exact_cost == doctest::Approx(ladders.exact_costs[0] * (share + (1 - share) * exact_ratio)));
    const auto ratios = candidate_cost_ratios(inputs, ladders, settings.max_cost);
    for (std::size_t l = 0; l < ratios.size(); ++l) {
      for (std::size_t j = 0; j < ratios[l].size(); ++j) {
        const ChoiceCandidate& c = ladders.ladders[l][j];
        const double on_short = c.features == 32 ? ladders.exact_costs[1] : c.costs[1];
        CHECK(ratios[l][j] * row.exact_cost == doctest::Approx(share * c.costs[0] + (1 - share) * on_short));
        if (c.choice.name == row.method && c.features == row.features) {
          CHECK(ratios[l][j] == doctest::Approx(row.cost_ratio));
        }
      }
    }
  }
}

TEST_CASE(
    "choose: an earlier evaluation is current where its candidate is used, or is exact attention, as it was then") {
  ChoiceInputs inputs = choice_inputs(2, 1);
  const HeadShape shapes[] = {{48, 48, kChoiceWidth, kChoiceWidth}, {960, 960, kChoiceWidth, kChoiceWidth}};
  inputs.shape = [&](std::size_t s, std::size_t) { return shapes[s]; };
  const CandidateLadders candidates =
      choice_candidates<double>(parse_methods("skeinformer"), {40}, {shapes[0], shapes[1]}, {}, CostUnit::flops);
  ChoiceDraw draw;
  draw.input = inputs.heads[0].input;
  draw.method = "skeinformer";
  draw.preset = "paper";
  draw.features = 40;
  for (const auto& [sequence, status, current] :
       {std::tuple(0U, "ok", false), std::tuple(0U, "exact", true), std::tuple(1U, "ok", true),
        std::tuple(1U, "exact", false), std::tuple(1U, "not finite", true)}) {
    draw.sequence = inputs.sequences[sequence];
    draw.status = status;
    CHECK(is_current(draw, inputs, candidates, 1) == current);
  }
  draw.features = 41;
  CHECK_FALSE(is_current(draw, inputs, candidates, 1));
}
