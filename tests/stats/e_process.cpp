#include <doctest/doctest.h>
#include <croquis/stats/e_process.hpp>

#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "stats/reference.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr auto kLeast = NullHypothesis::mean_at_least;
constexpr auto kMost = NullHypothesis::mean_at_most;

double wealth_of(NullHypothesis null, double delta, const std::vector<double>& losses) {
  MeanBet bet(null, delta);
  for (const double x : losses) bet.add(x);
  return std::exp(bet.log_wealth());
}

std::vector<double> failures_of(int failures, int count) {
  std::vector<double> losses(static_cast<std::size_t>(count), 0.0);
  std::fill(losses.begin(), losses.begin() + failures, 1.0);
  return losses;
}

// The mean of the wealth after `count` losses that are independent draws from a distribution on a few points, by going
// through all sequences.
double mean_wealth(NullHypothesis null, double delta, const std::vector<double>& points,
                   const std::vector<double>& probabilities, int count) {
  const std::function<double(std::vector<double>&)> mean_from = [&](std::vector<double>& losses) {
    if (losses.size() == static_cast<std::size_t>(count)) return wealth_of(null, delta, losses);
    double sum = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      losses.push_back(points[i]);
      sum += probabilities[i] * mean_from(losses);
      losses.pop_back();
    }
    return sum;
  };
  std::vector<double> none;
  return mean_from(none);
}

// P(the wealth reaches 1 / alpha within `count` losses) for failures of probability p, exactly: for losses of 0 and 1
// the wealth depends on their numbers alone, and the paths that have not reached it are counted step by step.
double crossing_probability(NullHypothesis null, double delta, double alpha, double p, int count) {
  std::vector<double> going = {1.0};  // by number of failures
  double crossed = 0;
  for (int n = 1; n <= count; ++n) {
    std::vector<double> next(static_cast<std::size_t>(n) + 1, 0.0);
    for (std::size_t k = 0; k < going.size(); ++k) {
      next[k] += going[k] * (1 - p);
      next[k + 1] += going[k] * p;
    }
    for (std::size_t k = 0; k < next.size(); ++k) {
      if (next[k] == 0 || wealth_of(null, delta, failures_of(static_cast<int>(k), n)) < 1 / alpha) continue;
      crossed += next[k];
      next[k] = 0;
    }
    going = std::move(next);
  }
  return crossed;
}

}  // namespace

TEST_CASE("MeanBet: for failures it is the mixture of likelihood ratios") {
  // The integral over r in (0, delta) in closed form, an incomplete beta function, in place of the 32 points. Its
  // midpoint rule is good to (n / 32)^2 / 24 or so while n delta is small.
  for (const double delta : {0.05, 0.2}) {
    for (const int n : {1, 10, 40}) {
      for (const int k : {0, 1, 3}) {
        if (k > n) continue;
        const double chance = std::pow(delta, k) * std::pow(1 - delta, n - k);
        const double integral = boost::math::beta(k + 1.0, n - k + 1.0, delta) / delta / chance;
        const double expected = 0.7 * integral + (k == 0 ? 0.3 * std::pow(1 - delta, -n) : 0.0);
        CAPTURE(delta);
        CAPTURE(n);
        CAPTURE(k);
        CHECK(wealth_of(kLeast, delta, failures_of(k, n)) == doctest::Approx(expected).epsilon(0.01));
      }
    }
  }
}

TEST_CASE("MeanBet: the wealth is a martingale at the border of the null hypothesis, and falls within it") {
  struct Losses {
    std::vector<double> points, probabilities;
    double mean;
  };
  // The same mean, .2, of failures and of shares; larger ones; smaller ones.
  const Losses border[] = {{{0, 1}, {0.8, 0.2}, 0.2}, {{0, 0.25, 1}, {0.5, 0.4, 0.1}, 0.2}, {{0.2}, {1.0}, 0.2}};
  for (const Losses& losses : border) {
    for (const auto null : {kLeast, kMost}) {
      CHECK(mean_wealth(null, losses.mean, losses.points, losses.probabilities, 7) ==
            doctest::Approx(1).epsilon(1e-12));
    }
  }
  const Losses more{{0, 1}, {0.6, 0.4}, 0.4}, fewer{{0, 0.5}, {0.9, 0.1}, 0.05};
  CHECK(mean_wealth(kLeast, 0.2, more.points, more.probabilities, 7) < 0.7);
  CHECK(mean_wealth(kMost, 0.2, more.points, more.probabilities, 7) > 1.2);
  CHECK(mean_wealth(kMost, 0.2, fewer.points, fewer.probabilities, 7) < 0.7);
  CHECK(mean_wealth(kLeast, 0.2, fewer.points, fewer.probabilities, 7) > 1.2);
}

TEST_CASE("MeanBet: the wealth ever reaches 1 / alpha with probability at most alpha, exactly") {
  // Exact, so it is no matter of luck; 120 losses.
  for (const double delta : {0.1, 0.3}) {
    for (const double alpha : {0.05, 0.2}) {
      const double below = crossing_probability(kLeast, delta, alpha, delta, 120);
      const double above = crossing_probability(kMost, delta, alpha, delta, 120);
      CAPTURE(below);
      CAPTURE(above);
      CHECK(below <= alpha);
      CHECK(above <= alpha);
      // It is no empty guarantee: a good part of alpha is used.
      CHECK(below > alpha / 5);
      CHECK(above > alpha / 5);
    }
  }
}

TEST_CASE("MeanBet: it keeps the largest wealth, the count and the mean") {
  MeanBet bet(kLeast, 0.1);
  for (int i = 0; i < 30; ++i) bet.add(0);
  const double before = bet.log_wealth();
  CHECK(before == bet.log_largest());
  bet.add(1);
  CHECK(bet.log_wealth() < before);
  CHECK(bet.log_largest() == before);
  CHECK(bet.count() == 31);
  CHECK(bet.mean() == doctest::Approx(1.0 / 31));
}

TEST_CASE("mean_upper_limit: the delta at which the wealth once reached 1 / alpha") {
  for (const int n : {10, 60}) {
    for (const int k : {0, 2}) {
      const double limit = mean_upper_limit(failures_of(k, n), 0.05);
      CAPTURE(limit);
      CHECK(limit < 1);
      CHECK(std::exp(std::log(wealth_of(kLeast, limit, failures_of(k, n)))) == doctest::Approx(20).epsilon(0.01));
    }
  }
  // The largest wealth counts: failures after it change nothing.
  std::vector<double> late(50, 0.0);
  const double before = mean_upper_limit(late, 0.05);
  late.insert(late.end(), 5, 1.0);
  CHECK(mean_upper_limit(late, 0.05) == doctest::Approx(before).epsilon(1e-4));
  CHECK(mean_upper_limit({}, 0.05) == 1);
}

TEST_CASE("mean_upper_limit: below the mean with probability at most alpha") {
  // 1000 samples of 60 failures of probability .2, looked at once: at most alpha of them by the guarantee.
  constexpr double alpha = 0.1, failure = 1e-9;
  std::uint64_t below = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto losses = bernoulli_sample(60, 0.2, Key(test_seed()).child("mean_upper_limit").child(i));
    below += mean_upper_limit(losses, alpha) < 0.2 ? 1 : 0;
  }
  CAPTURE(below);
  CHECK(no_more_than(below, 1000, alpha, failure));
}

TEST_CASE("losses_to_show: the first number of zeros at which the wealth is there") {
  for (const double delta : {0.02, 0.1, 0.4}) {
    for (const double alpha : {0.05, 1e-4}) {
      const auto n = static_cast<int>(losses_to_show(delta, alpha));
      CHECK(wealth_of(kLeast, delta, failures_of(0, n)) >= 1 / alpha);
      CHECK(wealth_of(kLeast, delta, failures_of(0, n - 1)) < 1 / alpha);
    }
  }
  CHECK(losses_to_show(1e-9, 1e-6) > 1'000'000'000);  // without going through them
  // 0.3 e^y + 0.7 (e^y - 1) / y = 10^6 at y = n delta = 14.87.
  CHECK(static_cast<double>(losses_to_show(1e-13, 1e-6)) == doctest::Approx(1.487e14).epsilon(0.001));
  CHECK(losses_to_show(1e-300, 1e-6) == std::uint64_t{1} << 52);  // no sum of so small steps gets there
}

TEST_CASE("MeanBet: how many losses more, if those so far are repeated") {
  // Failures; equal shares; shares among which there is no failure; with one. Each list is repeated as a whole.
  const std::vector<std::vector<double>> cases = {
      failures_of(1, 20), {0.1, 0.1}, {0, 0.25, 0.125, 0.125}, {1, 0, 0, 0.25, 0, 0, 0.125, 0, 0, 0}};
  for (const std::vector<double>& losses : cases) {
    MeanBet bet(kLeast, 0.2);
    for (const double x : losses) bet.add(x);
    const auto more = bet.losses_until(std::log(1000.0));
    REQUIRE(more);
    std::vector<double> repeated = losses;
    std::uint64_t before = 0;  // the losses that were added when the wealth was last too small
    while (wealth_of(kLeast, 0.2, repeated) < 1000) {
      before = repeated.size() - losses.size();
      repeated.insert(repeated.end(), losses.begin(), losses.end());
    }
    CAPTURE(losses);
    CAPTURE(before);
    CHECK(*more > before);
    CHECK(*more <= before + losses.size());
  }
}

TEST_CASE("MeanBet: losses whose mean is delta or more never get there, and nothing is needed of what is there") {
  for (const std::vector<double>& losses : {failures_of(2, 10), failures_of(9, 10), {0.2}, {0.15, 0.25}}) {
    MeanBet bet(kLeast, 0.2);
    for (const double x : losses) bet.add(x);
    CHECK_FALSE(bet.losses_until(std::log(20.0)));
    CHECK(*bet.losses_until(bet.log_wealth()) == 0);
  }
  MeanBet nearly(kLeast, 0.2);  // would get there after 10^13 losses, 2^43
  nearly.add(0.2 - 1e-13);
  CHECK_FALSE(nearly.losses_until(std::log(20.0)));
}

TEST_CASE("e-processes: what is no probability and no loss is refused") {
  MeanBet bet(kLeast, 0.1);
  for (const double loss : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(contains(refusal([&] { bet.add(loss); }), "losses in [0, 1]"));
  }
  for (const double delta : {0.0, 1.0, -1.0}) {
    CHECK(contains(refusal([&] { MeanBet(kMost, delta); }), "0 < delta < 1"));
    CHECK(contains(refusal([&] { losses_to_show(delta, 0.5); }), "0 < delta < 1"));
    CHECK(contains(refusal([&] { losses_to_show(0.5, delta); }), "0 < alpha < 1"));
    CHECK(contains(refusal([&] { mean_upper_limit({0}, delta); }), "0 < alpha < 1"));
  }
  CHECK(contains(refusal([] { MeanBet(kMost, 1e-309); }), "1 / delta finite"));  // r / delta would overflow
  MeanBet least_delta(kMost, 1e-308);
  least_delta.add(0);
  CHECK(std::isfinite(least_delta.log_wealth()));
}
