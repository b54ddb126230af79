#include <algorithm>
#include <cmath>
#include <croquis/measure/cost_hull.hpp>

namespace croquis {

double slope(const CostPoint& a, const CostPoint& b) {
  return (b.rise - a.rise) / (a.cost - b.cost);
}

std::vector<CostPoint> lower_hull(std::vector<CostPoint> points) {
  std::stable_sort(points.begin(), points.end(), [](const CostPoint& a, const CostPoint& b) {
    return a.cost != b.cost ? a.cost > b.cost : a.rise < b.rise;
  });
  std::vector<CostPoint> hull;
  for (const CostPoint& point : points) {
    if (!std::isfinite(point.rise) || (!hull.empty() && point.cost == hull.back().cost)) continue;
    if (hull.empty() && point.candidate != nullptr) continue;  // as dear as exact attention, or dearer
    // Dearer and no better. Exact attention stays: it is where all begins.
    while (!hull.empty() && hull.back().candidate != nullptr && hull.back().rise >= point.rise) hull.pop_back();
    while (hull.size() > 1 && slope(hull[hull.size() - 2], hull.back()) >= slope(hull.back(), point)) hull.pop_back();
    hull.push_back(point);
  }
  return hull;
}

}  // namespace croquis
