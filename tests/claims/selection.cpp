#include <doctest/doctest.h>
#include <croquis/claims/selection.hpp>

#include <algorithm>

#include "support/refusal.hpp"

using namespace croquis::claims;

TEST_CASE("claims_named: ids, sentences, former ids and globs, each claim once and in the order of the ledger") {
  const auto names = [](const std::string& patterns) {
    std::vector<std::string> found;
    for (const Claim* claim : claims_named(patterns)) found.push_back(claim->id);
    return found;
  };
  CHECK(names("all").size() == all_claims().size());
  CHECK(names("sky.lemma1/strict") == std::vector<std::string>{"sky.lemma1/strict"});
  for (const std::string& id : names("sky.lemma1")) CHECK(id.rfind("sky.lemma1/", 0) == 0);
  for (const Claim& claim : all_claims()) {  // by its sentence, also where no former id says the same
    const auto readings = names(claim.sentence_id());
    CHECK(std::find(readings.begin(), readings.end(), claim.id) != readings.end());
  }
  CHECK(names("lin.jl-norm") == names("lin.jl-norm/*"));  // a former id too
  const auto linformer = names("lin.*"), both = names("lin.*, sky.*, lin.jl-norm/strict");
  CHECK(both.size() == linformer.size() + names("sky.*").size());
  const auto place = [](const std::string& id) {
    return std::find_if(all_claims().begin(), all_claims().end(), [&](const Claim& c) { return c.id == id; });
  };
  for (std::size_t i = 1; i < both.size(); ++i) CHECK(place(both[i - 1]) < place(both[i]));
}

TEST_CASE("claims_named: a pattern that means no claim is refused with the nearest name") {
  CHECK(refusal([] {
          claims_named("sky.lemma1,sky.lema1", "claims");
        }).find("claims: no claim is called 'sky.lema1'; did you mean 'sky.lemma1'?") == 0);
  CHECK(refusal([] { claims_named(""); }).find("--claims: an empty item") == 0);
}
