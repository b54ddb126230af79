#include <doctest/doctest.h>
#include <croquis/attention/grouped_keys.hpp>

#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

// Queries 0 and 1 with keys 3 and 1, query 2 with key 0.
GroupLayers<double> good_layers() {
  KeyGroup<double> two, one;
  two.queries = {0, 1};
  two.visible = {1, 2};
  two.add(3, 1, 1);
  two.add(1, 2, 0.5);
  one.queries = {2};
  one.add(0, 1, 1);
  return {{two, one}};
}

}  // namespace

TEST_CASE("grouped attention: groups that are not as they should be are refused before anything is read") {
  const Problem<double> problem = random_rectangle<double>(3, 4, 2, 2, 1, Key(test_seed()));
  const auto said = [&](const auto& spoil) {
    GroupLayers<double> layers = good_layers();
    spoil(layers[0]);
    return refusal([&] { grouped_attention(problem, std::move(layers), "test"); });
  };
  using Groups = std::vector<KeyGroup<double>>;
  CHECK(said([](Groups&) {}) == "nothing was thrown");
  const std::string where = "grouped_attention: ";
  for (const std::uint32_t outside : {4U, 4000000000U}) {
    CHECK(said([=](Groups& g) { g[0].keys[1] = outside; }) ==
          where + "queries below n_q, keys below n_k, got layer = 0, n_q = 3, n_k = 4");
  }
  CHECK(contains(said([](Groups& g) { g[1].queries[0] = 3; }), "queries below n_q"));
  CHECK(said([](Groups& g) { g[1].queries[0] = 1; }) ==
        where + "every query in one group, got layer = 0, queries = 3, n_q = 3");
  CHECK(said([](Groups& g) { g[1].keys.clear(); }) == where + "a key for every query, got layer = 0");
  CHECK(said([](Groups& g) { g[0].output_weights.pop_back(); }) ==
        where + "two weights for every key, got layer = 0, keys = 2, output_weights = 1, sum_weights = 2");
  CHECK(contains(said([](Groups& g) { g[0].sum_weights.pop_back(); }), "sum_weights = 1"));
  for (const std::vector<std::uint32_t>& visible : {std::vector<std::uint32_t>{0, 2}, {2, 1}, {1, 3}, {1}, {1, 2, 2}}) {
    CHECK(
        contains(said([&](Groups& g) { g[0].visible = visible; }), where + "a number of visible keys for every query"));
  }
}
