// Choices for each head, each layer and the whole model, and some of them alone.
#include <doctest/doctest.h>
#include <croquis/measure/choose.hpp>
#include <croquis/measure/cost.hpp>

#include <string>
#include <vector>

#include "measure/clustered_choice.hpp"

using namespace croquis;

TEST_CASE("choose: one choice for each head, each layer or the model, which share the error probability") {
  const ChoiceInputs inputs = choice_inputs(40, 4);
  const CandidateLadders ladders = choice_ladders("v-mean,skyformer-softmax", {16, 64});
  ChoiceSettings settings = choice_settings(10);  // all is good enough
  settings.draws = 1;
  const auto rows = [&](ChoicePer per) {
    settings.per = per;
    return *choose<double>(inputs, ladders, settings, Key(1));
  };
  const auto heads = rows(ChoicePer::head), layers = rows(ChoicePer::layer), model = rows(ChoicePer::model);
  REQUIRE(heads.size() == 4);
  REQUIRE(layers.size() == 2);
  REQUIRE(model.size() == 1);
  CHECK(layers[1].input == "clusters;layer=1");
  CHECK(model[0].input == "clusters");
  CHECK_FALSE(model[0].layer);
  for (const ChoiceRow& row : {heads[0], layers[0], model[0]}) {
    CHECK(row.method == "v-mean");
    CHECK(row.status == "chosen");
  }
  // A choice for four heads costs four times as much, and needs fewer sequences than four choices.
  CHECK(model[0].cost == doctest::Approx(4 * heads[0].cost));
  CHECK(model[0].exact_cost ==
        doctest::Approx(4 * exact_flops({kChoiceTokens, kChoiceTokens}, kChoiceWidth, kChoiceWidth, false)));
  CHECK(model[0].cost_ratio == doctest::Approx(heads[0].cost_ratio));
  CHECK(heads[0].sequences == units_to_certify(settings, 8));
  CHECK(layers[0].sequences == units_to_certify(settings, 4));
  CHECK(model[0].sequences == units_to_certify(settings, 2));
}

TEST_CASE("choose: choices that are not wanted are not evaluated, and the others are the same without them") {
  for (const std::size_t sequences : {std::size_t(1), std::size_t(12)}) {
    const ChoiceInputs inputs = choice_inputs(sequences, 3);
    const CandidateLadders ladders = choice_ladders("skyformer-softmax,skeinformer", {8, 32});
    const ChoiceSettings settings = choice_settings(0.4);
    const auto record = [](const ChoiceRow& row) {
      std::vector<std::string> text;
      for (const Value& value : choice_columns().record(row)) text.push_back(text_of(value));
      return text;
    };
    const std::vector<ChoiceRow> all = *choose<double>(inputs, ladders, settings, Key(1));
    REQUIRE(all.size() == 3);
    for (const ChoiceRow& row : all) {
      CAPTURE(row.input);
      ChoiceHooks hooks;
      std::size_t others = 0;
      hooks.wanted = [&](const std::string& input) { return input == row.input; };
      hooks.made = [&](const ChoiceDraw& draw) { others += draw.input != row.input ? 1 : 0; };
      const std::vector<ChoiceRow> one = *choose<double>(inputs, ladders, settings, Key(1), hooks);
      REQUIRE(one.size() == 1);
      CHECK(record(one.front()) == record(row));
      CHECK(others == 0);
    }
  }
}
