// Which candidate is chosen, and with what evidence.
#include <doctest/doctest.h>
#include <croquis/measure/choose.hpp>
#include <croquis/measure/method_errors.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "measure/clustered_choice.hpp"

using namespace croquis;

TEST_CASE("choose: of a method without randomness on one sequence, the fewest features that are good enough") {
  const std::vector<arma::uword> features = {4, 8, 16, 32, 96};
  const ChoiceInputs inputs = choice_inputs(1, 3);
  const CandidateLadders ladders = choice_ladders("nystromformer", features);
  for (const double epsilon : {0.01, 0.2, 0.6}) {
    const auto rows = choose<double>(inputs, ladders, choice_settings(epsilon), Key(1));
    REQUIRE(rows);
    for (std::size_t h = 0; h < 3; ++h) {
      // The plain way: all errors, and the smallest d with one that is small enough, whatever larger ones have.
      const auto all = method_errors(choice_head(0, h), parse_methods("nystromformer"), features, 1, Key(2));
      std::uint64_t expected = 0;
      for (const ErrorRow& row : all) {
        if (expected == 0 && row.frobenius_rel <= epsilon) expected = row.features;
      }
      CAPTURE(epsilon);
      CAPTURE(h);
      CHECK((*rows)[h].features == expected);
      CHECK((*rows)[h].status == (expected == 0 ? "exact" : "chosen"));
      if (expected > 0) CHECK((*rows)[h].failure_upper == 0);
    }
  }
}

TEST_CASE("choose: errors just above epsilon are not chosen because of a lucky sample of rows") {
  // Of v-mean, which draws nothing: the error is known. If the interval from 32 of 96 rows had the coverage 1/2 alone,
  // a draw would fail with probability 1/2 > delta = .2, and some head would be chosen with probability 1e-6 at most.
  constexpr std::size_t heads = 40;
  const CandidateLadders ladders = choice_ladders("v-mean", {8});
  for (std::size_t h = 0; h < heads; ++h) {
    const auto exact = method_errors(choice_head(h, 0), parse_methods("v-mean"), {8}, 1, Key(2));
    ChoiceInputs alone = choice_inputs(1, 1);
    alone.problem = [h](std::size_t, std::size_t) { return choice_head(h, 0); };
    ChoiceSettings settings = choice_settings(exact.front().frobenius_rel * 0.999);
    settings.confidence = 1 - 1e-6 / heads;
    settings.rows = 32;
    CAPTURE(h);
    CHECK(choose<double>(alone, ladders, settings, Key(3))->front().status != "chosen");
  }
}

TEST_CASE("choose: it is good enough on new draws, and near the cheapest that is") {
  // One head, methods of several ladders. "Really good enough" is judged on 300 draws that the choice did not see; the
  // share of failures of the chosen candidate is below delta, up to 5 standard errors.
  const ChoiceInputs inputs = choice_inputs(1, 1);
  const std::vector<arma::uword> features = {8, 16, 32, 64};
  const std::string methods = "skyformer-softmax,skeinformer,performer,v-mean";
  const CandidateLadders ladders = choice_ladders(methods, features);
  const ChoiceSettings settings = choice_settings(0.35);
  const auto rows = choose<double>(inputs, ladders, settings, Key(1));
  REQUIRE(rows);
  const ChoiceRow& row = rows->front();
  REQUIRE(row.status == "chosen");
  constexpr std::uint64_t fresh = 300;
  double cheapest = std::numeric_limits<double>::infinity(), rate_of_chosen = 1;
  for (const auto& ladder : ladders.ladders) {
    for (const ChoiceCandidate& candidate : ladder) {
      const auto errors = method_errors(choice_head(0, 0), {candidate.choice}, {candidate.features}, fresh, Key(77));
      const auto failed = std::count_if(errors.begin(), errors.end(),
                                        [&](const ErrorRow& e) { return !(e.frobenius_rel <= settings.epsilon); });
      const double rate = static_cast<double>(failed) / static_cast<double>(errors.size());
      if (rate <= settings.delta / 2) cheapest = std::min(cheapest, candidate.costs.front());
      if (candidate.choice.name == row.method && candidate.features == row.features) rate_of_chosen = rate;
    }
  }
  CHECK(rate_of_chosen <= settings.delta + 5 * std::sqrt(settings.delta * (1 - settings.delta) / fresh));
  CHECK(row.cost <= cheapest);
  CHECK(row.failure_upper <= settings.delta);
  CHECK(row.error_median <= settings.epsilon);
}

TEST_CASE("choose: too few sequences certify nothing, and it says how many more it takes") {
  const ChoiceInputs inputs = choice_inputs(3, 1);
  ChoiceSettings settings = choice_settings(10);
  settings.draws = 1;
  const auto rows = choose<double>(inputs, choice_ladders("skyformer-softmax", {32}), settings, Key(1));
  CHECK(rows->front().status == "undecided");
  CHECK(rows->front().method == "skyformer-softmax");
  CHECK(rows->front().sequences == 3);
  REQUIRE(rows->front().needed);
  CHECK(*rows->front().needed + 3 == units_to_certify(settings, 1));
  CHECK(rows->front().failure_upper > settings.delta);
  // With v-mean beside it, on one sequence: that is not random, and is known.
  const auto known = choose<double>(choice_inputs(1, 1), choice_ladders("v-mean", {32}), settings, Key(1));
  CHECK(known->front().status == "chosen");
  CHECK(known->front().draws == 1);
}

TEST_CASE("choose: on several sequences more draws on each are no more evidence about other sequences") {
  const ChoiceInputs inputs = choice_inputs(12, 1);
  const CandidateLadders ladders = choice_ladders("skyformer-softmax", {8});
  ChoiceSettings settings = choice_settings(100);  // nothing fails
  settings.delta = 0.05;                           // which takes more than 12 sequences
  settings.draws = 1;
  const ChoiceRow once = choose<double>(inputs, ladders, settings, Key(1))->front();
  settings.draws = 2;
  const ChoiceRow twice = choose<double>(inputs, ladders, settings, Key(1))->front();
  CHECK(once.status == "undecided");
  CHECK(twice.status == "undecided");
  CHECK(twice.failure_upper == once.failure_upper);
  CHECK(twice.needed == once.needed);
  CHECK(twice.evaluations == 2 * once.evaluations);
}

TEST_CASE("choose: a method that fails is not good enough") {
  // Linformer on queries so long that nothing is finite is a failure, not an error of 0.
  ChoiceInputs inputs = choice_inputs(1, 1);
  inputs.problem = [](std::size_t, std::size_t) {
    const Problem<double> p = choice_head(0, 0);
    return Problem<double>(p.Q(), p.K(), arma::mat(kChoiceTokens, kChoiceWidth, arma::fill::zeros));
  };
  // The relative error of a zero output is undefined.
  const auto rows =
      choose<double>(inputs, choice_ladders("v-mean,skyformer-softmax", {16}), choice_settings(100), Key(1));
  CHECK(rows->front().status == "exact");
}

TEST_CASE("choose: every answer has the target that the errors of its candidates are against") {
  const CandidateLadders ladders = choice_ladders("skyformer", {8});
  ChoiceSettings settings = choice_settings(100);  // nothing fails
  const auto answer = [&](std::size_t sequences) {
    return choose<double>(choice_inputs(sequences, 1), ladders, settings, Key(1))->front();
  };
  std::vector<ChoiceRow> rows = {answer(1), answer(3)};
  settings.epsilon = 1e-9;
  rows.push_back(answer(1));
  settings.max_cost = 1e-9;  // no candidate is cheap enough
  rows.push_back(answer(1));
  const char* const statuses[] = {"chosen", "undecided", "exact", "exact"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    CHECK(rows[i].status == statuses[i]);
    CHECK(rows[i].target == "kernelized");
  }
}
