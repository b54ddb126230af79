// Which of several candidates of different costs and losses are worth taking at some price. Not installed.
#pragma once

#include <croquis/measure/choice_candidates.hpp>
#include <vector>

namespace croquis {

/// A candidate with its cost in units of exact attention and its rise of the loss, or what stands for it.
struct CostPoint {
  const ChoiceCandidate* candidate = nullptr;  ///< none: exact attention
  double cost = 1, rise = 0;
};

/// The rise for each unit of cost that is saved from `a` to the cheaper `b`.
double slope(const CostPoint& a, const CostPoint& b);

/// The corners of the lower convex hull of the points in the order of descending cost, from exact attention (which is
/// to be among them) to the cheapest: slopes between neighbours ascend. Points of infinite rise are left out.
std::vector<CostPoint> lower_hull(std::vector<CostPoint> points);

}  // namespace croquis
