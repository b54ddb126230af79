// Feature attention with a relative position bias: the Toeplitz product of NPRF.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/attention/nprf.hpp>
#include <croquis/toeplitz/toeplitz_operator.hpp>

namespace croquis {

struct RelativeFeatureOptions {
  FeatureOptions features = kNprfFeatures;
  /// The product with the bias: by FFT, directly, or what is faster at this size. Without a bias neither is needed.
  ToeplitzPath product = ToeplitzPath::automatic;
};

/// O~_i = sum_j e^{b_{j-i}} phi(x_i).phi(y_j) v_j / sum_j e^{b_{j-i}} phi(x_i).phi(y_j), x = Q / p^{1/4}, y = K /
/// p^{1/4}, b and causality those of the problem (Luo et al. 2021, Alg. 1 without its normalisation). Guarantees:
/// approximates softmax(Q K^T / sqrt(p) + [b_{j-i}]) V, target softmax_rpe; rows of B~ sum to 1. E[D~] = D for the
///   unbiased maps. Without bias and causality it is performer; causal without bias it is causal performer, by prefix
///   sums.
/// Randomness: child "features" of the random key. Cost, memory and Throws: as relative_feature_attention.
template <typename T>
Approximation<T> prf_rpe(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                         const RelativeFeatureOptions& options = {});

/// The same with x = q_i / ||q_i||, y = k_j / ||k_j||, zero rows staying zero (Luo et al. 2021, Alg. 1): approximates
/// the target normalized_rpe.
template <typename T>
Approximation<T> nprf_rpe(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                          const RelativeFeatureOptions& options = {});

template <typename T>
Method<T> prf_rpe_method();
template <typename T>
Method<T> nprf_rpe_method();

}  // namespace croquis
