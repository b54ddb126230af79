#include <doctest/doctest.h>
#include <croquis/measure/choice_file.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "support/capture.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

ChoiceRow row_of(const std::string& input, const std::string& status, const MethodChoice& method, std::uint64_t d) {
  ChoiceRow row;
  row.input = input;
  row.status = status;
  row.method = method.name;
  row.preset = method.preset;
  row.features = d;
  row.eps = 0.1;
  row.delta = 0.05;
  row.confidence = 0.95;
  row.metric = "frobenius_rel";
  row.cost_unit = "flops";
  row.target = "kernelized";
  row.cost = 1;
  row.exact_cost = 4;
  return row;
}

std::string refusal_of(const std::string& choice) {
  return refusal([&] { parse_saved_choices(R"({"choices": [)" + choice + "]}", "c.json"); });
}

}  // namespace

TEST_CASE("choice file: what was written is read again") {
  ChoiceRow chosen = row_of("m;layer=3;head=1", "chosen", method_choice("skyformer", {{"ridge", "0.1"}}), 32);
  chosen.layer = 3;
  chosen.head = 1;
  chosen.flops_limit = 0.75;
  ChoiceRow of_layer = row_of("m;layer=4", "exact", {"exact", {}, "paper"}, 0);
  of_layer.layer = 4;
  const ChoiceRow undecided = row_of("arrays", "undecided", method_choice("skyformer", {}), 16);
  const std::vector<ChoiceRow> rows = {chosen, of_layer, undecided};
  const ChoicePlaces places = {{chosen.input, {{3, 1}}}, {of_layer.input, {{4, 0}, {4, 2}}}};
  // Exact attention where nothing is chosen: (1 + 4 + 4) / 12.
  CHECK(followed_cost_ratio(rows) == 0.75);
  for (const bool listed : {true, false}) {
    const std::string text = choice_json(rows, listed ? std::optional(places) : std::nullopt);
    const std::vector<SavedChoice> saved = parse_saved_choices(text, "c.json");
    REQUIRE(saved.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const ChoiceRow& was = rows[i];
      const ChoiceRow& is = saved[i].row;
      CHECK(is.input == was.input);
      CHECK(is.status == was.status);
      CHECK(is.layer == was.layer);
      CHECK(is.head == was.head);
      CHECK(is.eps == was.eps);
      CHECK(is.delta == was.delta);
      CHECK(is.confidence == was.confidence);
      CHECK(is.metric == was.metric);
      CHECK(is.cost_unit == was.cost_unit);
      CHECK(is.target == was.target);
      // The leader of what is undecided is no choice.
      CHECK(is.method == (i == 2 ? "exact" : was.method));
      CHECK(is.preset == was.preset);
      CHECK(is.features == (i == 2 ? 0 : was.features));
      CHECK(saved[i].method.choice.name == is.method);
      CHECK(saved[i].method.features == is.features);
      CHECK(saved[i].heads.has_value() == listed);
      if (i == 0) CHECK(saved[i].method.flops_limit == std::optional(0.75));
    }
    CHECK(saved[0].method.choice.options.all() == std::map<std::string, std::string>{{"ridge", "0.1"}});
    if (!listed) continue;
    CHECK(*saved[1].heads == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{4, 0}, {4, 2}});
    CHECK(saved[2].heads->empty());
  }
}

TEST_CASE("choice file: what a file does not say is empty") {
  const auto saved = parse_saved_choices(R"({"choices": [{"method": "v-mean", "features": 2}]})", "c.json");
  REQUIRE(saved.size() == 1);
  CHECK(std::isnan(saved[0].row.eps));
  CHECK(saved[0].row.status.empty());
  CHECK(saved[0].method.flops_limit == std::optional(std::numeric_limits<double>::infinity()));
  CHECK_FALSE(saved[0].row.layer);
  CHECK_FALSE(saved[0].heads);
}

TEST_CASE("choice file: a method has its own target, and of exact attention it is what the file says") {
  const std::pair<const char*, const char*> targets[] = {
      {R"({"method": "exact", "target": "normalized-rpe"})", "normalized-rpe"},
      {R"({"method": "exact", "target": "softmax"})", "softmax"},
      {R"({"method": "exact"})", "softmax"},
      {R"({"method": "skyformer", "features": 2})", "kernelized"},
      {R"({"method": "v-mean", "features": 2})", "softmax"},
  };
  for (const auto& [choice, target] : targets) {
    CAPTURE_BINDING(choice);
    const std::string text = std::string(R"({"choices": [)") + choice + "]}";
    CHECK(parse_saved_choices(text, "c.json").front().row.target == target);
  }
}

TEST_CASE("choice file: layers and heads that a model has are taken, and the first that it has not is refused") {
  const auto places = [](const std::string& place) {
    const auto saved =
        parse_saved_choices(R"({"choices": [{"method": "v-mean", "features": 2)" + place + "}]}", "c.json");
    return replacement_of(saved, "c.json", 3, 2).heads.size();
  };
  CHECK(places(R"(, "layer": 2, "head": 1)") == 1);
  CHECK(places(R"(, "layer": 2)") == 2);
  CHECK(places("") == 6);
  CHECK(refusal([&] { places(R"(, "layer": 3)"); }) == "c.json: choice 1 is for layer 3, the model has 3, from 0");
  CHECK(refusal([&] { places(R"(, "head": 2)"); }) == "c.json: choice 1 is for head 2, the model has 2, from 0");
}

TEST_CASE("choice file: members of another type are refused, and a method of what is undecided") {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"method": "v-mean", "features": 0})", "c.json: choice 1 has no positive number of features"},
      {R"({"method": "v-mean", "features": 2, "status": 3})", "c.json: choice 1 has no text as its status"},
      {R"({"method": "v-mean", "features": 2, "input": {}})", "c.json: choice 1 has no text as its input"},
      {R"({"method": "v-mean", "features": 2, "status": "undecided"})",
       "c.json: choice 1 is undecided and has a method"},
      {R"({"method": "exact", "target": 3})", "c.json: choice 1 has no text as its target"},
      {R"({"method": "exact", "target": "kernelised"})",
       "c.json: choice 1: target: 'kernelised' is none of softmax kernelized"},
  };
  for (const auto& [choice, says] : wrong) {
    CAPTURE_BINDING(choice);
    CHECK(contains(refusal_of(choice), says));
  }
  CHECK(refusal_of(R"({"method": "exact", "status": "undecided"})") == "nothing was thrown");
  const std::string text = R"({"eps": "0.1", "choices": [{"method": "exact"}]})";
  CHECK(contains(refusal([&] { parse_saved_choices(text, "c.json"); }), "c.json: has no number as its eps"));
}

TEST_CASE("choice file: the name of an input that is not UTF-8 is written as JSON that is") {
  const std::string text = choice_json({row_of("\xff", "chosen", method_choice("skyformer", {}), 4)}, {});
  CHECK(text.find('\xff') == std::string::npos);
  CHECK(parse_saved_choices(text, "c.json").size() == 1);
}
