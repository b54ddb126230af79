#include <doctest/doctest.h>
#include <croquis/stats/budget.hpp>

#include <limits>

#include "support/refusal.hpp"

using namespace croquis;

TEST_CASE("ErrorBudget: equal weights share the total equally, others in proportion") {
  const ErrorBudget equal({{"a"}, {"b"}, {"c"}, {"d"}});
  CHECK(equal.total() == 1e-6);
  for (const char* name : {"a", "b", "c", "d"}) CHECK(equal.alpha(name) == doctest::Approx(2.5e-7));
  const ErrorBudget weighted({{"rare", 1}, {"dear", 6}, {"other", 3}}, 0.01);
  CHECK(weighted.alpha("rare") == doctest::Approx(0.001));
  CHECK(weighted.alpha("dear") == doctest::Approx(0.006));
  CHECK(weighted.alpha("other") == doctest::Approx(0.003));
}

TEST_CASE("ErrorBudget: alphas add up to the total, also for weights far apart") {
  for (const std::size_t checks : {1, 3, 7, 1000}) {
    std::vector<Share> shares;
    for (std::size_t i = 0; i < checks; ++i) shares.push_back({std::to_string(i), i % 2 == 0 ? 1e-3 : 1e3});
    const ErrorBudget budget(shares, 0.05);
    double sum = 0;
    for (const Share& share : shares) sum += budget.alpha(share.name);
    CHECK(sum == doctest::Approx(0.05).epsilon(1e-12));
  }
}

TEST_CASE("ErrorBudget::spend: in parts, in all, and never more than the share") {
  ErrorBudget budget({{"a"}, {"b"}}, 0.1);
  CHECK(budget.spend("a", 0.02) == 0.02);
  CHECK(budget.rest("a") == doctest::Approx(0.03));
  CHECK(contains(
      refusal([&] { budget.spend("a", 0.04); }),
      "ErrorBudget::spend: 0 < amount <= what is left of the check, got name = a, amount = 0.04, left = 0.03"));
  CHECK(budget.rest("a") == doctest::Approx(0.03));  // a refusal takes nothing
  CHECK(budget.spend("a") == doctest::Approx(0.03));
  CHECK(budget.rest("a") == 0);
  CHECK(contains(refusal([&] { budget.spend("a"); }), "what is left of the check"));  // made twice
  CHECK(budget.spent() == doctest::Approx(0.05));
  CHECK(budget.spend("b") == doctest::Approx(0.05));
  CHECK(budget.spent() == doctest::Approx(budget.total()));
}

TEST_CASE("ErrorBudget::spend: parts of a share that add up to it but for rounding are allowed") {
  for (const int parts : {3, 7, 10, 49, 1000}) {
    ErrorBudget budget({{"a"}, {"b", 2}}, 1e-6);
    const double part = budget.alpha("a") / parts;
    for (int i = 0; i < parts; ++i) budget.spend("a", part);
    CHECK(contains(refusal([&] { budget.spend("a", part); }), "what is left"));
  }
}

TEST_CASE("ErrorBudget: a check of several parts has a budget of its own") {
  ErrorBudget budget({{"operators"}, {"others", 4}}, 1e-5);
  const ErrorBudget operators({{"gaussian"}, {"srht"}}, budget.spend("operators"));
  CHECK(operators.alpha("srht") == doctest::Approx(1e-6));
  CHECK(contains(refusal([&] { budget.spend("operators"); }), "what is left"));
}

TEST_CASE("ErrorBudget: refuses double, empty and unknown names, weights and totals that are none") {
  CHECK(refusal([] { ErrorBudget({{"a"}, {"b"}, {"a"}}); }) == "ErrorBudget: every name once, got name = a");
  CHECK(contains(refusal([] { ErrorBudget({{""}}); }), "checks that have names"));
  CHECK(contains(refusal([] { ErrorBudget(std::vector<Share>{}); }), "at least one check"));
  for (const double weight :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(contains(refusal([&] { ErrorBudget({{"a", weight}}); }), "weights > 0, got check = a"));
  }
  for (const double total : {0.0, 1.0, -1e-6, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(contains(refusal([&] { ErrorBudget({{"a"}}, total); }), "0 < total < 1"));
  }
  ErrorBudget budget({{"a"}});
  CHECK(refusal([&] { budget.alpha("b"); }) == "ErrorBudget::alpha: a check of this budget, got name = b");
  CHECK(contains(refusal([&] { budget.rest("b"); }), "a check of this budget"));
  CHECK(contains(refusal([&] { budget.spend("b"); }), "a check of this budget"));
  CHECK(contains(refusal([&] { budget.spend("a", 0); }), "0 < amount"));
  CHECK(contains(refusal([&] { budget.spend("a", -1e-9); }), "0 < amount"));
}
