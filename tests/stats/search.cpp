#include <doctest/doctest.h>
#include <croquis/stats/search.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

using namespace croquis;

TEST_CASE("smallest_sufficient: the first that holds, wherever it is, and nothing when none does") {
  for (std::uint64_t first = 1; first <= 5; ++first) {
    for (std::uint64_t last = first; last <= first + 70; ++last) {
      for (std::uint64_t threshold = 0; threshold <= last + 1; ++threshold) {
        const auto found = smallest_sufficient(first, last, [&](std::uint64_t x) { return x >= threshold; });
        if (threshold > last) {
          REQUIRE_FALSE(found.has_value());
        } else {
          REQUIRE(found == std::max(first, threshold));
        }
      }
    }
  }
}

TEST_CASE("smallest_sufficient: asks twice the logarithm of the answer, nothing twice, and nothing far beyond it") {
  for (const std::uint64_t threshold : {1, 2, 100, 1000, 1023, 1024, 1025, 4000}) {
    std::vector<std::uint64_t> asked;
    smallest_sufficient(1, std::uint64_t{1} << 40, [&](std::uint64_t x) {
      asked.push_back(x);
      return x >= threshold;
    });
    CHECK(static_cast<double>(asked.size()) <= 2 * std::log2(static_cast<double>(threshold)) + 2);
    std::sort(asked.begin(), asked.end());
    CHECK(asked.back() < 2 * threshold + (threshold == 1 ? 1 : 0));
    CHECK(std::adjacent_find(asked.begin(), asked.end()) == asked.end());
  }
}

TEST_CASE("smallest_sufficient: ends that a doubling would pass are asked, also at 2^64 - 1") {
  const std::uint64_t end = ~std::uint64_t{0};
  CHECK(smallest_sufficient(3, end, [&](std::uint64_t x) { return x == end; }) == end);
  CHECK(smallest_sufficient(3, 7, [&](std::uint64_t x) { return x == 7; }) == 7);
  CHECK_FALSE(smallest_sufficient(3, end, [](std::uint64_t) { return false; }).has_value());
}

TEST_CASE("bisect: a place where it starts to hold, with neither end asked") {
  for (const std::uint64_t threshold : {11, 12, 50, 99, 100}) {
    CHECK(bisect(10, 100, [&](std::uint64_t x) {
            REQUIRE(x > 10);
            REQUIRE(x < 100);
            return x >= threshold;
          }) == threshold);
  }
  CHECK(bisect(10, 100, [](std::uint64_t) { return false; }) == 100);
  const auto odd_ones_hold = [](std::uint64_t x) { return x % 2 == 1; };
  const std::uint64_t place = bisect(0, 101, odd_ones_hold);
  CHECK(odd_ones_hold(place));
  CHECK_FALSE((place > 1 && odd_ones_hold(place - 1)));
}

TEST_CASE("smallest_sufficient of real numbers: to the tolerance, and the ends where it is beyond them") {
  for (const double threshold : {1.5, 3.0, 700.0}) {
    const double found = smallest_sufficient(1, 1000, 0.01, [&](double x) { return x >= threshold; });
    CHECK(found >= threshold);
    CHECK(found <= 1.01 * threshold);
  }
  CHECK(smallest_sufficient(1, 1000, 0.01, [](double) { return true; }) == 1);
  CHECK(smallest_sufficient(1, 1000, 0.01, [](double) { return false; }) == 1000);
}

TEST_CASE("smallest_sufficient of real numbers: ends whose product vanishes or overflows") {
  for (const auto& [lo, hi] : {std::pair<double, double>{1e-200, 1e-170}, {1e-300, 1e300}, {1e170, 1e200}}) {
    for (const double threshold : {2 * lo, std::exp((std::log(lo) + std::log(hi)) / 2), hi / 2}) {
      CAPTURE(threshold);
      int asked = 0;
      const double found = smallest_sufficient(lo, hi, 0.01, [&](double x) {
        REQUIRE(++asked <= 20);  // ln(1e600) is 2^17.1 times ln(1.01)
        return x >= threshold;
      });
      CHECK(found >= threshold);
      CHECK(found <= 1.01 * threshold);
    }
  }
}
