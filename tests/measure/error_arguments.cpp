#include <doctest/doctest.h>
#include <croquis/attention/method.hpp>
#include <croquis/measure/error_arguments.hpp>
#include <croquis/measure/sampled_errors.hpp>

#include <set>
#include <string>

#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE(
    "error arguments: all are the methods that take the heads, and with sampled rows those of less than n^2 work") {
  const auto names = [](const std::string& text, const std::vector<TokenAlignment>& shapes, bool some_rows) {
    std::set<std::string> found;
    for (const MethodChoice& choice : error_methods(text, shapes, {}, some_rows)) found.insert(choice.name);
    return found;
  };
  std::set<std::string> all, square, quadratic;
  for (const Method<double>& method : methods<double>()) {
    all.insert(method.name);
    if (!method.rectangular({})) square.insert(method.name);
    if (method.quadratic({})) quadratic.insert(method.name);
  }
  REQUIRE((square.contains("reformer") && quadratic.contains("best-rank-d")));
  const auto without = [](std::set<std::string> from, const std::set<std::string>& others) {
    for (const std::string& name : others) from.erase(name);
    return from;
  };
  CHECK(names("all", {{9, 9}}, false) == all);
  CHECK(names("all", {{9, 9}, {7, 9}}, false) == without(all, square));
  CHECK(names("all,skyformer:ridge=0.1", {{9, 9}}, true) == without(all, quadratic));
  CHECK(names("all", {{7, 9}}, true) == without(without(all, square), quadratic));
  CHECK(names("kdeformer,best-rank-d", {{9, 9}}, false).size() == 2);
  CHECK(contains(refusal([&] {
                   names("kdeformer:probabilities=exact", {{9, 9}}, true);
                 }),
                 "--methods: kdeformer (probabilities=exact) computes all scores"));
  CHECK(contains(refusal([&] { names("reformer", {{9, 9}, {7, 9}}, false); }), "reformer: as many queries as keys"));
}

TEST_CASE("error arguments: a range of numbers of features ends at what all methods take, and at the fewest keys") {
  const auto end = [](const std::string& methods, const std::vector<TokenAlignment>& shapes) {
    return largest_features(parse_methods(methods), shapes);
  };
  CHECK(end("performer", {{9, 9}}) == 9);  // which takes any
  CHECK(end("skyformer", {{9, 9}}) == 9);  // 2n
  CHECK(end("all", {{9, 9}}) == 9);
  CHECK(end("skeinformer,best-rank-d", {{12, 30}}) == 12);
  CHECK(end("best-rank-d,skeinformer", {{12, 30}, {11, 40}}) == 11);
  CHECK(end("skeinformer", {{12, 30}, {40, 20}, {25, 25}}) == 20);
  CHECK(end("skyformer", {{2, 30}}) == 30);
}

TEST_CASE("error arguments: what a method cannot be asked for is refused with the name of the argument") {
  const auto all = parse_methods("performer,skeinformer,skyformer");
  const auto check = [&](const std::vector<arma::uword>& features, const std::vector<MethodChoice>& methods,
                         arma::uword n) {
    require_features(features, methods, {n, n}, 8);
  };
  CHECK(refusal([&] { require_features({}, all, {9, 9}, 8, "features"); }) == "features: there are none");
  CHECK(refusal([&] { check({4, 0}, all, 9); }) == "--features: 0 is not positive");
  check({1, 9}, all, 9);
  CHECK(refusal([&] {
          check({4, 10}, all, 9);
        }) == "--features: 10 is more than the n = 9 tokens; give at most n, or leave out skeinformer");
  check({4, 18}, {all[0], all[2]}, 9);  // as many as there are points of the lift
  CHECK(refusal([&] {
          check({4, 19}, {all[0], all[2]}, 9);
        }) == "--features: 19 is more than the 18 that skyformer takes here; give at most 18, or leave out skyformer");
  check({4, 1000}, {all[0]}, 9);
  const arma::uword most = arma::uword{1} << 32;
  CHECK(refusal([&] { check({most}, all, most); }).find("--features: the n x d numbers") == 0);
  const arma::uword fewest = SampledReference::kFewestRows;
  CHECK(refusal([&] { require_sampled_rows(fewest - 1, 100, "rows"); }).find("rows: ") == 0);
  CHECK(refusal([&] { require_sampled_rows(101, 100); }).find("--rows: 101 is none of") == 0);
  require_sampled_rows(fewest, fewest);
}
