#include <doctest/doctest.h>
#include <croquis/stats/decision.hpp>

#include <cmath>
#include <functional>
#include <utility>

#include "stats/reference.hpp"
#include "support/capture.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

struct Probabilities {
  double holds = 0, fails = 0, undecided = 0;
  double missed = 0;  // some interval did not contain p
};

using Rule = std::function<Interval(std::uint64_t failures, std::uint64_t trials, std::uint64_t look)>;

// What a sequential plan does when failures have probability p, exactly: the distribution of (failures, nothing missed
// so far) from look to look.
Probabilities follow(const std::vector<std::uint64_t>& looks, double p, double delta, const Rule& rule) {
  Probabilities result;
  std::vector<long double> good = {1.0L}, bad = {0.0L};  // undecided mass, by number of failures
  std::uint64_t before = 0;
  for (std::size_t look = 1; look <= looks.size(); ++look) {
    const std::uint64_t n = looks[look - 1];
    const std::vector<long double> more = binomial_probabilities(n - before, p);
    std::vector<long double> next_good(n + 1, 0.0L), next_bad(n + 1, 0.0L);
    for (std::uint64_t k = 0; k <= before; ++k) {
      for (std::uint64_t j = 0; j <= n - before; ++j) {
        next_good[k + j] += good[k] * more[j];
        next_bad[k + j] += bad[k] * more[j];
      }
    }
    for (std::uint64_t k = 0; k <= n; ++k) {
      const Interval interval = rule(k, n, look);
      if (!interval.contains(p)) {
        next_bad[k] += next_good[k];
        next_good[k] = 0;
      }
      const auto mass = static_cast<double>(next_good[k] + next_bad[k]);
      if (interval.hi > delta && interval.lo <= delta) continue;
      (interval.hi <= delta ? result.holds : result.fails) += mass;
      result.missed += static_cast<double>(next_bad[k]);
      next_good[k] = next_bad[k] = 0;
    }
    good = next_good;
    bad = next_bad;
    before = n;
  }
  for (std::size_t k = 0; k < good.size(); ++k) {
    result.undecided += static_cast<double>(good[k] + bad[k]);
    result.missed += static_cast<double>(bad[k]);
  }
  return result;
}

// The looks and limits of FailureDecision, taken from it.
std::vector<std::uint64_t> looks_of(const FailureDecisionOptions& options) {
  FailureDecision decision(options);
  std::vector<std::uint64_t> looks;
  while (!decision.finished()) {
    looks.push_back(decision.next_look());
    decision.look(static_cast<std::uint64_t>(std::llround(options.delta * static_cast<double>(decision.next_look()))));
  }
  return looks;
}

Interval interval_of(const FailureDecisionOptions& options, std::uint64_t failures, std::uint64_t trials,
                     std::uint64_t look) {
  return clopper_pearson(failures, trials, options.alpha / std::pow(2.0, static_cast<double>(look)));
}

}  // namespace

TEST_CASE("Verdict: seven names, there and back, and what an outcome means") {
  const std::pair<Verdict, const char*> names[] = {{Verdict::verified, "VERIFIED"},
                                                   {Verdict::holds, "HOLDS"},
                                                   {Verdict::refuted_proof, "REFUTED_PROOF"},
                                                   {Verdict::refuted, "REFUTED"},
                                                   {Verdict::vacuous, "VACUOUS"},
                                                   {Verdict::inconclusive, "INCONCLUSIVE"},
                                                   {Verdict::not_applicable, "NOT_APPLICABLE"}};
  for (const auto& [verdict, name] : names) {
    CHECK(verdict_name(verdict) == name);
    CHECK(verdict_from_name(name) == verdict);
  }
  CHECK(contains(refusal([] { verdict_from_name("verified"); }),
                 "VERIFIED, HOLDS, REFUTED, REFUTED_PROOF, VACUOUS, INCONCLUSIVE or"));
  CHECK(contains(refusal([] { verdict_name(static_cast<Verdict>(7)); }), "one of the verdicts"));
  CHECK(verdict_of(Outcome::holds) == Verdict::verified);
  CHECK(verdict_of(Outcome::fails) == Verdict::refuted);
  CHECK(verdict_of(Outcome::undecided) == Verdict::inconclusive);
}

TEST_CASE("FailureDecision: looks at n, 2 n, 4 n, ... and at last max_trials, with alpha / 2^look") {
  const FailureDecisionOptions options{.delta = 0.25, .alpha = 0.1, .max_trials = 100, .first_look = 12};
  CHECK(looks_of(options) == std::vector<std::uint64_t>{12, 24, 48, 96, 100});
  FailureDecision decision(options);
  for (const std::uint64_t failures : {3, 6, 12, 24, 25}) {
    const std::uint64_t trials = decision.next_look();
    const FailureLook& look = decision.look(failures);
    const Interval expected = interval_of(options, failures, trials, look.look);
    CHECK(look.trials == trials);
    CHECK(look.failures == failures);
    CHECK(look.interval.lo == expected.lo);
    CHECK(look.interval.hi == expected.hi);
    CHECK(look.outcome == Outcome::undecided);
  }
  CHECK(decision.last().look == 5);
  CHECK(decision.finished());
}

TEST_CASE("FailureDecision: the first look is the earliest at which no failure decides, or max_trials") {
  // alpha / 2 at the first look, half of it for the upper limit: 0.95^n <= 0.00025.
  const FailureDecisionOptions options{.delta = 0.05, .alpha = 1e-3, .max_trials = 100000};
  FailureDecision decision(options);
  CHECK(static_cast<double>(decision.next_look()) == std::ceil(std::log(0.00025) / std::log(0.95)));
  CHECK(decision.look(0).outcome == Outcome::holds);
  CHECK(decision.finished());
  CHECK_FALSE(decision.last().trials_needed.has_value());
  const FailureDecision few({.delta = 0.05, .alpha = 1e-3, .max_trials = 100});
  CHECK(few.next_look() == 100);
  // Where no number of trials that can be made is enough, failures still refute.
  FailureDecision rare({.delta = 1e-12, .alpha = 1e-3, .max_trials = 10});
  CHECK(rare.next_look() == 10);
  CHECK(level_of_last_look({.delta = 1e-12, .alpha = 1e-3, .max_trials = 10}) == 5e-4);
  CHECK(rare.look(1).outcome == Outcome::fails);
}

TEST_CASE("FailureDecision: wrong with probability at most alpha, exactly computed, and alpha at every look is not") {
  for (const double delta : {0.1, 0.3}) {
    const FailureDecisionOptions options{.delta = delta, .alpha = 0.1, .max_trials = 600, .first_look = 10};
    const std::vector<std::uint64_t> looks = looks_of(options);
    const auto rule = [&](auto k, auto n, auto look) { return interval_of(options, k, n, look); };
    for (const double p : {0.5 * delta, 0.9 * delta, delta, delta + 1e-9, 1.1 * delta, 2 * delta}) {
      CAPTURE(p);
      const Probabilities found = follow(looks, p, delta, rule);
      CHECK(found.holds + found.fails + found.undecided == doctest::Approx(1));
      CHECK(found.missed <= options.alpha);
      CHECK((p > delta ? found.holds : found.fails) <= options.alpha);
    }
    const Probabilities careless =
        follow(looks, delta, delta, [&](auto k, auto n, auto) { return clopper_pearson(k, n, options.alpha); });
    CHECK(careless.missed > options.alpha);
    // A mutant that never looks at the lower limit is wrong for every p above delta at last.
    const Probabilities one_sided = follow(looks, 3 * delta, delta, [&](auto k, auto n, auto look) {
      return Interval{0, interval_of(options, k, n, look).hi};
    });
    CHECK(one_sided.fails == 0);
    CHECK(follow(looks, 3 * delta, delta, rule).fails > 1 - 1e-6);
  }
}

TEST_CASE("FailureDecision: with 8192 trials it decides 0.05 and 0.2 against 0.1") {
  // At the last look, number 10, either limit has alpha / 2^11 = 5e-13. By Chernoff's bound it is below 0.1 where at
  // most 0.0758 of the trials fail (exp(-8192 KL(0.0758, 0.1)) < 5e-13), of which p = 0.05 falls short with
  // exp(-8192 KL(0.0758, 0.05)) < 1e-21; with p = 0.2 it is clearer still. Looks before it err with alpha at most.
  constexpr double alpha = 1e-9, delta = 0.1;
  const Key key = Key(test_seed()).child("decide");
  for (const double p : {0.0, 0.05, 0.2, 1.0}) {
    CAPTURE(p);
    const FailureDecisionOptions options{.delta = delta, .alpha = alpha, .max_trials = 8192, .first_look = 16};
    const std::vector<double> trials = bernoulli_sample(options.max_trials, p, key);
    std::uint64_t expected_first = 0;
    const FailureLook last = decide(options, [&](std::uint64_t first, std::uint64_t count) {
      CHECK(first == expected_first);  // every trial once
      expected_first = first + count;
      std::uint64_t failures = 0;
      for (std::uint64_t i = first; i < first + count; ++i) failures += trials[i] > 0 ? 1 : 0;
      return failures;
    });
    CHECK(last.outcome == (p > delta ? Outcome::fails : Outcome::holds));
    CHECK(last.trials == expected_first);
    CHECK(last.interval.contains(p));
  }
}

TEST_CASE("FailureDecision: the estimate of what is needed is right when failures go on at the same rate") {
  // From 128 trials without a failure on, the next look decides.
  for (const auto& [rate, first_look] :
       {std::pair<double, std::uint64_t>{0.0, 16}, {0.0625, 16}, {0.125, 16}, {0.25, 16}, {0.0, 128}}) {
    CAPTURE_BINDING(rate);
    CAPTURE_BINDING(first_look);
    FailureDecision decision({.delta = 0.09, .alpha = 1e-6, .max_trials = 1 << 20, .first_look = first_look});
    const auto next = [&, rate = rate]() -> const FailureLook& {
      return decision.look(static_cast<std::uint64_t>(rate * static_cast<double>(decision.next_look())));
    };
    const FailureLook first = next();
    REQUIRE(first.outcome == Outcome::undecided);
    REQUIRE(first.trials_needed.has_value());
    while (!decision.finished()) next();
    CHECK(decision.last().trials == *first.trials_needed);
    CHECK(decision.last().outcome == (rate > 0.09 ? Outcome::fails : Outcome::holds));
  }
  FailureDecision on_the_edge({.delta = 0.25, .alpha = 1e-6, .max_trials = 64, .first_look = 64});
  CHECK_FALSE(on_the_edge.look(16).trials_needed.has_value());
}

TEST_CASE("FailureDecision: with the smallest alpha and the most trials there are limits at every look") {
  FailureDecision decision({.delta = 0.5, .alpha = 1e-49, .max_trials = kMostTrials, .first_look = 1});
  while (!decision.finished()) decision.look(decision.next_look() / 2);
  CHECK(decision.last().look == 34);
  CHECK(decision.last().trials == kMostTrials);
  CHECK(decision.last().interval.contains(0.5));
}

TEST_CASE("FailureDecision: refuses options and counts that cannot be") {
  CHECK(contains(refusal([] { FailureDecision({.delta = 0}); }), "FailureDecision: 0 < delta < 1, got delta = 0"));
  CHECK(contains(refusal([] { FailureDecision({.delta = 1}); }), "0 < delta < 1"));
  CHECK(contains(refusal([] { FailureDecision({.alpha = 0}); }), "0 < alpha < 1"));
  CHECK(contains(refusal([] { FailureDecision({.alpha = 9e-50}); }), "alpha of at least 1e-49, got alpha = 9e-50"));
  CHECK(contains(refusal([] { FailureDecision({.max_trials = 0}); }), "1 <= max_trials"));
  CHECK(contains(refusal([] { FailureDecision({.max_trials = 10, .first_look = 11}); }), "first_look <= max_trials"));
  FailureDecision decision({.delta = 0.5, .alpha = 0.1, .max_trials = 20, .first_look = 10});
  CHECK(contains(refusal([&] { decision.look(11); }), "failures of all trials so far, got failures = 11"));
  decision.look(5);
  CHECK(contains(refusal([&] { decision.look(4); }), "failures of all trials so far"));
  CHECK(contains(refusal([&] { decision.look(16); }), "failures of all trials so far"));
  decision.look(10);
  CHECK(contains(refusal([&] { decision.look(10); }), "no look after the last, got trials = 20"));
}

TEST_CASE("level_of_last_look: half of alpha for each look that is made before max_trials") {
  for (const std::uint64_t first : {0, 7, 100, 640}) {
    const FailureDecisionOptions options{.delta = 0.1, .alpha = 1e-3, .max_trials = 640, .first_look = first};
    FailureDecision decision(options);
    double level = options.alpha;
    while (!decision.finished()) {
      decision.look(static_cast<std::uint64_t>(std::round(0.1 * double(decision.next_look()))));  // decides nothing
      level /= 2;
    }
    REQUIRE(decision.last().outcome == Outcome::undecided);
    CHECK(level_of_last_look(options) == level);
  }
}
