#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/measure/choose_loss.hpp>
#include <croquis/measure/cost_hull.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "stats/reference.hpp"
#include "support/formula_model.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
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
  return choice_candidates<double>(parse_methods(methods), {2, 5}, {{kLossTokens, kLossTokens, width, width}}, false,
                                   false, CostUnit::flops);
}

LossSettings loss_settings_of(double target) {
  return {.target = target, .confidence = 0.9, .max_cost = 1000, .search_sequences = 3};
}

}  // namespace

TEST_CASE("lower hull: below all points, with slopes that ascend, from exact attention to the cheapest") {
  const ChoiceCandidate any;
  for (std::uint64_t round = 0; round < 50; ++round) {
    const std::vector<double> u = uniform_sample(40, Key(test_seed()).child("hull").child(round));
    std::vector<CostPoint> points = {{nullptr, 1, 0}};
    for (std::size_t i = 0; i < 20; ++i) points.push_back({&any, u[2 * i], u[2 * i + 1]});
    points.push_back({&any, 0.5, std::numeric_limits<double>::infinity()});
    const std::vector<CostPoint> hull = lower_hull(points);
    CHECK(hull.front().candidate == nullptr);
    CHECK(hull.back().cost == std::min_element(points.begin(), points.end() - 1, [](const auto& a, const auto& b) {
                                return a.cost < b.cost;
                              })->cost);
    for (std::size_t i = 2; i < hull.size(); ++i) CHECK(slope(hull[i - 2], hull[i - 1]) < slope(hull[i - 1], hull[i]));
    // No price of cost for which a point is better than all corners.
    for (double price = 1e-3; price < 1e3; price *= 1.7) {
      const auto total = [&](const CostPoint& p) { return p.rise + price * p.cost; };
      const auto least = [&](const std::vector<CostPoint>& all) {
        double best = std::numeric_limits<double>::infinity();
        for (const CostPoint& p : all) best = std::min(best, total(p));
        return best;
      };
      CHECK(least(hull) == doctest::Approx(least(points)).epsilon(1e-12));
    }
  }
}

TEST_CASE("lower hull: what is as dear as exact attention or dearer never stands before it") {
  const ChoiceCandidate any;
  for (const double cost : {1.5, 1.0}) {
    const std::vector<CostPoint> hull = lower_hull({{nullptr, 1, 0}, {&any, cost, -1e-17}, {&any, 0.5, 0.1}});
    REQUIRE(hull.size() == 2);
    CHECK(hull[0].candidate == nullptr);
    CHECK(hull[1].cost == 0.5);
  }
}

TEST_CASE("choose by loss: steps are tested on other sequences than those that found them, with all layers replaced") {
  const LossInputs inputs = inputs_of(10);
  const arma::uword heads = inputs.model.config().heads;
  const CandidateLadders ladders = ladders_of("v-mean,skyformer-softmax,linformer", inputs.model.config().p());
  std::map<std::string, std::vector<std::uint64_t>> seen;  // by what was measured
  ChoiceHooks hooks;
  hooks.made = [&](const ChoiceDraw& draw) { seen[draw.input].push_back(draw.sequence); };
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
