#include <doctest/doctest.h>
#include <croquis/stats/design.hpp>

#include <cmath>

#include "stats/reference.hpp"
#include "support/capture.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

// P(after n trials the limit decides), from sums of the binomial distribution.
double power_by_summation(std::uint64_t n, double p, double delta, double alpha) {
  const std::vector<long double> truth = binomial_probabilities(n, p), at_limit = binomial_probabilities(n, delta);
  long double power = 0, tail = 0;
  for (std::uint64_t i = 0; i <= n; ++i) {
    const std::uint64_t k = p < delta ? i : n - i;
    tail += at_limit[k];
    if (tail <= alpha) power += truth[k];
  }
  return static_cast<double>(power);
}

}  // namespace

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

TEST_CASE("trials_to_decide: decides with the stated power, and with few more trials than the fewest that do") {
  struct Case {
    double p, delta;
  };
  for (const auto& [p, delta] : {Case{0.0, 0.2}, Case{0.05, 0.2}, Case{0.4, 0.2}, Case{1.0, 0.2}, Case{0.5, 0.7}}) {
    for (const double alpha : {0.05, 1e-3}) {
      CAPTURE_BINDING(p);
      CAPTURE_BINDING(delta);
      const double type_ii_error = 0.05;
      const std::uint64_t n = trials_to_decide(p, delta, alpha, type_ii_error);
      CHECK(power_by_summation(n, p, delta, alpha) >= 1 - type_ii_error);
      std::uint64_t fewest = 1;
      while (power_by_summation(fewest, p, delta, alpha) < 1 - type_ii_error) ++fewest;
      CHECK(fewest <= n);
      // The power goes up and down over a few steps of the limit, which are about 1 / delta trials apart.
      CHECK(static_cast<double>(n) <= static_cast<double>(fewest) + 5 / delta);
    }
  }
  CHECK(trials_to_decide(0, 0.05, 1e-3, 0.5) == trials_to_show(0.05, 1e-3));
  // What always fails is shown by the first n with delta^n <= alpha.
  for (const double delta : {0.05, 0.3, 0.9}) {
    CHECK(static_cast<double>(trials_to_decide(1, delta, 1e-3, 0.05)) == std::ceil(std::log(1e-3) / std::log(delta)));
  }
}

TEST_CASE("design: refuses effects that are none, and those that no practicable number of samples shows") {
  CHECK(contains(refusal([] { trials_to_show(0, 0.1); }),
                 "trials_to_show: 0 < delta < 1 and 0 < alpha < 1, got delta = 0"));
  CHECK(contains(refusal([] { trials_to_show(0.5, 1); }), "alpha = 1"));
  CHECK(contains(refusal([] { trials_to_show(1e-17, 0.1); }), "a practicable number of samples"));
  CHECK(contains(refusal([] { trials_to_decide(0.2, 0.2, 0.1, 0.1); }), "p not delta"));
  CHECK(contains(refusal([] { trials_to_decide(0.2, 0.2 + 1e-9, 0.1, 0.1); }), "a practicable number of samples"));
  CHECK(contains(refusal([] { trials_to_decide(0.1, 0.2, 0.1, 0); }), "0 < type_ii_error < 1"));
}
