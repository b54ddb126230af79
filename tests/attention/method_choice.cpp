#include <doctest/doctest.h>
#include <croquis/attention/method_choice.hpp>

#include "support/refusal.hpp"

using namespace croquis;

TEST_CASE("target_named: every target by its name; another name is refused with those there are") {
  for (const Target target :
       {Target::softmax, Target::kernelized, Target::normalized, Target::softmax_rpe, Target::normalized_rpe}) {
    CHECK(target_named(std::string(name_of(target))) == target);
  }
  CHECK(refusal([] { target_named("sotfmax"); }) ==
        "target: 'sotfmax' is none of softmax kernelized normalized softmax-rpe normalized-rpe; did you mean "
        "'softmax'?");
}

TEST_CASE("method_choice: the preset names the options, as text is read") {
  const MethodChoice choice = method_choice("skyformer", {{"ridge", "0.1"}, {"preset", "code"}});
  const MethodChoice read = parse_methods("skyformer:ridge=0.1,preset=code").front();
  CHECK(choice.name == read.name);
  CHECK(choice.preset == "code;ridge=0.1");
  CHECK(choice.preset == read.preset);
  CHECK(choice.options.all() == read.options.all());
  CHECK(method_choice("v-mean", {}).preset == "paper");
}

TEST_CASE("method_choice: a value that an option does not take is refused in the name of the method") {
  CHECK(refusal([] {
          require_usable(parse_methods("v-mean,skyformer:ridge=-1"), {5, 5}, {});
        }) == "skyformer: ridge is a number from 0 to 1e+06, got ridge = -1");
}

TEST_CASE("options_of_preset: the options that the preset was made of") {
  using Given = std::map<std::string, std::string>;
  for (const Given& given : {Given{}, Given{{"preset", "code"}}, Given{{"ridge", "0.1"}, {"landmarks", "stratified"}},
                             Given{{"preset", "code"}, {"ridge", "0.1"}}}) {
    CHECK(options_of_preset(method_choice("skyformer", given).preset) == given);
  }
  CHECK(options_of_preset("paper").empty());
}

TEST_CASE("methods by name: with a bias, all are those whose target has it, and one without it is refused") {
  std::vector<std::string> found;
  for (const MethodChoice& choice : parse_methods("all", {.causal = true, .bias = true})) found.push_back(choice.name);
  CHECK(found == std::vector<std::string>{"prf-rpe", "nprf-rpe"});
  CHECK(parse_methods("all,longformer:window=3", {.bias = true}).size() == 3);
  CHECK_NOTHROW(require_usable(parse_methods("all", {.bias = true}), {5, 5}, {.bias = true}));
  CHECK_NOTHROW(require_usable(parse_methods("v-mean"), {5, 5}, {}));
  CHECK(refusal([] {
          require_usable(parse_methods("v-mean"), {5, 5}, {.bias = true});
        }) == "v-mean: takes no bias; targets that take one are softmax-rpe normalized-rpe, methods prf-rpe nprf-rpe");
  CHECK(refusal([] { require_takes_bias(Target::softmax, "target softmax"); }).starts_with("target softmax: takes no"));
}

TEST_CASE("methods by name: with causal attention, all are those with a causal form, beside what else is named") {
  const auto names = [](const std::string& text) {
    std::vector<std::string> found;
    for (const MethodChoice& choice : parse_methods(text, {.causal = true})) found.push_back(choice.name);
    return found;
  };
  std::vector<std::string> causal;
  for (const auto& method : methods<double>()) {
    if (method.causal) causal.push_back(method.name);
  }
  CHECK(names("all") == causal);
  std::vector<std::string> more = causal;
  more.emplace_back("top-keys");
  CHECK(names("all,top-keys:rest=none") == more);
  CHECK(names(" top-keys:rest=none , all ").size() == more.size());
  more.back() = "skyformer";  // refused where it is used
  CHECK(names("all,skyformer:preset=code") == more);
  CHECK(names("skyformer") == std::vector<std::string>{"skyformer"});
}

TEST_CASE("takes: up to the largest d of the method, and no more features than keys") {
  const MethodChoice limited = method_choice("balancekv", {}), any = method_choice("linear", {});
  for (const MethodChoice& choice : {limited, any}) {
    CHECK(takes(choice, 24, {.n_q = 10, .n_k = 24}));
    CHECK_FALSE(takes(choice, 25, {.n_q = 10, .n_k = 24}));
  }
}
