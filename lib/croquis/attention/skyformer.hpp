// Skyformer: the Nystrom method on the PSD lift of Gaussian-kernel scores.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/linalg/iterative_inverse.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/sampling/landmarks.hpp>

namespace croquis {

struct SkyformerOptions {
  enum class Inverse { pinv, iterative };

  LandmarkPolicy landmarks = LandmarkPolicy::uniform;  ///< of the n_q + n_k points; the authors' code is stratified
  arma::uvec given;                 ///< for LandmarkPolicy::given: indices, query i is i, key j is n_q + j
  Inverse inverse = Inverse::pinv;  ///< pinv: spectral, relative cut-off core_cutoff(); iterative: as Lemma 3
  double ridge = 0.0;               ///< gamma >= 0, added to the unit diagonal of the core
  InverseStart start = InverseStart::identity;  ///< of the iterative inverse; the authors' code: transpose_one
  int iterations = 6;                           ///< of the iterative inverse

  /// The default values of the authors' code: stratified landmarks, gamma = 0.1, six iterations (algorithms of
  /// Skyformer Sec. 4.4).
  static SkyformerOptions code();
};

/// The options that `values` give by name. Throws std::invalid_argument for a value that an option does not take.
SkyformerOptions skyformer_options(const OptionValues& values);

/// O~ = C~ V with C~ = kappa(Q, X_J) (kappa(X_J, X_J) + gamma I)^+ kappa(X_J, K), where X_J are d of the n_q + n_k
/// points of the lift (Skyformer Sec. 4.2, 4.4). It approximates the kernelized target, whose rows do not sum to 1.
/// Guarantees: with pinv and gamma = 0, the approximation of the lift lies between 0 and the lift in the Loewner order
///   for every draw, and ||C - C~|| is at most half of the error of the lift. Exact if X_J has all points.
/// Randomness: landmark indices from draw_key.child("landmarks"). Repeated landmarks, and different ones that are equal
///   points, are allowed; without a ridge one of them is taken.
/// Cost: with n = n_q + n_k, 2 n d (p + p_v) flops, n d exponentials, about 9 d^3 (d^3 for a core that is safely
///   positive definite, inverse_root_psd()), and landmark_flops() of the n points. 1 <= d <= n.
template <typename T>
Approximation<T> skyformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                           const SkyformerOptions& options = {});

/// The same lift for softmax scores (Skyformer Fig. 1): O~ = diag(A~ 1)^-1 A~ V. A = D_Q^{1/2} C D_K^{1/2} (Skyformer
/// Lemma 1), and a Nystrom approximation commutes with this scaling, so A~ = D_Q^{1/2} C~ D_K^{1/2}. D_Q cancels in the
/// quotient, and D_K = exp(||k||^2 / sqrt(p)) enters through its logarithm less the maximum, so nothing overflows. A~
/// can have negative entries; for a denominator <= 0 the normalisation of the row is lost.
/// Throws: std::runtime_error if a denominator is 0 or nearly (all weights of a row underflow), or if rounding may
///   change a denominator by a tenth, as estimated: the keys that matter to its row are then so much shorter than
///   others that their weights drown in the rounding errors of the others' weights.
template <typename T>
Approximation<T> skyformer_softmax(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                   const SkyformerOptions& options = {});

/// Leading terms of the flops of skyformer_softmax with d landmarks, for n = n_q + n_k points; n, p, p_v and d may be
/// any numbers. The pseudo-inverse counts as one by eigenvalues.
double skyformer_flops(double n, double p, double p_v, double d, const SkyformerOptions& options = {});

template <typename T>
Method<T> skyformer_method();
template <typename T>
Method<T> skyformer_softmax_method();

}  // namespace croquis
