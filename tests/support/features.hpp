// Feature maps by their definitions, in long double, with a given W.
#pragma once

#include <croquis/features/feature_maps.hpp>

#include "support/dense.hpp"

inline constexpr croquis::FeatureMap kAllMaps[] = {croquis::FeatureMap::trf,        croquis::FeatureMap::prf,
                                                   croquis::FeatureMap::hyperbolic, croquis::FeatureMap::sphere,
                                                   croquis::FeatureMap::oprf,       croquis::FeatureMap::saderf};

inline bool has_two_functions(croquis::FeatureMap map) {
  return map == croquis::FeatureMap::trf || map == croquis::FeatureMap::hyperbolic;
}

/// Psi_l = (mean y_l^2 / mean x_l^2)^{1/4}: x_l times it, y_l divided by it.
void balance(Dense& x, Dense& y);

/// phi(x_i).phi(y_j) for the rows of W.
Dense plain_scores(croquis::FeatureMap map, const Dense& w, Dense x, Dense y);

/// E[phi(x_i).phi(y_j)] for directions of length sqrt(p), uniform: by the series of the hypergeometric function 0F1.
Dense sphere_means(croquis::FeatureMap map, Dense x, Dense y);
