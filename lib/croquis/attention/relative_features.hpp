// Attention by features with a relative position: the common part of prf-rpe, nprf-rpe and the causal forms of
// performer and nprf.
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

/// The path for a position, n_q queries and n_k keys, d features and p_v columns of V. If a bias leaves a choice, it is
/// the path that is faster by measured rates. With p_v = 64 and n_q = n_k = n it is direct below n = 1500 and fft above
/// 1850 for d = 16, and direct below 3900 and fft above 5750 for d = 64, in both precisions. In between it changes
/// several times, because transforms have only some lengths.
template <typename T>
RelativePath relative_path(const RelativePosition<T>& position, TokenAlignment tokens, arma::uword d, arma::uword p_v,
                           ToeplitzPath wanted = ToeplitzPath::automatic);

/// O~_i = sum_j c_{j-i} phi(x_i).phi(y_j) v_j / sum_j c_{j-i} phi(x_i).phi(y_j) with c = exp(b), for the part of the
/// problem's position that `target` has (NPRF Eq. 10 and Alg. 1). Without a position it is feature_attention; a causal
/// mask without a bias is computed by prefix sums. j - i is the difference of the tokens (TokenAlignment).
///
/// Guarantees: rows of B~ sum to 1. The transform is applied to V less a row m, which is the median of each column, or
///   zero if the position has a mask. Its error is relative to norms, so a sum that is small compared with what the
///   transform adds up loses its digits. With z_j = max_c |v_jc - m_c|, the error of sum_j c_{j-i} phi(x_i).phi(y_j)
///   z_j is at most E_i = entry_error() sum_r |phi_r(x_i)| ||phi_r(Y) o z||_2, and so is that of the same sum of any
///   column of V - m. Rows are kept if E_i is at most tau times this sum, and the same for z = 1; all others are
///   recomputed by the direct path. tau is 1e-7 (float: 1e-2). Up to the rounding of the direct path, the transform
///   then changes entry (i, c) of the output by at most tau (D_ic + |sum_j B~_ij z_j|) and at most tau (D_ic + max_j
///   |v_jc - m_c|) with D_ic = |O~_ic - m_c|. This is also all that masked keys can do to it, apart from the shifts of
///   the features, which all keys share.
///   diagnostics.direct_rows is the number of direct rows (n_q if everything is computed by the direct path). The
///   bounds are for the output; those of the scores, applied to other X, and of the adjoint are relative to norms.
/// Memory: with n = max(n_q, n_k), O(n (p_v + 64)) for any d on the path fft, O(n p_v) on the others, and there d p_v
///   for the running sums, or for each thread 768 d for the features of a block of queries and one of keys.
/// Cost: as relative_flops.
/// Throws: std::runtime_error, with `name` and the token, if an estimated row sum is not finite, or too small
///   (checked_denominators); as require_points_of.
template <typename T>
Approximation<T> relative_feature_attention(FeaturePair<T> features, const Problem<T>& problem, Target target,
                                            ToeplitzPath wanted, const std::string& name);

/// The leading terms of the flops. sums: feature_attention_flops(). Otherwise features are computed twice, once for
/// their shifts, and in addition prefix takes prefix_product_flops(), fft d (p_v + 2) PhaseLayout::flops() for an image
/// of that height, which is 1 for a sequence, direct 2 n_q n_k (d + p_v + 1), or of the pairs that a causal mask
/// leaves. The direct path computes the features of the keys once more for every block of 256 queries. Rows that fft
/// computes again directly are not counted, as they depend on the numbers.
double relative_flops(RelativePath path, TokenAlignment tokens, double p, double p_v, double d,
                      const FeatureOptions& options, arma::uword height = 1, bool causal = false);

/// The same for a target without a bias: of the path sums, or for a causal problem prefix.
template <typename T>
double flops_without_bias(const Problem<T>& problem, double d, const FeatureOptions& options);

}  // namespace croquis
