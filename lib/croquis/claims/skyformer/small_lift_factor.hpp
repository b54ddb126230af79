// The factor of the lift that trials of the lemmas on sums of random matrices take their columns from.
#pragma once

#include <croquis/claims/claim.hpp>
#include <croquis/claims/skyformer/lift_factor.hpp>

namespace croquis::claims {

/// The factor of the first "tokens" of thresholds.csv, or of so few that its directions whose weight is above the
/// "least weight" are at most "directions": a trial of a lemma on its columns is an eigenvalue problem of their number.
LiftFactor small_lift_factor(const Problem<double>& problem, const Check& check);

/// The ridge that those lemmas are checked at.
inline double ridge_of(const LiftFactor& factor, const Check& check) {
  return check.value("ridge") * factor.norm();
}

}  // namespace croquis::claims
