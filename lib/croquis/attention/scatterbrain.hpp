// Scatterbrain: random features for all keys, corrected to exact scores on a few.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/features/feature_maps.hpp>

namespace croquis {

struct ScatterbrainOptions {
  enum class Support {
    hashed,  ///< a block of keys in the order of a hash of directions, as hyperattention() has it: the paper's
    window,  ///< keys about the query: the authors' code
  };
  Support support = Support::hashed;
  FeatureOptions features = {FeatureMap::prf, ProjectionDistribution::haar, 0};
  arma::uword directions = 7;  ///< half-spaces of the hash

  /// What the authors' code does.
  static ScatterbrainOptions code() {
    return {Support::window, {FeatureMap::hyperbolic, ProjectionDistribution::haar, 0}, 7};
  }
};

/// O~ = D~^-1 (phi(Q) phi(K)^T + S) V for the points Q / p^{1/4} and K / p^{1/4}, S_ij = exp(q_i.k_j / sqrt(p)) -
/// phi(q_i).phi(k_j) on the support, 0 elsewhere, D~ the row sums of the same (Chen et al. 2021). On the support A~ is
/// A, elsewhere it is the estimate of the features. Of d, m = floor(d / 2) are features, one less where two share a
/// direction and m is odd, and s = d - m keys of the support.
/// Guarantees: given the support, E A~ = A for the unbiased maps with epsilon = 0 (FeaturePair), so that E D~ = D and
///   E D~ O~ = A V; the variance of an entry is that of the features, and 0 on the support. Rows of B~ sum to 1 and are
///   non-negative for positive maps, up to rounding. d = n_k is exact.
/// Randomness: features of draw_key.child("features"); direction r of the hash is normals p r ... p r + p - 1 of
/// draw_key.child("directions").
/// Cost: see scatterbrain_flops; memory (n_q + n_k) m numbers and 12 n_q s bytes in double. 2 <= d <= n_k, with two
/// features a direction 4, or d = n_k.
/// Throws std::runtime_error where a row sum is 0.
template <typename T>
Approximation<T> scatterbrain(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                              const ScatterbrainOptions& options = {});

/// Performer with m features, and s keys of n_q queries with a product of keys, one of features and one of values each.
double scatterbrain_flops(double n_q, double n_k, double p, double p_v, double d, const ScatterbrainOptions& options);

template <typename T>
Method<T> scatterbrain_method();

}  // namespace croquis
