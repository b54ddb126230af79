// The errors on which a choice rests: their draws, rows, threads and order.
#include <doctest/doctest.h>
#include <croquis/measure/choose.hpp>
#include <croquis/measure/method_errors.hpp>
#include <croquis/measure/sampled_errors.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/clustered_choice.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

TEST_CASE("choose: the errors are those of the methods, with the draws that are documented") {
  const ChoiceInputs inputs = choice_inputs(3, 2);
  ChoiceSettings settings = choice_settings(100);  // nothing fails, and three sequences certify nothing
  settings.draws = 2;
  const std::vector<ChoiceDraw> draws =
      choice_draws(inputs, choice_ladders("skyformer-softmax,v-mean", {8, 16}), settings);
  REQUIRE_FALSE(draws.empty());
  std::map<std::string, int> seen;
  for (const ChoiceDraw& draw : draws) {
    const std::size_t s = draw.sequence - 10, h = 2 * *draw.layer + *draw.head;
    const Key key = Key(1).child("draws").child(draw.sequence).child(h);
    MethodErrors<double> errors(choice_head(s, h), {}, {key, key});
    const ErrorRow row = errors.prepare(parse_methods(draw.method).front()).row(draw.features, draw.trial);
    CHECK(draw.error == row.frobenius_rel);
    CHECK(draw.input == inputs.heads[h].input);
    ++seen[draw.method];
  }
  // v-mean costs the same for every d: one candidate, and one draw on a sequence.
  CHECK(seen["v-mean"] == 3 * 2);
  CHECK(seen["skyformer-softmax"] == 3 * 2 * 2 * 2);
}

TEST_CASE("choose: with sampled rows every draw has rows of its own, which all candidates and heads share") {
  const ChoiceInputs inputs = choice_inputs(1, 2);
  ChoiceSettings settings = choice_settings(100);
  settings.rows = 32;
  settings.draws = 11;  // too few to certify anything
  const std::vector<ChoiceDraw> draws = choice_draws(inputs, choice_ladders("skyformer-softmax,v-mean", {8}), settings);
  std::map<std::string, int> seen;
  for (const ChoiceDraw& draw : draws) {
    const std::size_t h = *draw.head;
    const Key key = Key(1).child("draws").child(draw.sequence).child(h);
    MethodErrors<double> errors(choice_head(0, h), {}, {key, key});
    arma::mat output;
    errors.prepare(parse_methods(draw.method).front()).row(draw.features, draw.trial, &output);
    const SampledReference reference(choice_head(0, h), Target::softmax, 32,
                                     Key(1).child("rows").child(draw.sequence).child(draw.trial));
    CHECK(draw.error == reference.compare(output).frobenius_rel.hi);
    ++seen[draw.method];
  }
  CHECK(seen["skyformer-softmax"] == 2 * 11);
  CHECK(seen["v-mean"] == 2 * 11);
}

TEST_CASE("choose: the same answers for any number of threads, from known errors, and for sequences in any order") {
  const ChoiceInputs inputs = choice_inputs(12, 2);
  const CandidateLadders ladders = choice_ladders("skyformer-softmax,skeinformer", {8, 32});
  ChoiceSettings settings = choice_settings(0.4);
  settings.draws = 2;
  std::vector<ChoiceRow> once, again, resumed;
  std::vector<ChoiceDraw> draws;
  {
    const ThreadCount one(1);
    draws = choice_draws(inputs, ladders, settings, &once);
  }
  {
    const ThreadCount three(3);
    CHECK(choice_draws(inputs, ladders, settings, &again).size() == draws.size());
  }
  std::map<std::string, double> known;
  const auto name = [](const ChoiceDraw& d) {
    return d.input + d.method + std::to_string(d.features) + ":" + std::to_string(d.trial) + ":" +
           std::to_string(d.sequence);
  };
  for (std::size_t i = 0; i < draws.size() / 2; ++i) known[name(draws[i])] = draws[i].error;
  std::size_t made = 0;
  ChoiceHooks hooks;
  hooks.known = [&](const ChoiceDraw& d) {
    return known.contains(name(d)) ? std::optional(known.at(name(d))) : std::nullopt;
  };
  hooks.made = [&](const ChoiceDraw&) { ++made; };
  resumed = *choose<double>(inputs, ladders, settings, Key(1), hooks);
  CHECK(made == draws.size() - known.size());
  const auto record = [](const std::vector<ChoiceRow>& rows) {
    std::vector<std::string> text;
    for (const ChoiceRow& row : rows) {
      for (const Value& value : choice_columns().record(row)) text.push_back(text_of(value));
    }
    return text;
  };
  CHECK(record(again) == record(once));
  CHECK(record(resumed) == record(once));
  hooks.stop = [] { return true; };
  hooks.known = {};
  CHECK_FALSE(choose<double>(inputs, ladders, settings, Key(1), hooks));
}
