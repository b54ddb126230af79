#include <doctest/doctest.h>
#include <croquis/stats/summary.hpp>

#include <cmath>

#include "support/refusal.hpp"

using namespace croquis;

TEST_CASE("summarise: mean, standard error and quantiles of 1 ... 10, in any order") {
  // Type 7: the quantile q is at position 9 q of the sorted values, counted from 0. s^2 = 82.5 / 9.
  const Summary summary = summarise({10, 1, 9, 2, 8, 3, 7, 4, 6, 5});
  CHECK(summary.count == 10);
  CHECK(summary.mean == doctest::Approx(5.5));
  CHECK(summary.standard_error == doctest::Approx(0.9574271).epsilon(1e-6));
  CHECK(summary.q10 == doctest::Approx(1.9));
  CHECK(summary.q50 == doctest::Approx(5.5));
  CHECK(summary.q90 == doctest::Approx(9.1));
}

TEST_CASE("summarise: one value is all its quantiles, and says nothing of the spread") {
  const Summary summary = summarise({3});
  CHECK(summary.count == 1);
  CHECK(summary.mean == 3);
  CHECK(std::isnan(summary.standard_error));
  CHECK(summary.q10 == 3);
  CHECK(summary.q50 == 3);
  CHECK(summary.q90 == 3);
}

TEST_CASE("summarise: values that are all the same have standard error zero") {
  const Summary summary = summarise({0.1, 0.1, 0.1});
  CHECK(summary.standard_error == doctest::Approx(0).scale(1e-15));
  CHECK(summary.q90 == 0.1);
}

TEST_CASE("summarise: refuses no values") {
  CHECK(refusal([] { summarise({}); }) == "summarise: at least one value");
}
