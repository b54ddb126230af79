#include <doctest/doctest.h>
#include <croquis/core/threads.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/measure/choice_candidates.hpp>
#include <croquis/measure/choose.hpp>
#include <croquis/measure/cost.hpp>
#include <croquis/measure/method_errors.hpp>
#include <croquis/measure/sampled_errors.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "support/refusal.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

constexpr arma::uword kTokens = 96, kWidth = 8;

// Clustered heads, sharper with their number, on sequences that differ.
Problem<double> head_of(std::size_t sequence, std::size_t head) {
  return clustered_input(Key(5).child(sequence).child(head),
                         {.n = kTokens, .p = kWidth, .norm = 2.0 + static_cast<double>(head)}, {.clusters = 12});
}

ChoiceInputs inputs_of(std::size_t sequences, std::size_t heads) {
  ChoiceInputs inputs;
  inputs.name = "clusters";
  for (std::size_t h = 0; h < heads; ++h) {
    inputs.heads.push_back(
        {"clusters;layer=" + std::to_string(h / 2) + ";head=" + std::to_string(h % 2), h / 2, h % 2});
  }
  for (std::size_t s = 0; s < sequences; ++s) inputs.sequences.push_back(s + 10);
  inputs.problem = head_of;
  inputs.shape = [](std::size_t, std::size_t) { return HeadShape{kTokens, kTokens, kWidth, kWidth}; };
  return inputs;
}

CandidateLadders ladders_of(const std::string& methods, const std::vector<arma::uword>& features) {
  return choice_candidates<double>(parse_methods(methods), features, {{kTokens, kTokens, kWidth, kWidth}}, false, false,
                                   CostUnit::flops);
}

// Cheap enough, so that the number of tokens does not decide.
ChoiceSettings settings_of(double epsilon) {
  ChoiceSettings settings;
  settings.epsilon = epsilon;
  settings.delta = 0.2;
  settings.max_cost = 1000;
  settings.draws = 400;
  return settings;
}

std::vector<ChoiceDraw> draws_of(const ChoiceInputs& inputs, const CandidateLadders& ladders,
                                 const ChoiceSettings& settings, std::vector<ChoiceRow>* rows = nullptr) {
  std::vector<ChoiceDraw> draws;
  ChoiceHooks hooks;
  hooks.made = [&](const ChoiceDraw& draw) { draws.push_back(draw); };
  const auto answer = choose<double>(inputs, ladders, settings, Key(1), hooks);
  REQUIRE(answer);
  if (rows != nullptr) *rows = *answer;
  return draws;
}

}  // namespace

TEST_CASE("choose: of a method without randomness on one sequence, the fewest features that are good enough") {
  const std::vector<arma::uword> features = {4, 8, 16, 32, 96};
  const ChoiceInputs inputs = inputs_of(1, 3);
  const CandidateLadders ladders = ladders_of("nystromformer", features);
  for (const double epsilon : {0.01, 0.2, 0.6}) {
    const auto rows = choose<double>(inputs, ladders, settings_of(epsilon), Key(1));
    REQUIRE(rows);
    for (std::size_t h = 0; h < 3; ++h) {
      // The plain way: all errors, and the smallest d with one that is small enough, whatever larger ones have.
      const auto all = method_errors(head_of(0, h), parse_methods("nystromformer"), features, 1, Key(2));
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

TEST_CASE("choose: the errors are those of the methods, with the draws that are documented") {
  const ChoiceInputs inputs = inputs_of(3, 2);
  ChoiceSettings settings = settings_of(100);  // nothing fails, and three sequences certify nothing
  settings.draws = 2;
  const std::vector<ChoiceDraw> draws = draws_of(inputs, ladders_of("skyformer-softmax,v-mean", {8, 16}), settings);
  REQUIRE_FALSE(draws.empty());
  std::map<std::string, int> seen;
  for (const ChoiceDraw& draw : draws) {
    const std::size_t s = draw.sequence - 10, h = 2 * *draw.layer + *draw.head;
    const Key key = Key(1).child("draws").child(draw.sequence).child(h);
    MethodErrors<double> errors(head_of(s, h), {}, {key, key});
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
  const ChoiceInputs inputs = inputs_of(1, 2);
  ChoiceSettings settings = settings_of(100);
  settings.rows = 32;
  settings.draws = 11;  // too few to certify anything
  const std::vector<ChoiceDraw> draws = draws_of(inputs, ladders_of("skyformer-softmax,v-mean", {8}), settings);
  std::map<std::string, int> seen;
  for (const ChoiceDraw& draw : draws) {
    const std::size_t h = *draw.head;
    const Key key = Key(1).child("draws").child(draw.sequence).child(h);
    MethodErrors<double> errors(head_of(0, h), {}, {key, key});
    arma::mat output;
    errors.prepare(parse_methods(draw.method).front()).row(draw.features, draw.trial, &output);
    const SampledReference reference(head_of(0, h), Target::softmax, 32,
                                     Key(1).child("rows").child(draw.sequence).child(draw.trial));
    CHECK(draw.error == reference.compare(output).frobenius_rel.hi);
    ++seen[draw.method];
  }
  CHECK(seen["skyformer-softmax"] == 2 * 11);
  CHECK(seen["v-mean"] == 2 * 11);
}

TEST_CASE("choose: errors just above epsilon are not chosen because of a lucky sample of rows") {
  // Of v-mean, which draws nothing: the error is known. If the interval from 32 of 96 rows had the coverage 1/2 alone,
  // a draw would fail with probability 1/2 > delta = .2, and some head would be chosen with probability 1e-6 at most.
  constexpr std::size_t heads = 40;
  const CandidateLadders ladders = ladders_of("v-mean", {8});
  for (std::size_t h = 0; h < heads; ++h) {
    const auto exact = method_errors(head_of(h, 0), parse_methods("v-mean"), {8}, 1, Key(2));
    ChoiceInputs alone = inputs_of(1, 1);
    alone.problem = [h](std::size_t, std::size_t) { return head_of(h, 0); };
    ChoiceSettings settings = settings_of(exact.front().frobenius_rel * 0.999);
    settings.confidence = 1 - 1e-6 / heads;
    settings.rows = 32;
    CAPTURE(h);
    CHECK(choose<double>(alone, ladders, settings, Key(3))->front().status != "chosen");
  }
}

TEST_CASE("choose: it is good enough on new draws, and near the cheapest that is") {
  // One head, methods of several ladders. "Really good enough" is judged on 300 draws that the choice did not see; the
  // share of failures of the chosen candidate is below delta, up to 5 standard errors.
  const ChoiceInputs inputs = inputs_of(1, 1);
  const std::vector<arma::uword> features = {8, 16, 32, 64};
  const std::string methods = "skyformer-softmax,skeinformer,performer,v-mean";
  const CandidateLadders ladders = ladders_of(methods, features);
  const ChoiceSettings settings = settings_of(0.35);
  const auto rows = choose<double>(inputs, ladders, settings, Key(1));
  REQUIRE(rows);
  const ChoiceRow& row = rows->front();
  REQUIRE(row.status == "chosen");
  constexpr std::uint64_t fresh = 300;
  double cheapest = std::numeric_limits<double>::infinity(), rate_of_chosen = 1;
  for (const auto& ladder : ladders.ladders) {
    for (const ChoiceCandidate& candidate : ladder) {
      const auto errors = method_errors(head_of(0, 0), {candidate.choice}, {candidate.features}, fresh, Key(77));
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

TEST_CASE("choose: one choice for each head, each layer or the model, which share the error probability") {
  const ChoiceInputs inputs = inputs_of(40, 4);
  const CandidateLadders ladders = ladders_of("v-mean,skyformer-softmax", {16, 64});
  ChoiceSettings settings = settings_of(10);  // all is good enough
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
  CHECK(model[0].exact_cost == doctest::Approx(4 * exact_flops({kTokens, kTokens}, kWidth, kWidth, false)));
  CHECK(model[0].cost_ratio == doctest::Approx(heads[0].cost_ratio));
  CHECK(heads[0].sequences == units_to_certify(settings, 8));
  CHECK(layers[0].sequences == units_to_certify(settings, 4));
  CHECK(model[0].sequences == units_to_certify(settings, 2));
}

TEST_CASE("choose: too few sequences certify nothing, and it says how many more it takes") {
  const ChoiceInputs inputs = inputs_of(3, 1);
  ChoiceSettings settings = settings_of(10);
  settings.draws = 1;
  const auto rows = choose<double>(inputs, ladders_of("skyformer-softmax", {32}), settings, Key(1));
  CHECK(rows->front().status == "undecided");
  CHECK(rows->front().method == "skyformer-softmax");
  CHECK(rows->front().sequences == 3);
  REQUIRE(rows->front().needed);
  CHECK(*rows->front().needed + 3 == units_to_certify(settings, 1));
  CHECK(rows->front().failure_upper > settings.delta);
  // With v-mean beside it, on one sequence: that is not random, and is known.
  const auto known = choose<double>(inputs_of(1, 1), ladders_of("v-mean", {32}), settings, Key(1));
  CHECK(known->front().status == "chosen");
  CHECK(known->front().draws == 1);
}

TEST_CASE("choose: on several sequences more draws on each are no more evidence about other sequences") {
  const ChoiceInputs inputs = inputs_of(12, 1);
  const CandidateLadders ladders = ladders_of("skyformer-softmax", {8});
  ChoiceSettings settings = settings_of(100);  // nothing fails
  settings.delta = 0.05;                       // which takes more than 12 sequences
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
  ChoiceInputs inputs = inputs_of(1, 1);
  inputs.problem = [](std::size_t, std::size_t) {
    const Problem<double> p = head_of(0, 0);
    return Problem<double>(p.Q(), p.K(), arma::mat(kTokens, kWidth, arma::fill::zeros));
  };
  // The relative error of a zero output is undefined.
  const auto rows = choose<double>(inputs, ladders_of("v-mean,skyformer-softmax", {16}), settings_of(100), Key(1));
  CHECK(rows->front().status == "exact");
}

TEST_CASE("choose: every answer has the target that the errors of its candidates are against") {
  const CandidateLadders ladders = ladders_of("skyformer", {8});
  ChoiceSettings settings = settings_of(100);  // nothing fails
  const auto answer = [&](std::size_t sequences) {
    return choose<double>(inputs_of(sequences, 1), ladders, settings, Key(1))->front();
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

TEST_CASE("choose: the same answers for any number of threads, from known errors, and for sequences in any order") {
  const ChoiceInputs inputs = inputs_of(12, 2);
  const CandidateLadders ladders = ladders_of("skyformer-softmax,skeinformer", {8, 32});
  ChoiceSettings settings = settings_of(0.4);
  settings.draws = 2;
  std::vector<ChoiceRow> once, again, resumed;
  std::vector<ChoiceDraw> draws;
  {
    const ThreadCount one(1);
    draws = draws_of(inputs, ladders, settings, &once);
  }
  {
    const ThreadCount three(3);
    CHECK(draws_of(inputs, ladders, settings, &again).size() == draws.size());
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

TEST_CASE("choose: choices that are not wanted are not evaluated, and the others are the same without them") {
  for (const std::size_t sequences : {std::size_t(1), std::size_t(12)}) {
    const ChoiceInputs inputs = inputs_of(sequences, 3);
    const CandidateLadders ladders = ladders_of("skyformer-softmax,skeinformer", {8, 32});
    const ChoiceSettings settings = settings_of(0.4);
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

TEST_CASE("choose: candidates and their price do not depend on the lengths of the sequences") {
  // Sequences of 24 and of 96 tokens; the last one alone is short, or all but the first.
  const HeadShape whole{kTokens, kTokens, kWidth, kWidth}, part{24, 24, kWidth, kWidth};
  const CandidateLadders ladders = choice_candidates<double>(parse_methods("nystromformer,linformer"), {4, 32, 128},
                                                             {whole, part}, false, false, CostUnit::flops);
  ChoiceSettings settings = settings_of(1e9);
  settings.draws = 1;
  const double exact_ratio = ladders.exact_costs[1] / ladders.exact_costs[0];
  for (const std::size_t longs : {std::size_t{1}, std::size_t{39}}) {
    CAPTURE(longs);
    ChoiceInputs inputs = inputs_of(40, 1);
    inputs.shape = [&](std::size_t s, std::size_t) { return s < longs ? whole : part; };
    inputs.problem = [&](std::size_t s, std::size_t h) {
      const Problem<double> head = head_of(s, h);
      const arma::uword n = inputs.shape(s, h).n_k;
      return Problem<double>(head.Q().head_rows(n), head.K().head_rows(n), head.V().head_rows(n));
    };
    std::vector<ChoiceRow> rows;
    std::map<std::pair<std::string, std::uint64_t>, std::size_t> seen;
    std::size_t exact = 0;
    for (const ChoiceDraw& draw : draws_of(inputs, ladders, settings, &rows)) {
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

TEST_CASE("choose: settings outside their ranges are refused") {
  const ChoiceInputs inputs = inputs_of(1, 1);
  const CandidateLadders ladders = ladders_of("v-mean", {8});
  const auto refused = [&](const std::function<void(ChoiceSettings&)>& change) {
    ChoiceSettings settings = settings_of(0.1);
    change(settings);
    return refusal([&] { choose<double>(inputs, ladders, settings, Key(1)); });
  };
  CHECK(contains(refused([](auto& s) { s.epsilon = 0; }), "epsilon > 0"));
  CHECK(contains(refused([](auto& s) { s.delta = 1; }), "0 < delta < 1"));
  CHECK(contains(refused([](auto& s) { s.confidence = 1; }), "0 < confidence < 1"));
  CHECK(contains(refused([](auto& s) { s.max_cost = 0; }), "max_cost > 0"));
  CHECK(contains(refused([](auto& s) { s.draws = 0; }), "draws >= 1"));
  CHECK(contains(refused([](auto& s) { s.rows = 3; }), "rows: 3 is none of"));
  CHECK(contains(refused([](auto& s) { s.rows = kTokens + 1; }), "to n = 96"));
  CHECK(contains(refused([](auto& s) { s.metric = "beauty"; }), "frobenius_rel"));
  CHECK(contains(refused([](auto& s) {
                   s.rows = 32;
                   s.metric = "row_rel_max";
                 }),
                 "frobenius_rel, spectral_rel, got"));
  CHECK(refusal([] { choice_per_from_name("heads"); }) == "per: is head, layer or model, got per = heads");
  CHECK(refusal([] { cost_unit_from_name("euros"); }) == "cost: is flops or seconds, got cost = euros");
}

TEST_CASE(
    "choose: an earlier evaluation is current where its candidate is used, or is exact attention, as it was then") {
  ChoiceInputs inputs = inputs_of(2, 1);
  const HeadShape shapes[] = {{48, 48, kWidth, kWidth}, {960, 960, kWidth, kWidth}};
  inputs.shape = [&](std::size_t s, std::size_t) { return shapes[s]; };
  const CandidateLadders candidates = choice_candidates<double>(parse_methods("skeinformer"), {40},
                                                                {shapes[0], shapes[1]}, false, false, CostUnit::flops);
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

TEST_CASE("choose: a choice for each layer needs heads with layers") {
  ChoiceInputs inputs = inputs_of(2, 1);
  inputs.heads[0].layer.reset();
  const CandidateLadders candidates = choice_candidates<double>(
      parse_methods("v-mean"), {1}, {{kTokens, kTokens, kWidth, kWidth}}, false, false, CostUnit::flops);
  ChoiceSettings settings;
  settings.per = ChoicePer::layer;
  CHECK(contains(refusal([&] { choose<double>(inputs, candidates, settings, Key(1)); }), "heads with layers"));
}
