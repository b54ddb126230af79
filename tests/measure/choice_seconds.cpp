// Costs in seconds of the heads themselves. How long a call takes is not tested, but what it is of.
#include <doctest/doctest.h>
#include <croquis/measure/choice_seconds.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "measure/clustered_choice.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

ChoiceSettings in_seconds(ChoicePer per) {
  ChoiceSettings settings = choice_settings(10);
  settings.per = per;
  settings.cost = CostUnit::seconds;
  return settings;
}

}  // namespace

TEST_CASE("choice seconds: each head is timed once, and the heads of a choice have the costs of the choice") {
  const CandidateLadders flops = choice_ladders("v-mean,skyformer-softmax", {16, 64});
  for (const auto& [per, choices] :
       {std::pair(ChoicePer::head, 4U), std::pair(ChoicePer::layer, 2U), std::pair(ChoicePer::model, 1U)}) {
    CAPTURE_BINDING(choices);
    ChoiceInputs inputs = choice_inputs(1, 4);
    std::map<std::size_t, std::size_t> read;
    inputs.problem = [&](std::size_t s, std::size_t h) {
      ++read[h];
      return choice_head(s, h);
    };
    std::vector<std::pair<std::uint64_t, std::uint64_t>> progress;
    const ChoiceSettings settings = in_seconds(per);
    const auto timed = timed_on_heads<double>(flops, inputs, settings,
                                              {.go_on =
                                                   [&](std::uint64_t done, std::uint64_t of) {
                                                     progress.emplace_back(done, of);
                                                     return true;
                                                   },
                                               .wanted = {}},
                                              3);
    REQUIRE(timed);
    CHECK(read == std::map<std::size_t, std::size_t>{{0, 1}, {1, 1}, {2, 1}, {3, 1}});
    CHECK(progress == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 4}, {1, 4}, {2, 4}, {3, 4}});
    REQUIRE(timed->exact_costs.size() == choices);
    for (std::size_t h = 0; h < 4; ++h) {
      CHECK(timed->number_of(inputs.shape(0, h), h) == h * choices / 4);
    }
    for (std::size_t g = 0; g < choices; ++g) {
      CHECK(timed->exact_costs[g] > 0);
      CHECK(timed->exact_costs[g] / timed->exact_rates[g] == doctest::Approx(flops.exact_costs[0]).epsilon(1e-12));
      for (std::size_t l = 0; l < 2; ++l) {
        for (std::size_t j = 0; j < timed->ladders[l].size(); ++j) {
          const ChoiceCandidate& candidate = timed->ladders[l][j];
          CHECK(candidate.costs[g] > 0);
          CHECK(candidate.costs[g] / candidate.rates[g] ==
                doctest::Approx(flops.ladders[l][j].costs[0]).epsilon(1e-12));
        }
      }
    }
    // The rule by flops of an answer is the rule by its own cost.
    const auto rows = choose<double>(inputs, *timed, settings, Key(1));
    for (const ChoiceRow& row : *rows) {
      REQUIRE(row.status == "chosen");
      double chosen = 0;
      for (const auto& ladder : flops.ladders) {
        for (const ChoiceCandidate& c : ladder) {
          if (c.choice.name == row.method && c.features == row.features) chosen = c.costs[0] / flops.exact_costs[0];
        }
      }
      CHECK(row.flops_limit / chosen == doctest::Approx(settings.max_cost / row.cost_ratio).epsilon(1e-12));
    }
  }
}

TEST_CASE("choice seconds: what computes exact attention has its cost, not another measurement of it") {
  const CandidateLadders flops = choice_ladders("kriged-coreset", {64});
  REQUIRE(flops.ladders.front().front().costs == flops.exact_costs);
  const auto timed = timed_on_heads<double>(flops, choice_inputs(1, 4), in_seconds(ChoicePer::head), {}, 3);
  REQUIRE(timed);
  CHECK(timed->ladders.front().front().costs == timed->exact_costs);
}

TEST_CASE("choice seconds: the cost of a choice is that of all of its heads") {
  const CandidateLadders flops = choice_ladders("v-mean", {16});
  const ChoiceInputs inputs = choice_inputs(1, 4);
  const ChoiceSettings settings = in_seconds(ChoicePer::model);
  const auto timed = timed_on_heads<double>(flops, inputs, settings, {}, 3);
  REQUIRE(timed);
  const std::vector<ChoiceRow> rows = *choose<double>(inputs, *timed, settings, Key(1));
  const ChoiceRow& row = rows.front();
  CHECK(row.exact_cost == doctest::Approx(4 * timed->exact_costs[0]).epsilon(1e-12));
  CHECK(row.cost == doctest::Approx(4 * timed->ladders[0][0].costs[0]).epsilon(1e-12));
  CHECK(candidate_cost_ratios(inputs, *timed, 1e9)[0][0] == doctest::Approx(row.cost_ratio).epsilon(1e-12));
}

TEST_CASE("choice seconds: a choice that is not wanted is not timed, and timing can be stopped") {
  const CandidateLadders flops = choice_ladders("v-mean", {16});
  ChoiceInputs inputs = choice_inputs(1, 4);
  inputs.problem = [](std::size_t s, std::size_t h) {
    CHECK(h == 2);
    return choice_head(s, h);
  };
  TimingHooks hooks;
  hooks.wanted = [](const std::string& input) { return input == "clusters;layer=1;head=0"; };
  const ChoiceSettings settings = in_seconds(ChoicePer::head);
  const auto timed = timed_on_heads<double>(flops, inputs, settings, hooks, 3);
  REQUIRE(timed);
  for (std::size_t g = 0; g < 4; ++g) {
    CHECK(std::isnan(timed->exact_costs[g]) == (g != 2));
    CHECK(std::isnan(timed->ladders[0][0].costs[g]) == (g != 2));
    CHECK(timed->is_used(timed->ladders[0][0], g, 1e9) == (g == 2));
  }
  // The choice that is wanted is made as it is among all.
  ChoiceHooks making;
  making.wanted = hooks.wanted;
  const auto rows = choose<double>(inputs, *timed, settings, Key(1), making);
  REQUIRE(rows->size() == 1);
  CHECK(rows->front().status == "chosen");
  CHECK(rows->front().exact_cost == timed->exact_costs[2]);
  CHECK(rows->front().cost_ratio == timed->ladders[0][0].costs[2] / timed->exact_costs[2]);
  hooks.go_on = [](std::uint64_t, std::uint64_t) { return false; };
  CHECK_FALSE(timed_on_heads<double>(flops, inputs, settings, hooks, 3));
}

TEST_CASE("choice seconds: what fails on a head costs what its flops take at the rate of exact attention") {
  CandidateLadders flops = choice_ladders("nystromformer", {16});
  flops.ladders[0][0].features = kChoiceTokens + 1;  // more than it takes
  flops.ladders[0][0].costs[0] = flops.exact_costs[0] / 8;
  const auto timed = timed_on_heads<double>(flops, choice_inputs(1, 1), in_seconds(ChoicePer::head), {}, 3);
  REQUIRE(timed);
  CHECK(timed->ladders[0][0].costs[0] == doctest::Approx(timed->exact_costs[0] / 8).epsilon(1e-12));
}

TEST_CASE("choice seconds: several sequences, and heads of several shapes in one choice, are refused") {
  const CandidateLadders flops = choice_ladders("v-mean", {16});
  const auto refused = [&](const ChoiceInputs& inputs) {
    return refusal([&] { timed_on_heads<double>(flops, inputs, in_seconds(ChoicePer::model)); });
  };
  CHECK(contains(refused(choice_inputs(2, 1)), "one sequence, got sequences = 2"));
  ChoiceInputs inputs = choice_inputs(1, 2);
  inputs.shape = [](std::size_t, std::size_t h) {
    return HeadShape{kChoiceTokens, kChoiceTokens, kChoiceWidth, kChoiceWidth - h};
  };
  CHECK(contains(refused(inputs), "heads of one shape for each choice"));
}

TEST_CASE("choice seconds: with several sequences the chosen method is timed on heads of the timed length, after all") {
  const HeadShape whole{kChoiceTokens, kChoiceTokens, kChoiceWidth, kChoiceWidth},
      part{24, 24, kChoiceWidth, kChoiceWidth};
  ChoiceInputs inputs = choice_inputs(20, 2);
  // Of two shapes the longer one is timed; the first sequence is short.
  inputs.shape = [&](std::size_t s, std::size_t) { return s == 0 ? part : whole; };
  std::vector<std::pair<std::size_t, std::size_t>> read;
  inputs.problem = [&](std::size_t s, std::size_t h) {
    read.emplace_back(s, h);
    const Problem<double> head = choice_head(s, h);
    const arma::uword n = inputs.shape(s, h).n_k;
    return Problem<double>(head.Q().head_rows(n), head.K().head_rows(n), head.V().head_rows(n));
  };
  const CandidateLadders ladders =
      choice_candidates<double>(parse_methods("v-mean"), {16}, {whole, part}, {}, CostUnit::seconds, 3);
  ChoiceSettings settings = in_seconds(ChoicePer::model);
  settings.draws = 1;
  const std::vector<ChoiceRow> rows = *choose<double>(inputs, ladders, settings, Key(1));
  REQUIRE(rows.size() == 1);
  REQUIRE(rows[0].status == "chosen");
  CHECK(rows[0].time_ratio > 0);
  REQUIRE(read.size() > 2);
  CHECK(std::vector(read.end() - 2, read.end()) == std::vector<std::pair<std::size_t, std::size_t>>{{1, 0}, {1, 1}});
  // In flops there is none, nor with one sequence, nor of what fails.
  settings.cost = CostUnit::flops;
  const CandidateLadders flops =
      choice_candidates<double>(parse_methods("v-mean"), {16}, {whole, part}, {}, CostUnit::flops);
  CHECK(std::isnan(choose<double>(inputs, flops, settings, Key(1))->front().time_ratio));
  ChoiceCandidate failing = ladders.ladders[0][0];
  failing.choice = parse_methods("nystromformer").front();
  failing.features = kChoiceTokens + 1;
  CHECK(std::isnan(time_ratio_on_heads<double>(failing, {0}, inputs, ladders, 3)));
  CHECK(time_ratio_on_heads<double>(ladders.ladders[0][0], {0, 1}, inputs, ladders, 3) > 0);
  failing.costs = {std::numeric_limits<double>::infinity(), 1};  // the short one alone: that sequence 0 has
  read.clear();
  CHECK(std::isnan(time_ratio_on_heads<double>(failing, {0}, inputs, ladders, 3)));
  CHECK(read == std::vector<std::pair<std::size_t, std::size_t>>{{0, 0}});
}
