// NPRF: features of queries and keys of unit length.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/features/feature_maps.hpp>

namespace croquis {

/// NPRF's features: positive, independent directions (Eq. 5).
inline constexpr FeatureOptions kNprfFeatures = {FeatureMap::prf, ProjectionDistribution::iid, 0};

/// O~ = D~^-1 phi(Q^) (phi(K^)^T V) with q^_i = q_i / ||q_i|| and k^_j = k_j / ||k_j||, without 1/sqrt(p) (Luo et al.
/// 2021, Sec. 3.3, without bias). A zero row stays zero, so that all its scores are 1.
/// Guarantees: it approximates the target `normalized`, whose scores lie in [1/e, e], and not softmax attention of Q
///   and K. With the default features the variance of a score is at most (e^4 - 1) e^2 / d (Performer Lemma 2),
///   whatever the norms of Q and K are.
/// Causal: by prefix sums, as performer.
/// Randomness: child "features" of the random key.
/// Cost and errors: as feature_attention.
template <typename T>
Approximation<T> nprf(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                      const FeatureOptions& options = kNprfFeatures);

template <typename T>
Method<T> nprf_method();

}  // namespace croquis
