#include <doctest/doctest.h>
#include <croquis/stats/kolmogorov.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "stats/reference.hpp"
#include "support/capture.hpp"
#include "support/refusal.hpp"

using namespace croquis;

namespace {

// P(D_n >= d) by following the number of draws below t as t grows. F_n rises above t + d only if m draws are below
// m/n - d for some m, and falls below t - d only if at most m are below m/n + d: the mass that does either is taken out
// and added up. O(n^3), all terms positive.
long double tail_by_counting(std::uint64_t n, long double d) {
  struct Check {
    long double t;
    std::uint64_t m;
    bool above;
  };
  const auto size = static_cast<long double>(n);
  std::vector<Check> checks;
  for (std::uint64_t m = 0; m <= n; ++m) {
    const long double share = static_cast<long double>(m) / size;
    if (m >= 1 && share - d >= 0) checks.push_back({share - d, m, true});
    if (m < n && share + d <= 1) checks.push_back({share + d, m, false});
  }
  std::sort(checks.begin(), checks.end(), [](const Check& a, const Check& b) { return a.t < b.t; });
  std::vector<long double> mass(n + 1, 0.0L);
  mass[0] = 1;
  long double t = 0, out = 0;
  for (const Check& check : checks) {
    std::vector<long double> next(n + 1, 0.0L);
    const long double p = (check.t - t) / (1 - t);
    for (std::uint64_t below = 0; below <= n; ++below) {
      if (!(mass[below] > 0)) continue;
      const std::vector<long double> distribution = binomial_probabilities(n - below, p);
      for (std::uint64_t more = 0; more <= n - below; ++more) next[below + more] += mass[below] * distribution[more];
    }
    for (std::uint64_t below = 0; below <= n; ++below) {
      if (check.above ? below >= check.m : below <= check.m) {
        out += next[below];
        next[below] = 0;
      }
    }
    mass = next;
    t = check.t;
  }
  return out;
}

// P(D = distance / (m n)) for every distance, by going through all C(m + n, m) orders.
std::map<std::uint64_t, double> distribution_by_enumeration(std::uint64_t m, std::uint64_t n) {
  std::vector<bool> order(m + n, false);
  std::fill(order.begin() + static_cast<std::ptrdiff_t>(n), order.end(), true);
  std::map<std::uint64_t, double> distribution;
  double orders = 0;
  do {
    std::uint64_t i = 0, j = 0, largest = 0;
    for (const bool of_first : order) {
      (of_first ? i : j) += 1;
      largest = std::max(largest, i * n > j * m ? i * n - j * m : j * m - i * n);
    }
    distribution[largest] += 1;
    orders += 1;
  } while (std::next_permutation(order.begin(), order.end()));
  for (auto& [distance, probability] : distribution) probability /= orders;
  return distribution;
}

}  // namespace

TEST_CASE("kolmogorov_tail: the closed forms for one and two draws") {
  for (double d = 0.5; d < 1; d += 0.0625) {
    CHECK(kolmogorov_tail(1, d) == doctest::Approx(2 * (1 - d)).epsilon(1e-14));
    CHECK(kolmogorov_tail(2, d) == doctest::Approx(2 * (1 - d) * (1 - d)).epsilon(1e-14));
  }
  for (double d = 0.25; d < 0.5; d += 0.03125) {
    CHECK(kolmogorov_tail(1, d) == 1);
    CHECK(kolmogorov_tail(2, d) == doctest::Approx(1 - 8 * (d - 0.25) * (d - 0.25)).epsilon(1e-14));
  }
}

TEST_CASE("kolmogorov_tail: the numbers of Marsaglia, Tsang and Wang") {
  CHECK(1 - kolmogorov_tail(10, 0.274) == doctest::Approx(0.6284796154565043).epsilon(1e-13));
  CHECK(1 - kolmogorov_tail(2000, 0.04) == doctest::Approx(0.99676943191713676985).epsilon(1e-13));
}

TEST_CASE("kolmogorov_tail: exact for small n, from the middle into the far tail, by counting draws") {
  // Relative errors: 1 - P by at most 1e-14 where P is near 1, so 1e-10 of the tail 1e-4; 1e-12 of it beyond.
  for (const std::uint64_t n : {3, 5, 10, 20, 40}) {
    for (double x = 0.3; x < 4.2; x += 0.13) {
      const double d = x / std::sqrt(static_cast<double>(n));
      if (d >= 1) continue;
      CAPTURE(n);
      CAPTURE(d);
      const auto exact = static_cast<double>(tail_by_counting(n, d));
      CHECK(kolmogorov_tail(n, d) == doctest::Approx(exact).epsilon(2e-10).scale(0));
    }
  }
}

TEST_CASE(
    "kolmogorov_tail: smooth in n where the expansion of Pelz and Good takes over, and near its limit for huge n") {
  for (double x = 0.4; x < 2.2; x += 0.2) {
    const auto tail = [&](std::uint64_t n) { return kolmogorov_tail(n, x / std::sqrt(static_cast<double>(n))); };
    // The error of the expansion is below 0.05 / n^2 = 1.25e-8, second differences of P are of the order n^(-5/2) =
    // 6e-9. A wrong coefficient of n^(-3/2) shows from 2e-3 on.
    CHECK(std::abs(tail(2001) - 2 * tail(2000) + tail(1999)) < 2e-8);
    CHECK(std::abs(tail(2002) - 2 * tail(2001) + tail(2000)) < 2e-8);
    double limit = 0;
    for (int k = 30; k >= 1; --k) limit += (k % 2 == 1 ? 2 : -2) * std::exp(-2 * k * k * x * x);
    CHECK(std::abs(tail(1000000000000) - limit) < 1e-6);
  }
}

TEST_CASE("kolmogorov_tail: the far tail of large samples by Smirnov's expansion") {
  // 2 exp(-2 z^2) (1 - 2 z / (3 n^(1/2)) + (2 z^2 / 3 - 4 z^4 / 9) / n + O(z^6 / n^(3/2))), Smirnov 1944.
  for (const double n : {1e6, 1e8, 1e10}) {
    for (const double z : {2.3, 3.0, 5.0}) {
      const double series = 1 - 2 * z / (3 * std::sqrt(n)) + (2 * z * z / 3 - 4 * std::pow(z, 4) / 9) / n;
      const double error = std::pow(z, 6) / std::pow(n, 1.5) + 1e-10;
      CHECK(kolmogorov_tail(static_cast<std::uint64_t>(n), z / std::sqrt(n)) ==
            doctest::Approx(2 * std::exp(-2 * z * z) * series).epsilon(error).scale(0));
    }
  }
}

TEST_CASE(
    "kolmogorov_tail: falls from 1 to 0 and never exceeds the bound of Dvoretzky, Kiefer, Wolfowitz and Massart") {
  for (const std::uint64_t n : {1, 2, 5, 30, 500, 2000, 2001, 50000}) {
    CAPTURE(n);
    double last = 1;
    for (double x = 0; x < 5; x += 0.06) {
      const double d = x / std::sqrt(static_cast<double>(n)), tail = kolmogorov_tail(n, d);
      REQUIRE(tail <= last + 1e-9);  // 1e-9: the jump where the method changes
      REQUIRE(tail <= dkwm_bound(n, d) * (1 + 1e-9));
      last = tail;
    }
    CHECK(kolmogorov_tail(n, 0) == 1);
    CHECK(kolmogorov_tail(n, -1) == 1);
    CHECK(kolmogorov_tail(n, 1) == 0);
  }
  CHECK(dkwm_bound(100, 0.2) == doctest::Approx(2 * std::exp(-8)));
  CHECK(dkwm_bound(100, 0) == 1);
}

TEST_CASE("two_sample_kolmogorov_tail: all orders of small samples, counted") {
  const std::pair<std::uint64_t, std::uint64_t> sizes[] = {{1, 1}, {1, 6}, {3, 4}, {5, 5}, {4, 6}, {7, 2}, {9, 6}};
  for (const auto& [m, n] : sizes) {
    CAPTURE_BINDING(m);
    CAPTURE_BINDING(n);
    const std::map<std::uint64_t, double> distribution = distribution_by_enumeration(m, n);
    double tail = 0;
    for (auto item = distribution.rbegin(); item != distribution.rend(); ++item) {
      tail += item->second;
      CHECK(two_sample_kolmogorov_tail(m, n, item->first) == doctest::Approx(tail).epsilon(1e-13));
    }
    CHECK(two_sample_kolmogorov_tail(m, n, 0) == 1);
    CHECK(two_sample_kolmogorov_tail(m, n, m * n + 1) == 0);
  }
}

TEST_CASE("two_sample_kolmogorov_tail: the reflection formula for samples of one size, and its limit beyond 1e8") {
  // P(n D >= k) = 2 sum_i (-1)^(i-1) C(2n, n - i k) / C(2n, n) (Gnedenko and Korolyuk 1951).
  const auto reflected = [](std::uint64_t n, std::uint64_t k) {
    long double sum = 0;
    for (std::uint64_t i = n / k; i >= 1; --i) {
      long double ratio = 1;
      for (std::uint64_t j = 0; j < i * k; ++j) {
        ratio *= static_cast<long double>(n - j) / static_cast<long double>(n + i * k - j);
      }
      sum += (i % 2 == 1 ? 2 : -2) * ratio;
    }
    return static_cast<double>(sum);
  };
  for (const std::uint64_t k : {5, 10, 20, 50, 80}) {
    CHECK(two_sample_kolmogorov_tail(100, 100, 100 * k) == doctest::Approx(reflected(100, k)).epsilon(1e-12).scale(0));
  }
  // x^2 = k^2 / (2 n); the limit's relative error is of the order x^4 / n.
  for (const std::uint64_t k : {100, 200, 300}) {
    CHECK(two_sample_kolmogorov_tail(20000, 20000, 20000 * k) ==
          doctest::Approx(reflected(20000, k)).epsilon(1e-3).scale(0));
  }
  CHECK(two_sample_kolmogorov_tail(20000, 20000, std::uint64_t{20000} * 20) == doctest::Approx(1));
}

TEST_CASE("kolmogorov_tail: refuses samples without values and NaN") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(contains(refusal([&] { kolmogorov_tail(0, 0.5); }), "kolmogorov_tail: n >= 1 and a number d, got n = 0"));
  CHECK(contains(refusal([&] { kolmogorov_tail(5, nan); }), "d = nan"));
  CHECK(contains(refusal([&] { dkwm_bound(0, 0.5); }), "dkwm_bound: n >= 1"));
  CHECK(contains(refusal([&] { two_sample_kolmogorov_tail(3, 0, 1); }), "two samples that are not empty"));
}
