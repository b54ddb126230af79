#include <doctest/doctest.h>
#include <croquis/stats/design.hpp>

#include <cmath>

#include "stats/reference.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE("trials_to_show: 135 trials without a failure show 0.05, 688 show 0.01, at 99.9 %") {
  CHECK(trials_to_show(0.05, 1e-3) == 135);
  CHECK(trials_to_show(0.01, 1e-3) == 688);
  CHECK(trials_to_show(0.5, 0.6) == 1);
  for (const double delta : {0.3, 0.1, 1e-3, 1e-6}) {
    for (const double alpha : {0.05, 1e-6, 1e-9}) {
      CHECK(static_cast<double>(trials_to_show(delta, alpha)) == std::ceil(std::log(alpha) / std::log1p(-delta)));
    }
  }
}

TEST_CASE("trials_to_show: with failures, the smallest n by the binomial sum") {
  for (const std::uint64_t failures : {0, 1, 3, 10}) {
    for (const double delta : {0.4, 0.1}) {
      for (const double alpha : {0.05, 1e-4}) {
        CAPTURE(failures);
        const std::uint64_t n = trials_to_show(delta, alpha, failures);
        CHECK(binomial_at_most(failures, n, delta) <= alpha);
        CHECK(binomial_at_most(failures, n - 1, delta) > alpha);
      }
    }
  }
}

TEST_CASE("trials_to_show: refuses effects that are none, and those that no practicable number of samples shows") {
  CHECK(contains(refusal([] { trials_to_show(0, 0.1); }),
                 "trials_to_show: 0 < delta < 1 and 0 < alpha < 1, got delta = 0"));
  CHECK(contains(refusal([] { trials_to_show(0.5, 1); }), "alpha = 1"));
  CHECK(contains(refusal([] { trials_to_show(1e-17, 0.1); }), "a practicable number of samples"));
  CHECK(contains(refusal([] { trials_to_show(0.5, 0.1, kMostTrials); }), "a practicable number of samples"));
}
