#include <doctest/doctest.h>
#include <croquis/random/normal_matrix.hpp>
#include <croquis/stats/summary.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "support/refusal.hpp"
#include "support/seed.hpp"
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

TEST_CASE("summarise: the standard error of values whose squares overflow, or vanish") {
  // s^2 of 1, 2, 4 is 7 / 3.
  for (const double size : {1e-307, 1e-170, 1.0, -1e160, 1e307}) {
    CAPTURE(size);
    const Summary summary = summarise({size, 2 * size, 4 * size});
    CHECK(summary.standard_error == doctest::Approx(std::sqrt(7.0) / 3 * std::abs(size)).epsilon(1e-14).scale(0));
  }
  CHECK(summarise({0, 0, 0}).standard_error == 0);
}

TEST_CASE("summarise: the mean of values whose sum overflows, of either sign, and their tails") {
  const double most = std::numeric_limits<double>::max();
  CHECK(summarise({1e308, 1e308}).mean == 1e308);
  CHECK(summarise({-1e308, 1.5e308, 1.5e308}).mean == doctest::Approx(0.66666666666666667e308).epsilon(1e-15).scale(0));
  CHECK_FALSE(summarise({1e308, 1e308, 1e308, 1e308}).heavy_tailed);
  CHECK(summarise({2e307, 1.7e308, 2e307, 2e307, 2e307}).heavy_tailed);  // .68 of the sum, the mean below q90
  for (const std::size_t count : {2, 3, 5, 6, 7, 10, 11, 13}) {
    CAPTURE(count);
    // Welford's updates and the sums of four of them: at most 2 count + 5 roundings of numbers up to `most`.
    const double rounding = static_cast<double>(count + 3) * std::numeric_limits<double>::epsilon();
    for (const double sign : {1.0, -1.0}) {
      const double mean = summarise(std::vector<double>(count, sign * most)).mean;
      CHECK(std::abs(mean) <= most);
      CHECK(sign * mean / most >= 1 - rounding);
    }
  }
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

TEST_CASE("error_of_shared_draws: what all members have in common, which between them is not seen") {
  // Draws 7, 8, 9 add -1, 0, 1 to members at levels 10, 20 and 50: s = 1, over the root of three draws.
  const auto member = [](double level) -> std::vector<DrawnValue> {
    return {{7, level - 1}, {9, level + 1}, {8, level}};
  };
  CHECK(error_of_shared_draws({member(10), member(20), member(50)}) == doctest::Approx(std::sqrt(1.0 / 3)));
  // Two pairs of members with draws of their own, of which one member of a pair moves: effects -1/2, 1/2, -1/2, 1/2.
  CHECK(error_of_shared_draws({{{0, 0}, {1, 2}}, {{0, 5}, {1, 5}}, {{2, 0}, {3, 2}}, {{2, 5}, {3, 5}}}) ==
        doctest::Approx(std::sqrt(1.0 / 3 / 4)));
  // A draw that failed on the largest member does not move the others.
  CHECK(error_of_shared_draws({{{0, 1}, {1, 1}}, {{0, 100}}, {}}) == 0);
  CHECK(error_of_shared_draws({{{0, 1}}, {{0, 2}}}) == 0);  // one draw says nothing of others
}

TEST_CASE("error_of_shared_draws: with the part between members, the spread of the mean over crossed heads and draws") {
  // y = a_h + b_t + c_ht, independent normals with variances 1, 4 and 1/4: the mean over 6 heads and 5 draws has the
  // variance 1 / 6 + 4 / 5 + 1 / 120. The two parts estimate that and another 1 / 120 = 0.0083, which is on the safe
  // side.
  constexpr std::size_t heads = 6, draws = 5, runs = 20000;
  const Key key = Key(test_seed()).child("crossed");
  std::vector<double> squares;
  for (std::size_t r = 0; r < runs; ++r) {
    const arma::mat normals = normal_matrix<double>(key.child(r), heads + 1, draws + 1);
    std::vector<std::vector<double>> values(heads);
    std::vector<std::vector<DrawnValue>> drawn(heads);
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t t = 0; t < draws; ++t) {
        const double y = normals(h, draws) + 2 * normals(heads, t) + 0.5 * normals(h, t);
        values[h].push_back(y);
        drawn[h].push_back({t, y});
      }
    }
    squares.push_back(std::pow(summarise_nested(values).standard_error, 2) + std::pow(error_of_shared_draws(drawn), 2));
  }
  // Of the sum, chi-squares with 5 and 4 degrees of freedom: variance 2 (1/6 + 1/120)^2 / 5 + 2 (4/5 + 1/120)^2 / 4.
  const double expected = 1.0 / 6 + 4.0 / 5 + 2.0 / 120;
  const double sd =
      std::sqrt((2 * std::pow(1.0 / 6 + 1.0 / 120, 2) / 5 + 2 * std::pow(4.0 / 5 + 1.0 / 120, 2) / 4) / runs);
  const double mean = summarise(squares).mean;
  // 6.5 standard deviations: 1e-10, as the mean of 20000 such sums, of skewness 1.35, has a skewness of 0.01.
  CHECK(std::abs(mean - expected) <= 6.5 * sd);
  CHECK_FALSE(std::abs(mean - 1.0 / 6 - 1.0 / 120) <= 6.5 * sd);  // what is between the heads alone
}

TEST_CASE("summarise: refuses no values") {
  CHECK(contains(refusal([] { summarise_nested({{}, {}}); }), "at least one value"));
  CHECK(refusal([] { summarise({}); }) == "summarise: at least one value");
}
