// Attention by features with a relative position: what prf-rpe and nprf-rpe share, and causal performer and nprf.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/features/feature_pair.hpp>
#include <croquis/toeplitz/toeplitz_operator.hpp>
#include <string>

namespace croquis {

/// How sum_j c_{j-i} phi(x_i).phi(y_j) v_j is computed for all i.
enum class RelativePath {
  sums,    ///< no bias, not causal: phi(X) (phi(Y)^T V)
  prefix,  ///< no bias, causal: the same by prefix sums over j
  fft,     ///< feature by feature: sum_r phi_r(X) o T (phi_r(Y) o V)
  direct,  ///< blocks of scores phi(X) phi(Y)^T o T, as exact attention is streamed
};

/// The path for a position, n_q queries and n_k keys, d features and p_v values; where a bias leaves the choice, the
/// one whose measured rate is better: with p_v = 64 and n_q = n_k, fft from about n = 1700 for d = 16 and 4700 for d =
/// 64 (float: 2600 and 7500).
template <typename T>
RelativePath relative_path(const RelativePosition<T>& position, TokenAlignment tokens, arma::uword d, arma::uword p_v,
                           ToeplitzPath wanted = ToeplitzPath::automatic);

/// O~_i = sum_j c_{j-i} phi(x_i).phi(y_j) v_j / sum_j c_{j-i} phi(x_i).phi(y_j), c = exp(b), for what `target` takes of
/// the position of `problem` (NPRF Eq. 10 and Alg. 1): without a position it is feature_attention, with a causal mask
/// alone prefix sums. j - i is the difference of the tokens (TokenAlignment).
///
/// Guarantees: rows of B~ sum to 1. The error of a row sum by fft is at most E_i = entry_error() sum_r |phi_r(x_i)|
/// ||phi_r(Y)||_2,
///   norm-wise: rows with E_i > 0.01 |D~_i|, where a wide range of b or of features has made the row sum small beside
///   what the transform adds up, are computed again by the direct path; diagnostics.direct_rows says how many (all n_q
///   when the direct path was taken from the start).
/// Memory, with n = max(n_q, n_k): O(n (p_v + 64)) for any d on the path fft, O(n p_v) on the others.
/// Cost: as relative_flops. Throws std::runtime_error, with `name` and the token, when an estimated row sum is zero.
template <typename T>
Approximation<T> relative_feature_attention(FeaturePair<T> features, const Problem<T>& problem, Target target,
                                            ToeplitzPath wanted, const std::string& name);

/// Leading terms: features are computed twice, once for their shifts; then sums and prefix as feature_attention, fft
/// 5 d (p_v + 1) L log2 L with L = 2 max(n_q, n_k) (twice that for an image), direct 2 n_q n_k (d + p_v + 1).
double relative_flops(RelativePath path, TokenAlignment tokens, double p, double p_v, double d, FeatureMap map,
                      bool image);

/// Those of a target without a bias: feature_attention_flops, in causal attention relative_flops of prefix sums.
template <typename T>
double flops_without_bias(const Problem<T>& problem, double d, FeatureMap map);

}  // namespace croquis
