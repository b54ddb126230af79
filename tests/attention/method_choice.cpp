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
