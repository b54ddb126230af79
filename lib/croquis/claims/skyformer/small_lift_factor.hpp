// The factor of the lift that trials of the lemmas on sums of random matrices take their columns from.
#pragma once

#include <croquis/claims/skyformer/lift_factor.hpp>

namespace croquis::claims {

/// The factor of the first tokens, 256 (64 in quick mode) or so few that its directions that count are at most 64: a
/// trial of a lemma on its columns is an eigenvalue problem of their number.
LiftFactor small_lift_factor(const Problem<double>& problem, bool quick, const Key& draw_key);

/// The ridge that those lemmas are checked at, and the weight below which a direction does not count.
inline double ridge_of(const LiftFactor& factor) {
  return 0.1 * factor.norm();
}
inline constexpr double kCounts = 0.2;

}  // namespace croquis::claims
