#include <doctest/doctest.h>
#include <croquis/attention/method.hpp>
#include <croquis/measure/choice_candidates.hpp>
#include <croquis/measure/cost.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE("choice candidates: their costs are flops, largest d first, and what does not fit is left out") {
  const CandidateLadders all = choice_candidates<double>(parse_methods("skyformer-softmax,v-mean"), {16, 64, 4},
                                                         {{96, 96, 8, 4}, {40, 40, 8, 4}}, {}, CostUnit::flops);
  REQUIRE(all.ladders.size() == 2);
  CHECK(all.methods == 2);
  REQUIRE(all.ladders[0].size() == 3);
  CHECK(all.ladders[0][0].features == 64);
  CHECK(std::isinf(all.ladders[0][0].costs[1]));  // 64 is more than 40
  CHECK(all.ladders[0][1].features == 16);
  CHECK(all.ladders[0][2].features == 4);
  CHECK(all.exact_costs[0] == 96.0 * 96 * (2 * 12 + 1));
  CHECK(all.ladders[0][1].costs[0] > all.ladders[0][1].costs[1]);
  // Of several, what there is must not depend on their lengths.
  CHECK(all.ladders[1].size() == 3);
  // Declared by the method for values of width 4.
  const Problem<double> head = random_problem<double>(96, 8, 4, 1, Key(1));
  CHECK(all.ladders[0][1].costs[0] == prepare(find_method<double>("skyformer-softmax"), head).flops(16));
  // Of one shape, what costs the same whatever d is has one candidate.
  const CandidateLadders alike =
      choice_candidates<double>(parse_methods("v-mean"), {16, 64, 4}, {{96, 96, 8, 8}}, {}, CostUnit::flops);
  CHECK(alike.ladders[0].size() == 1);
  CHECK(exact_flops({10, 10}, 3, 4, true) == 55 * 15);
  CHECK(exact_flops({2, 10}, 3, 4, true) == (9 + 10) * 15);
  const CandidateLadders timed =
      choice_candidates<float>(parse_methods("v-mean"), {16}, {{96, 96, 8, 4}}, {.causal = true}, CostUnit::seconds, 3);
  CHECK(timed.exact_costs[0] > 0);
  CHECK(timed.exact_costs[0] < 1);
  CHECK(timed.ladders[0][0].costs[0] > 0);
  // The rule by flops is that by cost.
  const ChoiceCandidate& mean = timed.ladders[0][0];
  const double flops = mean.costs[0] / mean.rates[0], exact = exact_flops({96, 96}, 8, 4, true);
  CHECK(timed.flops_limit(mean, 0, 0.5) * exact / flops ==
        doctest::Approx(0.5 * timed.exact_costs[0] / mean.costs[0]).epsilon(1e-12));
}

TEST_CASE("choice candidates: what computes exact attention costs what that does, in seconds too") {
  for (const CostUnit unit : {CostUnit::flops, CostUnit::seconds}) {
    const CandidateLadders candidates =
        choice_candidates<float>(parse_methods("kriged-coreset"), {48}, {{64, 64, 8, 8}, {48, 48, 8, 8}}, {}, unit, 3);
    CHECK(candidates.ladders.front().front().costs == candidates.exact_costs);
  }
}

TEST_CASE("choice candidates: fewer queries than keys, with a bias") {
  const std::vector<HeadShape> shapes = {{40, 96, 8, 4}};
  CHECK(end_of_range(shapes) == 96);
  const CandidateLadders found =
      choice_candidates<double>(parse_methods("prf-rpe"), {16}, shapes, {.bias = true}, CostUnit::flops);
  CHECK(found.exact_costs[0] == exact_flops({40, 96}, 8, 4, false));
  CHECK(found.ladders[0][0].costs[0] > 0);
}

TEST_CASE("choice candidates: methods of two targets, quadratic ones and too many features are refused") {
  const std::vector<HeadShape> shapes = {{96, 96, 8, 4}};
  const auto refused = [&](const std::string& methods, const std::vector<arma::uword>& features) {
    return refusal([&] { choice_candidates<double>(parse_methods(methods), features, shapes, {}, CostUnit::flops); });
  };
  CHECK(contains(refused("v-mean,skyformer", {8}), "two functions"));
  CHECK(contains(refused("best-rank-d", {8}), "best-rank-d computes all scores"));
  CHECK(contains(refused("v-mean,vattention:certain=oracle", {8}), "vattention (certain=oracle) computes all scores"));
  CHECK(refused("v-mean", {97, 99}) == "features: no method takes 97, 99 for heads of 96 tokens; give smaller ones");
  CHECK(contains(
      refusal([&] {
        choice_candidates<double>(parse_methods("v-mean"), {97}, {{40, 40, 8, 4}, {96, 96, 8, 4}}, {}, CostUnit::flops);
      }),
      "for heads of 96 tokens"));
  for (const MethodChoice& choice : usual_candidates(shapes, {.causal = true})) {
    CHECK_FALSE(find_method<double>(choice.name).quadratic(choice.options));
    CHECK(find_method<double>(choice.name).causal);
    CHECK(find_method<double>(choice.name).target == Target::softmax);
  }
  for (const MethodChoice& choice : usual_candidates({{5, 9, 8, 4}}, {})) {
    CHECK(find_method<double>(choice.name).rectangular(choice.options));
  }
}
