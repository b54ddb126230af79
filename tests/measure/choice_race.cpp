#include <doctest/doctest.h>
#include <croquis/measure/choice_race.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "stats/reference.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr double kDelta = 0.1, kAlpha = 0.2;
constexpr int kRuns = 3000, kUnits = 150;

// Losses of rungs on units, one row a rung.
using Losses = std::vector<std::vector<double>>;

Losses independent_failures(std::size_t rungs, double p, const Key& key) {
  Losses losses;
  for (std::size_t j = 0; j < rungs; ++j) losses.push_back(bernoulli_sample(kUnits, p, key.child(j)));
  return losses;
}

// How many of kRuns end with a certificate that is wrong; all failures have probability delta, so each is.
std::uint64_t wrong_certificates(const std::function<bool(const Key&)>& certifies) {
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < kRuns; ++i) wrong += certifies(Key(test_seed()).child("race").child(i)) ? 1 : 0;
  return wrong;
}

bool keeps_the_promise(const std::function<bool(const Key&)>& certifies) {
  const std::uint64_t wrong = wrong_certificates(certifies);
  MESSAGE(wrong << " of " << kRuns << " runs certify what fails with probability delta; allowed " << kAlpha);
  return no_more_than(wrong, kRuns, kAlpha, kFailure);
}

// A race to its end on independent failures of probability delta.
bool race_certifies(std::size_t ladders, std::size_t rungs, const Key& key, std::size_t sharing) {
  std::vector<std::vector<double>> costs(ladders, std::vector<double>(rungs));
  for (auto& ladder : costs) {
    for (std::size_t j = 0; j < rungs; ++j) ladder[j] = static_cast<double>(rungs - j);
  }
  ChoiceRace race(costs, {.delta = kDelta, .alpha = kAlpha, .ladders = sharing, .futility = 1e-6});
  const Losses losses = independent_failures(ladders * rungs, kDelta, key);
  for (std::size_t t = 0; t < kUnits && !race.is_over() && !race.winner(); ++t) {
    for (const Rung rung : race.open()) race.add(rung, losses[rung.ladder * rungs + rung.rung][t]);
    race.settle();
  }
  return race.winner().has_value();
}

// The certificate of a single candidate by another rule, from its failures so far.
bool ever(const std::vector<double>& losses, const std::function<bool(std::uint64_t failures, std::uint64_t n)>& rule) {
  std::uint64_t failures = 0;
  for (std::size_t t = 0; t < losses.size(); ++t) {
    failures += losses[t] > 0 ? 1 : 0;
    if (rule(failures, t + 1)) return true;
  }
  return false;
}

double log_largest(const std::vector<double>& losses, int times = 1) {
  MeanBet bet(NullHypothesis::mean_at_least, kDelta);
  for (const double x : losses) {
    for (int i = 0; i < times; ++i) bet.add(x);
  }
  return bet.log_largest();
}

const double kNeeded = -std::log(kAlpha);

// A race of one ladder with these costs; futility as in the library.
ChoiceRace one_ladder(std::vector<double> costs) {
  return ChoiceRace({std::move(costs)}, {.delta = kDelta, .alpha = 0.05, .ladders = 1});
}

void observe(ChoiceRace& race, int times, const std::function<double(Rung)>& loss) {
  for (int i = 0; i < times && !race.is_over(); ++i) {
    for (const Rung rung : race.open()) race.add(rung, loss(rung));
    race.settle();
  }
}

}  // namespace

TEST_CASE("choice race: at the worst null hypothesis a wrong certificate is as rare as it says") {
  CHECK(keeps_the_promise([](const Key& key) { return race_certifies(1, 1, key, 1); }));
  // The number of rungs costs nothing: four rungs, each of which fails with probability delta exactly.
  CHECK(keeps_the_promise([](const Key& key) { return race_certifies(1, 4, key, 1); }));
  CHECK(keeps_the_promise([](const Key& key) { return race_certifies(5, 2, key, 5); }));
}

TEST_CASE("choice race: rules that are often taken break the promise, and the simulation sees it") {
  // Five ladders that do not share the error probability.
  CHECK_FALSE(keeps_the_promise([](const Key& key) {
    bool any = false;
    for (std::uint64_t l = 0; l < 5; ++l) any = race_certifies(1, 2, key.child("ladder").child(l), 1) || any;
    return any;
  }));
  // The p-value of a fixed number of draws, looked at after each of them.
  CHECK_FALSE(keeps_the_promise([](const Key& key) {
    return ever(independent_failures(1, kDelta, key)[0], [](std::uint64_t failures, std::uint64_t n) {
      return binomial_at_most(failures, n, kDelta) <= kAlpha;
    });
  }));
  // The order of the rungs is read off the data: the one that looks best is tested on what it looked best on.
  CHECK_FALSE(keeps_the_promise([](const Key& key) {
    const Losses losses = independent_failures(8, kDelta, key);
    const auto sum = [](const std::vector<double>& x) { return accumulated(x).mean(); };
    const auto best =
        std::min_element(losses.begin(), losses.end(), [&](const auto& a, const auto& b) { return sum(a) < sum(b); });
    return log_largest(*best) >= kNeeded;
  }));
  // The wealth of two halves, each at its own best moment, multiplied.
  CHECK_FALSE(keeps_the_promise([](const Key& key) {
    const std::vector<double> losses = independent_failures(1, kDelta, key)[0];
    const auto middle = losses.begin() + kUnits / 2;
    return log_largest({losses.begin(), middle}) + log_largest({middle, losses.end()}) >= kNeeded;
  }));
  // Eight heads of a sequence that fail together, counted as eight observations.
  CHECK_FALSE(keeps_the_promise(
      [](const Key& key) { return log_largest(independent_failures(1, kDelta, key)[0], 8) >= kNeeded; }));
}

TEST_CASE("choice race: shares of heads that fail keep the promise too") {
  // The share of 4 heads of a sequence, which fail together or alone; the mean is delta.
  CHECK(keeps_the_promise([](const Key& key) {
    const Losses failures = independent_failures(4, kDelta, key);
    const std::vector<double> together = bernoulli_sample(kUnits, 0.5, key.child("together"));
    std::vector<double> shares(kUnits);
    for (std::size_t t = 0; t < kUnits; ++t) {
      shares[t] =
          together[t] > 0 ? failures[0][t] : (failures[0][t] + failures[1][t] + failures[2][t] + failures[3][t]) / 4;
    }
    return log_largest(shares) >= kNeeded;
  }));
}

TEST_CASE("choice race: the limit of what leads without a certificate holds, although it leads by its losses") {
  // Of twenty rungs that all fail with probability 0.3, the one with the fewest failures on 30 units.
  constexpr double p = 0.3;
  constexpr std::size_t rungs = 20, units = 30;
  const auto fewest = [](const Losses& losses) {
    const auto failures = [](const std::vector<double>& of) {
      return std::accumulate(of.begin(), of.begin() + units, 0.0);
    };
    return std::min_element(losses.begin(), losses.end(),
                            [&](const auto& a, const auto& b) { return failures(a) < failures(b); });
  };
  CHECK(keeps_the_promise([&](const Key& key) {
    ChoiceRace race({std::vector<double>(rungs, 1)}, {.delta = kDelta, .alpha = kAlpha, .ladders = 1});
    const Losses losses = independent_failures(rungs, p, key);
    for (std::size_t t = 0; t < units; ++t) {
      for (std::size_t j = 0; j < rungs; ++j) race.add({0, j}, losses[j][t]);
    }
    return race.upper_limit({0, static_cast<std::size_t>(fewest(losses) - losses.begin())}) < p;
  }));
  // The limit for a rung that is named beforehand.
  CHECK_FALSE(keeps_the_promise([&](const Key& key) {
    const Losses losses = independent_failures(rungs, p, key);
    const std::vector<double>& best = *fewest(losses);
    return mean_upper_limit({best.begin(), best.begin() + units}, kAlpha) < p;
  }));
}

TEST_CASE("choice race: the cheapest rung that does not fail is found, and the race ends there") {
  ChoiceRace race({{8, 4, 2, 1}, {16, 3}}, {.delta = kDelta, .alpha = 0.05, .ladders = 2});
  // The last rung of the first ladder fails always, of the second nothing does.
  observe(race, 200, [](Rung rung) { return rung == Rung{0, 3} ? 1.0 : 0.0; });
  CHECK(race.is_over());
  REQUIRE(race.winner());
  CHECK(*race.winner() == Rung{0, 2});
  CHECK(race.state({0, 3}) == RungState::closed);
  CHECK(race.observed({0, 2}) == losses_to_show(kDelta, 0.025));
  CHECK(race.upper_limit({0, 2}) <= kDelta);
  CHECK_FALSE(race.leader());
}

TEST_CASE("choice race: the limit of a certified rung is at most delta, also where it is just certified") {
  for (const double delta : {0.01, 0.03, 0.2}) {
    for (std::size_t ladders = 1; ladders <= 60; ++ladders) {
      ChoiceRace race({{1.0}}, {.delta = delta, .alpha = 0.1, .ladders = ladders});
      observe(race, 10000, [](Rung) { return 0.0; });
      REQUIRE(race.winner());
      REQUIRE(race.upper_limit({0, 0}) <= delta);
    }
  }
}

TEST_CASE("choice race: a rung below one that fails is not certified, whatever it does") {
  ChoiceRace race = one_ladder({4, 2});
  observe(race, 400, [](Rung rung) { return rung.rung == 0 ? 1.0 : 0.0; });
  CHECK(race.is_over());
  CHECK_FALSE(race.winner());
  CHECK(race.state({0, 1}) == RungState::closed);
  CHECK(race.observed({0, 1}) < losses_to_show(kDelta, 0.05));
}

TEST_CASE("choice race: what is not cheaper than a certified rung is not observed any longer") {
  ChoiceRace race({{1}, {5, 2}, {5, 0.5}}, {.delta = kDelta, .alpha = 0.05, .ladders = 3});
  observe(race, static_cast<int>(losses_to_show(kDelta, 0.05 / 3)),
          [](Rung rung) { return rung.ladder == 0 ? 0.0 : 0.05; });
  REQUIRE(race.winner());
  CHECK(*race.winner() == Rung{0, 0});
  CHECK(race.state({1, 0}) == RungState::closed);
  CHECK(race.state({1, 1}) == RungState::closed);
  // 5 is a step on the way to .5.
  CHECK(race.state({2, 0}) == RungState::open);
  CHECK(race.open().size() == 2);
}

TEST_CASE("choice race: what is not random is known at once") {
  ChoiceRace race = one_ladder({3, 2, 1});
  race.add_certain({0, 0}, 0);
  race.add_certain({0, 1}, 0);
  race.add_certain({0, 2}, 1);
  race.settle();
  CHECK(race.is_over());
  CHECK(*race.winner() == Rung{0, 1});
  CHECK(race.upper_limit({0, 1}) == 0);
  CHECK(race.observed({0, 1}) == 1);
}

TEST_CASE("choice race: what is not random is decided by itself, also below a rung that is not good enough") {
  ChoiceRace race = one_ladder({5, 4, 3, 2, 1});
  for (const auto& [rung, loss] : {std::pair(0, 1.0), {1, 0.0}, {2, kDelta}, {3, 0.09}, {4, 1.0}}) {
    race.add_certain({0, static_cast<std::size_t>(rung)}, loss);
  }
  race.settle();
  CHECK(race.is_over());
  REQUIRE(race.winner());
  CHECK(*race.winner() == Rung{0, 3});
  CHECK(race.upper_limit({0, 3}) == 0.09);
  CHECK(race.state({0, 2}) == RungState::closed);
  // Random rungs need the random ones above them alone.
  ChoiceRace mixed = one_ladder({3, 2, 1});
  mixed.add_certain({0, 1}, 1);
  mixed.settle();
  CHECK(*mixed.units_needed({0, 2}) == losses_to_show(kDelta, 0.05));
  CHECK_FALSE(mixed.units_needed({0, 1}));
  observe(mixed, 100, [](Rung) { return 0.0; });
  REQUIRE(mixed.winner());
  CHECK(*mixed.winner() == Rung{0, 2});
}

TEST_CASE("choice race: where losses are shares, as many units are needed as it takes when they are repeated") {
  const auto share = [](Rung rung) { return rung.ladder == 0 ? 0.09 : 0.0; };
  ChoiceRace race({{1}, {2}}, {.delta = kDelta, .alpha = 0.05, .ladders = 2});
  observe(race, 10, share);
  const auto needed = race.units_needed({0, 0});
  REQUIRE(needed);
  int more = 0;
  for (; race.state({0, 0}) == RungState::open; ++more) observe(race, 1, share);
  CHECK(static_cast<std::uint64_t>(more) == *needed);
}

TEST_CASE("choice race: the leader, and how much more it takes") {
  ChoiceRace race = one_ladder({4, 2, 1});
  CHECK(*race.units_needed({0, 2}) == losses_to_show(kDelta, 0.05));
  observe(race, 10, [](Rung rung) { return rung.rung == 2 ? 0.15 : 0.0; });
  REQUIRE(race.leader());
  CHECK(*race.leader() == Rung{0, 1});
  CHECK_FALSE(race.units_needed({0, 2}));
  const auto needed = race.units_needed({0, 1});
  REQUIRE(needed);
  CHECK(*needed == losses_to_show(kDelta, 0.05) - 10);
  observe(race, static_cast<int>(*needed) - 1, [](Rung rung) { return rung.rung == 2 ? 0.15 : 0.0; });
  CHECK_FALSE(race.winner());
  observe(race, 1, [](Rung rung) { return rung.rung == 2 ? 0.15 : 0.0; });
  CHECK(race.winner());
}

TEST_CASE("choice race: what cannot be certified leads only where nothing can") {
  // The cheap rung of the first ladder has never failed, but the one above it, which it needs, fails too often.
  ChoiceRace race({{4, 1}, {3}}, {.delta = kDelta, .alpha = 0.05, .ladders = 2});
  observe(race, 10, [](Rung rung) { return rung == Rung{0, 0} ? 0.15 : 0.0; });
  REQUIRE(race.leader());
  CHECK_FALSE(race.units_needed({0, 1}));
  CHECK(*race.leader() == Rung{1, 0});
  CHECK(race.units_needed(*race.leader()));
  // A share of failures of delta is never certified either.
  ChoiceRace at_delta({{1}, {3}}, {.delta = kDelta, .alpha = 0.05, .ladders = 2});
  observe(at_delta, 10, [](Rung rung) { return rung.ladder == 0 ? kDelta : 0.0; });
  CHECK(*at_delta.leader() == Rung{1, 0});
}

TEST_CASE("choice race: where all fail too often, the one that fails least leads, of several the costliest") {
  const auto leader_of = [](double second) {
    ChoiceRace race({{1}, {2}, {3}}, {.delta = kDelta, .alpha = 0.05, .ladders = 3});
    observe(race, 1, [&](Rung rung) { return rung.ladder == 1 ? second : 1.0; });
    REQUIRE(race.leader());
    CHECK_FALSE(race.units_needed(*race.leader()));
    return race.leader()->ladder;
  };
  CHECK(leader_of(0.5) == 1);
  CHECK(leader_of(1) == 2);
}

TEST_CASE("choice race: settings outside their ranges are refused") {
  CHECK(contains(refusal([] { ChoiceRace({{1}}, {.delta = 0}); }), "delta = 0"));
  CHECK(contains(refusal([] { ChoiceRace({{1}}, {.alpha = 1}); }), "alpha = 1"));
  CHECK(contains(refusal([] { ChoiceRace({{1}}, {.futility = 2}); }), "futility = 2"));
  CHECK(contains(refusal([] { ChoiceRace({{1}, {1}}, {.ladders = 1}); }), "no more ladders"));
  ChoiceRace race({{1}}, {});
  CHECK(contains(refusal([&] { race.add_certain({0, 0}, 2); }), "mean = 2"));
  for (const Rung none : {Rung{0, 1}, Rung{1, 0}}) {
    const std::string rule = "ChoiceRace: a rung of its ladders, got ladder = ";
    CHECK(contains(refusal([&] { race.add(none, 0); }), rule));
    CHECK(contains(refusal([&] { race.add_certain(none, 0); }), rule));
    CHECK(contains(refusal([&] { race.state(none); }), rule));
    CHECK(contains(refusal([&] { race.cost(none); }), rule));
    CHECK(contains(refusal([&] { race.units_needed(none); }), rule));
    CHECK(contains(refusal([&] { race.upper_limit(none); }), rule));
    CHECK(contains(refusal([&] { race.observed(none); }), rule));
  }
}
