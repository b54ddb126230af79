#include <doctest/doctest.h>
#include <croquis/stats/summary.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "support/refusal.hpp"
#include "support/text.hpp"

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

TEST_CASE("quantile: an infinite value counts only where it has weight") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(quantile({1, 2, inf}, 0.5) == 2);
  CHECK(quantile({-1, 0, inf}, 0.5) == 0);
  CHECK(quantile({-inf, 0, 4}, 0.5) == 0);
  CHECK(quantile({-inf, 0}, 0.5) == -inf);
  CHECK(quantile({-inf, inf}, 0.5) == -inf);
  CHECK(quantile({1, 2, inf}, 0.6) == inf);
  CHECK(quantile({1, inf, inf}, 1) == inf);
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

TEST_CASE("summarise: heavy tails are those whose mean few values decide; neither equal nor plain values are marked") {
  CHECK(summarise({1, 2, 3, 4, 10.1}).heavy_tailed);       // more than half of the sum
  CHECK_FALSE(summarise({1, 2, 3, 4, 9.9}).heavy_tailed);  // less, and the mean 3.98 is below the 90 % quantile
  CHECK(summarise({-1, -2, -3, 0, -10}).heavy_tailed);
  std::vector<double> values(30, 0.01);  // two of 32, none with half of the sum: the mean is above the quantile 0.01
  values.insert(values.end(), {1, 1});
  CHECK(summarise(values).heavy_tailed);
  for (double& x : values) x = 1 - x;  // the mean is below the 10 % quantile
  CHECK(summarise(values).heavy_tailed);
  CHECK_FALSE(summarise({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).heavy_tailed);
  CHECK_FALSE(summarise({0.1, 0.1, 0.1, 0.1, 0.1, 0.1}).heavy_tailed);
  CHECK_FALSE(summarise({0, 0, 0}).heavy_tailed);
  CHECK_FALSE(summarise({1, 1000}).heavy_tailed);  // of two values nothing is said
}

TEST_CASE("summarise: smallest and largest, in any order") {
  const Summary summary = summarise({3, -1, 7, 2});
  CHECK(summary.smallest == -1);
  CHECK(summary.largest == 7);
}

TEST_CASE("summarise_nested: that of the members' means, against sums written out") {
  // Means 2, 5, 11; between them: mean 6, s^2 = (16 + 1 + 25) / 2 = 21.
  const Summary summary = summarise_nested({{1, 3}, {}, {5, 5, 5}, {10, 12, 11, 11}});
  CHECK(summary.count == 3);
  CHECK(summary.mean == doctest::Approx(6));
  CHECK(summary.standard_error == doctest::Approx(std::sqrt(21.0 / 3)));
  CHECK(summary.q50 == doctest::Approx(5));
  CHECK(summary.smallest == 2);
  CHECK(summary.largest == 11);
  CHECK_FALSE(summary.heavy_tailed);
  CHECK(summarise_nested({{1, 2, 3}, {1, 1, 100}, {4, 5, 6}}).heavy_tailed);  // the draws of one member are
  CHECK_FALSE(summarise_nested({{1, 1}, {2, 2}, {100, 100}}).heavy_tailed);   // members may differ
}

TEST_CASE("summarise_nested: draws that members share count once, where a pooled standard error would shrink") {
  // Four heads with the same hundred draws: there is nothing between the heads.
  std::vector<double> draws(100);
  for (int i = 0; i < 100; ++i) draws[i] = 1 + 0.01 * i;
  CHECK(summarise_nested({draws, draws, draws, draws}).standard_error == doctest::Approx(0).scale(1e-15));
  // Four heads at 1, 2, 3, 4 and draws without spread: s = 1.29, over 2, whatever the number of draws.
  std::vector<std::vector<double>> heads;
  for (const double level : {1.0, 2.0, 3.0, 4.0}) heads.emplace_back(100, level);
  CHECK(summarise_nested(heads).standard_error == doctest::Approx(std::sqrt(5.0 / 3) / 2));
}

TEST_CASE("summarise: refuses no values") {
  CHECK(contains(refusal([] { summarise_nested({{}, {}}); }), "at least one value"));
  CHECK(refusal([] { summarise({}); }) == "summarise: at least one value");
}
