// Performer (FAVOR+): softmax attention by random features.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/features/feature_maps.hpp>

namespace croquis {

/// The features of FAVOR+: positive features with Haar-orthogonal directions.
inline constexpr FeatureOptions kPerformerFeatures = {FeatureMap::prf, ProjectionDistribution::haar, 0};

/// O~ = D~^-1 phi(Q / p^{1/4}) (phi(K / p^{1/4})^T V), D~ = diag(phi(Q / p^{1/4}) phi(K / p^{1/4})^T 1) (Choromanski et
/// al. 2021, via Skyformer and NPRF), where phi is any of the feature maps with any projection, and d the number of
/// features.
/// Guarantees: E[D~] = D for the unbiased maps with epsilon = 0. Rows of B~ sum to 1, and are non-negative for positive
///   maps. With trf a row sum may be near zero or negative, and the error of its row arbitrarily large. With prf and
///   independent directions, m = n e^{4 R^2} / (eps^2 delta) features suffice for ||B~_i - B_i||_1 <= 4 eps with
///   probability 1 - delta, where R^2 = max(||q||^2, ||k||^2) / sqrt(p) and eps < 1/2 (NPRF Thm. 3; docs/claims/nprf.md
///   has sharper numbers).
/// Causal: the sums are over the keys up to the query, by prefix sums, as in prf-rpe without a bias. A feature has one
///   shift for all keys, so a later key of very large norm may cost an earlier row its accuracy, up to a row sum of
///   zero. With epsilon > 0, which is relative to this shift, and with oprf and saderf, which are fitted to all tokens,
///   earlier rows depend on later keys at any norm.
/// Randomness: the projection, from child "features" of the random key.
/// Cost and errors: as feature_attention. An odd d is refused by the maps with two functions for each direction.
template <typename T>
Approximation<T> performer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                           const FeatureOptions& options = kPerformerFeatures);

template <typename T>
Method<T> performer_method();

}  // namespace croquis
