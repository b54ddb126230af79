// Feature attention with a relative position bias: the Toeplitz product of NPRF.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/attention/nprf.hpp>
#include <croquis/toeplitz/toeplitz_operator.hpp>

namespace croquis {

struct RelativeFeatureOptions {
  FeatureOptions features = kNprfFeatures;
  /// How the product with the bias is computed. It is not used without a bias.
  ToeplitzPath product = ToeplitzPath::automatic;
};

/// O~_i = sum_j e^{b_{j-i}} phi(x_i).phi(y_j) v_j / sum_j e^{b_{j-i}} phi(x_i).phi(y_j) with x = Q / p^{1/4} and y = K
/// / p^{1/4}, for the bias b and the causal mask of the problem (Luo et al. 2021, Alg. 1 without its normalisation).
/// Guarantees: it approximates softmax(Q K^T / sqrt(p) + [b_{j-i}]) V, the target softmax_rpe. Rows of B~ sum to 1.
///   E[D~] = D for the unbiased maps. Without a bias it is performer, causal or not.
/// Randomness: child "features" of the random key.
/// Cost, memory and errors: as relative_feature_attention.
template <typename T>
Approximation<T> prf_rpe(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                         const RelativeFeatureOptions& options = {});

/// The same with x = q_i / ||q_i|| and y = k_j / ||k_j||, where zero rows stay zero (Luo et al. 2021, Alg. 1). It
/// approximates the target normalized_rpe.
template <typename T>
Approximation<T> nprf_rpe(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                          const RelativeFeatureOptions& options = {});

template <typename T>
Method<T> prf_rpe_method();
template <typename T>
Method<T> nprf_rpe_method();

}  // namespace croquis
