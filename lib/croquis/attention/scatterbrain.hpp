// Scatterbrain: random features for all keys, with exact scores on a few keys of each query.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/features/feature_maps.hpp>

namespace croquis {

struct ScatterbrainOptions {
  enum class Support {
    hashed,  ///< a block of keys sorted by a hash of directions, as in hyperattention(): the paper's
    window,  ///< keys about the query's own: the authors' code
  };
  Support support = Support::hashed;
  FeatureOptions features = {FeatureMap::prf, ProjectionDistribution::haar, 0};
  arma::uword directions = 7;  ///< half-spaces of the hash, 1 to 30

  /// The default values of the authors' code.
  static ScatterbrainOptions code() {
    return {Support::window, {FeatureMap::hyperbolic, ProjectionDistribution::haar, 0}, 7};
  }
};

/// O~ = D~^-1 (phi(Q) phi(K)^T + S) V for the points Q / p^{1/4} and K / p^{1/4}, where S_ij = exp(q_i.k_j / sqrt(p)) -
/// phi(q_i).phi(k_j) on the support and 0 elsewhere, and D~ are the row sums of the same matrix (Chen et al. 2021). So
/// A~ is A on the support and the estimate by features elsewhere. d is divided into m = floor(d / 2) features, one less
/// if two share a direction and m is odd, and s = d - m keys of the support.
/// Guarantees: given the support, E A~ = A for the unbiased maps with epsilon = 0 (FeaturePair), so that E D~ = D and E
///   D~ O~ = A V. The variance of an entry is that of the features, and 0 on the support. Rows of B~ sum to 1, and are
///   non-negative for positive maps, up to rounding. A row sum off the support is a difference, so rounding errors are
///   relative to sum_j sum_t |phi(q_i)_t phi(k_j)_t|. d = n_k is exact.
/// Randomness: features from draw_key.child("features"); direction r of the hash is normals p r ... p r + p - 1 of
///   draw_key.child("directions").
/// Cost: see scatterbrain_flops; memory (n_q + n_k) m numbers, and 12 n_q s bytes in double. 2 <= d <= n_k, with two
///   features for each direction 4 <= d, or d = n_k.
/// Throws: std::runtime_error if a row sum is zero or not finite, or where an estimate of its rounding error exceeds a
///   hundredth of it. It is an estimate, and no bound.
template <typename T>
Approximation<T> scatterbrain(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                              const ScatterbrainOptions& options = {});

/// The flops of scatterbrain(): those of performer with m features, those of the hash, and for each of the s keys of
/// each query a product of query and key, one of their features, and a weighted value.
double scatterbrain_flops(double n_q, double n_k, double p, double p_v, double d, const ScatterbrainOptions& options);

template <typename T>
Method<T> scatterbrain_method();

}  // namespace croquis
