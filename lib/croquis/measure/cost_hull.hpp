// The lower convex hull of candidates by cost and loss. Not installed.
#pragma once

#include <croquis/measure/choice_candidates.hpp>
#include <vector>

namespace croquis {

/// A candidate, with its cost in units of exact attention and the rise of the loss, or a substitute for it.
struct CostPoint {
  const ChoiceCandidate* candidate = nullptr;  ///< nullptr: exact attention
  double cost = 1, rise = 0;
};

/// The rise for each unit of cost that the cheaper `b` saves compared with `a`.
double slope(const CostPoint& a, const CostPoint& b);

/// The corners of the lower convex hull of the points, in descending order of cost, from exact attention (which must be
/// among the points) to the cheapest. The slopes between neighbours ascend. Points of infinite rise are left out.
std::vector<CostPoint> lower_hull(std::vector<CostPoint> points);

}  // namespace croquis
