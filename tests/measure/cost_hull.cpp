#include <doctest/doctest.h>
#include <croquis/measure/cost_hull.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "stats/reference.hpp"
#include "support/seed.hpp"

using namespace croquis;

TEST_CASE("lower hull: below all points, with slopes that ascend, from exact attention to the cheapest") {
  const ChoiceCandidate any;
  for (std::uint64_t round = 0; round < 50; ++round) {
    const std::vector<double> u = uniform_sample(40, Key(test_seed()).child("hull").child(round));
    std::vector<CostPoint> points = {{nullptr, 1, 0}};
    for (std::size_t i = 0; i < 20; ++i) points.push_back({&any, u[2 * i], u[2 * i + 1]});
    points.push_back({&any, 0.5, std::numeric_limits<double>::infinity()});
    const std::vector<CostPoint> hull = lower_hull(points);
    CHECK(hull.front().candidate == nullptr);
    CHECK(hull.back().cost == std::min_element(points.begin(), points.end() - 1, [](const auto& a, const auto& b) {
                                return a.cost < b.cost;
                              })->cost);
    for (std::size_t i = 2; i < hull.size(); ++i) CHECK(slope(hull[i - 2], hull[i - 1]) < slope(hull[i - 1], hull[i]));
    // No price of cost for which a point is better than all corners.
    for (double price = 1e-3; price < 1e3; price *= 1.7) {
      const auto total = [&](const CostPoint& p) { return p.rise + price * p.cost; };
      const auto least = [&](const std::vector<CostPoint>& all) {
        double best = std::numeric_limits<double>::infinity();
        for (const CostPoint& p : all) best = std::min(best, total(p));
        return best;
      };
      CHECK(least(hull) == doctest::Approx(least(points)).epsilon(1e-12));
    }
  }
}

TEST_CASE("lower hull: what is as dear as exact attention or dearer never stands before it") {
  const ChoiceCandidate any;
  for (const double cost : {1.5, 1.0}) {
    const std::vector<CostPoint> hull = lower_hull({{nullptr, 1, 0}, {&any, cost, -1e-17}, {&any, 0.5, 0.1}});
    REQUIRE(hull.size() == 2);
    CHECK(hull[0].candidate == nullptr);
    CHECK(hull[1].cost == 0.5);
  }
}
