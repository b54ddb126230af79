#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/measure/choose_loss.hpp>
#include <croquis/stats/accumulator.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "support/formula_model.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr arma::uword kLossTokens = 9;

// The small BERT of the tests, on sequences that a formula gives.
LossInputs inputs_of(std::size_t sequences) {
  const FormulaModel files = formula_model("bert");
  LossInputs inputs{
      .name = "model:bert",
      .model = Model(SafeTensors(files.file(), "m.safetensors"), parse_model_config(files.config, "config.json")),
      .sequences = {},
      .read =
          [](std::size_t s) {
            LabelledSequence sequence;
            for (std::uint32_t i = 0; i < kLossTokens; ++i) {
              const auto t = static_cast<std::uint32_t>(s);
              sequence.ids.push_back((3 * i + 5 * t + i * t) % 11);
              sequence.labels.emplace_back((i + t) % 11);
            }
            return sequence;
          },
      .shape = {}};
  const arma::uword width = inputs.model.config().p();
  inputs.shape = [width](std::size_t) { return HeadShape{kLossTokens, kLossTokens, width, width}; };
  for (std::size_t s = 0; s < sequences; ++s) inputs.sequences.push_back(s + 100);
  return inputs;
}

CandidateLadders ladders_of(const std::string& methods, arma::uword width) {
  return choice_candidates<double>(parse_methods(methods), {2, 5}, {{kLossTokens, kLossTokens, width, width}}, {},
                                   CostUnit::flops);
}

LossSettings loss_settings_of(double target) {
  return {.target = target, .confidence = 0.9, .max_cost = 1000, .search_sequences = 3};
}

// Sequences of two lengths, and what passes on them are to have found: no pass is made.
struct KnownPasses {
  LossInputs inputs = inputs_of(10);
  arma::uword width = inputs.model.config().p(), layers = inputs.model.config().layers;
  std::vector<HeadShape> shapes = {{512, 512, width, width}, {8, 8, width, width}};
  CandidateLadders ladders = choice_candidates<double>(parse_methods("v-mean,skyformer-softmax,linformer"), {2, 5},
                                                       shapes, {}, CostUnit::flops);
  std::set<std::uint64_t> searched;  // numbers of sequences
  ChoiceHooks hooks;

  explicit KnownPasses(std::function<double(std::uint64_t step, std::uint64_t sequence)> rise) {
    inputs.shape = [s = shapes](std::size_t sequence) { return s[sequence % 2]; };
    hooks.known = [this, rise = std::move(rise)](const ChoiceDraw& draw) -> std::optional<double> {
      if (!draw.layer) return rise(std::stoul(draw.input.substr(draw.input.find("step=") + 5)), draw.sequence);
      searched.insert(draw.sequence);
      return divergence(*draw.layer, draw.method, draw.features, draw.sequence);
    };
  }

  static double divergence(std::uint64_t layer, const std::string& method, std::uint64_t d, std::uint64_t sequence) {
    return 0.01 * static_cast<double>((layer + 1) * (method.size() % 7 + 1) * (sequence % 3 + 1)) /
           static_cast<double>(d);
  }

  // Over all heads of a layer on those sequences that are wanted, in units of exact attention.
  template <typename Wanted>
  double cost_ratio(const ChoiceCandidate& candidate, const Wanted& wanted) const {
    double cost = 0, exact = 0;
    for (const std::uint64_t s : inputs.sequences) {
      if (!wanted(s)) continue;
      cost += candidate.costs[s % 2];
      exact += ladders.exact_costs[s % 2];
    }
    return cost / exact;
  }

  LossChoice choose(double target) {
    return *choose_by_loss<double>(inputs, ladders, loss_settings_of(target), Key(1), hooks);
  }
};

// A step of a layer from one point to a cheaper one.
struct PlainStep {
  std::uint64_t layer = 0;
  std::string method;
  std::uint64_t features = 0;
  double slope = 0, rise = 0, before = 0, cost = 1, cost_before = 1;  // costs on all sequences
};

// From exact attention always to the point that is the least rise for what it saves away.
std::vector<PlainStep> plain_steps(const KnownPasses& passes) {
  const auto searched = [&](std::uint64_t s) { return passes.searched.contains(s); };
  std::vector<PlainStep> steps;
  for (arma::uword layer = 0; layer < passes.layers; ++layer) {
    double rise = 0, cost = 1, cost_of_all = 1;
    for (bool found = true; found;) {
      found = false;
      PlainStep next;
      double next_cost = 0;
      for (const auto& ladder : passes.ladders.ladders) {
        for (const ChoiceCandidate& c : ladder) {
          double of_c = 0;
          for (const std::uint64_t s : passes.searched) {
            of_c += KnownPasses::divergence(layer, c.choice.name, c.features, s) / 3;
          }
          const double cost_of_c = passes.cost_ratio(c, searched), slope = (of_c - rise) / (cost - cost_of_c);
          if (!(cost_of_c < cost) || (found && slope >= next.slope)) continue;
          found = true;
          next = {layer,
                  c.choice.name,
                  c.features,
                  slope,
                  of_c,
                  rise,
                  passes.cost_ratio(c, [](std::uint64_t) { return true; }),
                  cost_of_all};
          next_cost = cost_of_c;
        }
      }
      if (!found) break;
      steps.push_back(next);
      rise = next.rise, cost = next_cost, cost_of_all = next.cost;
    }
  }
  std::stable_sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.slope < b.slope; });
  return steps;
}

}  // namespace

TEST_CASE("choose by loss: steps are tested on other sequences than those that found them, with all layers replaced") {
  const LossInputs inputs = inputs_of(10);
  const arma::uword heads = inputs.model.config().heads;
  const CandidateLadders ladders = ladders_of("v-mean,skyformer-softmax,linformer", inputs.model.config().p());
  std::map<std::string, std::vector<std::uint64_t>> seen;  // by what was measured
  ChoiceHooks hooks;
  hooks.made = [&](const ChoiceDraw& draw) {
    seen[draw.input].push_back(draw.sequence);
    CHECK(draw.layer.has_value() == contains(draw.input, ";layer="));
  };
  const auto choice = choose_by_loss<double>(inputs, ladders, loss_settings_of(0.5), Key(1), hooks);
  REQUIRE(choice);
  REQUIRE(choice->steps.size() >= 2);
  const auto& searched = seen.at("model:bert;layer=0");
  for (const std::uint64_t s : seen.at("model:bert;step=1")) {
    CHECK(std::find(searched.begin(), searched.end(), s) == searched.end());
  }
  CHECK(seen.at("model:bert;step=1").size() == 7);

  // The plain way: the steps so far, each a replacement of its layer, on the sequences of the test.
  Replacement replacement{.layers = "all", .method = "choice", .preset = "", .features = 0};
  bool all = true;
  double before = 2;
  for (const LossStep& step : choice->steps) {
    const MethodChoice method = parse_methods(step.method).front();
    for (arma::uword h = 0; h < heads; ++h) {
      replacement.heads.insert_or_assign({step.layer, h}, HeadMethod{method, step.features, {}});
    }
    Accumulator rises;
    for (const std::uint64_t s : seen.at("model:bert;step=1")) {
      const ModelOnSequence pass(inputs.model, inputs.read(s - 100));
      const ModelRow row = pass.row<double>(replacement, Key(1).child("loss").child(s));
      rises.add(row.loss - row.loss_exact);
    }
    CHECK(step.rise == doctest::Approx(rises.mean()).epsilon(1e-9));
    // Student's 90 % quantile with 6 degrees of freedom.
    CHECK(step.rise_upper == doctest::Approx(rises.mean() + 1.439756 * rises.standard_error()).epsilon(1e-6));
    all = all && step.rise_upper <= 0.5;
    CHECK((step.status == "certified") == all);
    CHECK(step.cost_ratio < before);
    before = step.cost_ratio;
  }
}

TEST_CASE("choose by loss: steps and answers are those of a plain search, with the costs of sequences of two lengths") {
  const auto rise = [](std::uint64_t step, std::uint64_t sequence) {
    return 0.01 * static_cast<double>(step) + 0.001 * static_cast<double>(sequence * sequence % 7);
  };
  KnownPasses passes(rise);
  const LossChoice choice = passes.choose(1000);
  REQUIRE(passes.searched.size() == 3);
  const std::vector<PlainStep> plain = plain_steps(passes);
  REQUIRE(choice.steps.size() == plain.size());
  REQUIRE(plain.size() > passes.layers);  // a layer has several
  CHECK(choice.untested == 0);
  std::map<std::uint64_t, PlainStep> last;
  double cost = static_cast<double>(passes.layers), predicted = 0;
  for (std::size_t k = 0; k < plain.size(); ++k) {
    const LossStep& step = choice.steps[k];
    cost += plain[k].cost - plain[k].cost_before;
    predicted += plain[k].rise - plain[k].before;
    last[plain[k].layer] = plain[k];
    Accumulator rises;
    for (const std::uint64_t s : passes.inputs.sequences) {
      if (!passes.searched.contains(s)) rises.add(rise(k + 1, s));
    }
    CHECK(step.step == k + 1);
    CHECK(step.layer == plain[k].layer);
    CHECK(step.method == plain[k].method);
    CHECK(step.features == plain[k].features);
    CHECK(step.cost_ratio == doctest::Approx(cost / static_cast<double>(passes.layers)).epsilon(1e-12));
    CHECK(step.predicted == doctest::Approx(predicted).epsilon(1e-12));
    CHECK(step.rise == doctest::Approx(rises.mean()).epsilon(1e-12));
    CHECK(step.rise_error == doctest::Approx(std::sqrt(rises.variance() / 7)).epsilon(1e-12));
    CHECK(step.status == "certified");
  }
  const double heads = static_cast<double>(passes.inputs.model.config().heads);
  const double exact = heads * (passes.ladders.exact_costs[0] + passes.ladders.exact_costs[1]) / 2;
  REQUIRE(choice.layers.size() == passes.layers);
  for (arma::uword l = 0; l < passes.layers; ++l) {
    const ChoiceRow& row = choice.layers[l];
    CHECK(row.layer == l);
    CHECK(row.status == "chosen");
    CHECK(row.method == last[l].method);
    CHECK(row.features == last[l].features);
    CHECK(row.exact_cost == doctest::Approx(exact).epsilon(1e-12));
    CHECK(row.cost == doctest::Approx(exact * last[l].cost).epsilon(1e-12));
    CHECK(row.cost_ratio == doctest::Approx(last[l].cost).epsilon(1e-12));
    CHECK(row.error_median == doctest::Approx(last[l].rise).epsilon(1e-12));
    CHECK(row.draws == 7);
    CHECK(row.sequences == 7);
  }
  // Within four targets of rise by the search.
  const double two_steps = choice.steps[1].predicted, three_steps = choice.steps[2].predicted;
  const LossChoice short_one = passes.choose((two_steps + three_steps) / 8);
  CHECK(short_one.steps.size() == 2);
  CHECK(short_one.untested == plain.size() - 2);
}

TEST_CASE("choose by loss: the steps and their order are those of the costs on the sequences of the search alone") {
  KnownPasses passes([](auto, auto) { return 0.0; });
  passes.choose(1000);  // which shows the sequences of the search
  REQUIRE(passes.searched.size() == 3);
  passes.inputs.shape = [&](std::size_t s) {
    return passes.shapes[passes.searched.contains(passes.inputs.sequences[s]) ? 0 : 1];
  };
  // Linformer at d = 5, whose divergences are 2/5 of those at d = 2. In the search it costs 5/10 and d = 2 costs 1/10,
  // which saves more; on the other seven sequences it is the reverse, and so it is on all ten, where d = 2 would save
  // less than d = 5 and be no step.
  ChoiceCandidate five = passes.ladders.ladders[2].front(), two = passes.ladders.ladders[2].back();
  REQUIRE(five.features == 5);
  REQUIRE(two.features == 2);
  five.costs = {5, 1};
  two.costs = {1, 5};
  passes.ladders.ladders = {{five, two}};
  passes.ladders.exact_costs = {10, 10};
  const LossChoice choice = passes.choose(1000);
  REQUIRE(passes.layers == 2);
  REQUIRE(choice.steps.size() == 4);
  for (std::size_t k = 0; k < 4; ++k) {
    // From exact attention to d = 5 and on to d = 2: 0.4 r / 5 and 0.6 r / 4 more divergence a saved unit, with r twice
    // as large in layer 1.
    CHECK(choice.steps[k].layer == k / 2);
    CHECK(choice.steps[k].features == (k % 2 == 0 ? 5 : 2));
  }
  // The costs themselves are those of all sequences.
  const double of_five = (3 * 0.5 + 7 * 0.1) / 10, of_two = (3 * 0.1 + 7 * 0.5) / 10;
  const double expected[] = {(of_five + 1) / 2, (of_two + 1) / 2, (of_two + of_five) / 2, of_two};
  for (std::size_t k = 0; k < 4; ++k) CHECK(choice.steps[k].cost_ratio == doctest::Approx(expected[k]).epsilon(1e-12));
}

TEST_CASE("choose by loss: a step is certified by its upper limit, and if all steps before it are") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto statuses = [](const LossChoice& choice) {
    std::vector<std::string> all;
    for (const LossStep& step : choice.steps) all.push_back(step.status);
    return all;
  };
  const auto certified_first = [](std::size_t steps, std::size_t first) {
    std::vector<std::string> all(steps, "not certified");
    std::fill_n(all.begin(), first, "certified");
    return all;
  };
  // The second step is too bad, and those after it would do.
  const LossChoice second = KnownPasses([](auto step, auto) { return step == 2 ? 2000.0 : 0; }).choose(1000);
  const std::size_t steps = second.steps.size();
  REQUIRE(steps >= 3);
  CHECK(statuses(second) == certified_first(steps, 1));
  for (const ChoiceRow& row : second.layers) {
    CHECK((row.status == "chosen") == (row.layer == second.steps[0].layer));
  }
  // The mean of seven rises, one of which is 4000, is 571 with a standard error of as much: the limit is 1394.
  std::set<std::uint64_t> tested;
  const auto one_bad = [&](std::uint64_t step, std::uint64_t sequence) {
    tested.insert(sequence);
    return step == 1 && tested.size() == 1 ? 4000.0 : 0;
  };
  const LossChoice wide = KnownPasses(one_bad).choose(1000);
  CHECK(wide.steps[0].rise == doctest::Approx(4000.0 / 7));
  CHECK(statuses(wide) == certified_first(steps, 0));
  // A pass that failed is an infinite rise.
  tested.clear();
  const auto one_failed = [&](std::uint64_t step, std::uint64_t sequence) {
    tested.insert(sequence);
    return step == 3 && tested.size() == 1 ? nan : 0;
  };
  const LossChoice failed = KnownPasses(one_failed).choose(1000);
  CHECK(std::isinf(failed.steps[2].rise));
  CHECK(statuses(failed) == certified_first(steps, 2));
}

TEST_CASE("choose by loss: the layers are those of the last certified step") {
  const LossInputs inputs = inputs_of(8);
  const CandidateLadders ladders = ladders_of("v-mean", inputs.model.config().p());
  const auto whole = choose_by_loss<double>(inputs, ladders, loss_settings_of(1000), Key(1));
  for (const ChoiceRow& row : whole->layers) {
    CHECK(row.status == "chosen");
    CHECK(row.method == "v-mean");
    CHECK(row.metric == "loss");
  }
  const auto nothing = choose_by_loss<double>(inputs, ladders, loss_settings_of(1e-12), Key(1));
  for (const ChoiceRow& row : nothing->layers) CHECK(row.status == "exact");
  // Known passes are not made again, and change nothing.
  std::map<std::string, double> known;
  const auto name = [](const ChoiceDraw& d) { return d.input + std::to_string(d.sequence) + d.method; };
  ChoiceHooks hooks;
  hooks.made = [&](const ChoiceDraw& d) { known[name(d)] = d.error; };
  const auto once = choose_by_loss<double>(inputs, ladders, loss_settings_of(0.3), Key(2), hooks);
  hooks.made = [&](const ChoiceDraw&) { FAIL("made again"); };
  hooks.known = [&](const ChoiceDraw& d) { return std::optional(known.at(name(d))); };
  const auto again = choose_by_loss<double>(inputs, ladders, loss_settings_of(0.3), Key(2), hooks);
  REQUIRE(again->steps.size() == once->steps.size());
  for (std::size_t i = 0; i < once->steps.size(); ++i) CHECK(again->steps[i].rise == once->steps[i].rise);
  hooks.stop = [] { return true; };
  CHECK_FALSE(choose_by_loss<double>(inputs, ladders, loss_settings_of(0.3), Key(2), hooks));
}

TEST_CASE(
    "choose by loss: an exact layer has the softmax attention of the model, whatever the candidates approximate") {
  const LossInputs inputs = inputs_of(8);
  const CandidateLadders ladders = ladders_of("skyformer", inputs.model.config().p());
  for (const auto& [target, status, function] :
       {std::tuple(1000.0, "chosen", "kernelized"), std::tuple(1e-12, "exact", "softmax")}) {
    const auto choice = choose_by_loss<double>(inputs, ladders, loss_settings_of(target), Key(1));
    for (const ChoiceRow& row : choice->layers) {
      CHECK(row.status == status);
      CHECK(row.target == function);
    }
  }
}

TEST_CASE("choose by loss: settings outside their ranges and too few sequences are refused") {
  const LossInputs inputs = inputs_of(4);
  const CandidateLadders ladders = ladders_of("v-mean", inputs.model.config().p());
  const auto refused = [&](LossSettings settings) {
    return refusal([&] { choose_by_loss<double>(inputs, ladders, settings, Key(1)); });
  };
  for (const double target : {0.0, std::numeric_limits<double>::infinity()}) {
    CHECK(contains(refused(loss_settings_of(target)), "target > 0, and finite"));
  }
  CHECK(contains(refused(loss_settings_of(0.1)), "sequences = 4"));
  LossSettings settings = loss_settings_of(0.1);
  settings.search_sequences = 2;
  settings.confidence = 1;
  CHECK(contains(refused(settings), "0 < confidence < 1"));
  LossInputs twice = inputs_of(6);
  twice.sequences[5] = twice.sequences[0];
  CHECK(contains(refusal([&] { choose_by_loss<double>(twice, ladders, loss_settings_of(0.1), Key(1)); }),
                 fmt::format("twice = {}", twice.sequences[0])));
}
