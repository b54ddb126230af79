// Nystromformer: segment-mean landmarks and an iterative inverse.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/linalg/iterative_inverse.hpp>
#include <croquis/sampling/landmarks.hpp>
#include <optional>

namespace croquis {

struct NystromformerOptions {
  enum class Inverse { iterative, pinv };
  Inverse inverse = Inverse::iterative;               ///< pinv: by singular values, relative cut-off 2 d u
  int iterations = 6;                                 ///< of the iterative inverse; the paper uses 6
  InverseStart start = InverseStart::transpose_both;  ///< of the iterative inverse
  bool exact_at_n = false;                            ///< d = n is exact attention, without landmarks
  /// Empty: segment means, as in the paper. Otherwise rows J of Q and K, where J is chosen by the policy on the
  /// Gaussian kernel matrix of the keys / p^{1/4}.
  std::optional<LandmarkPolicy> landmarks;
  arma::uvec given;  ///< for LandmarkPolicy::given

  /// The default values of the authors' code: Z_0 = A^T / max column sum (over one matrix; the code's default takes the
  /// maximum over the batch and all heads), and exact attention for d = n. The code requires that n is a multiple of d;
  /// here segment means exist for any n.
  static NystromformerOptions code();
};

/// O~ = F Z G V with F = softmax(Q K_d^T), Z ~ softmax(Q_d K_d^T)^+, G = softmax(Q_d K^T), all scores divided by
/// sqrt(p) (Nystromformer Alg. 1; the learned convolution of V that the paper's model adds, Fig. 4, is not here).
/// Q_d and K_d are d segment means each, or d rows of Q and K for the same tokens, which requires n_q = n_k.
/// Guarantees: exact for d = n_q = n_k with segment means and the pseudo-inverse (Lemma 2). Rows of F Z G sum to 1 only
///   if Z is the exact inverse. There is no bound for d < n. Six iterations act as a spectral filter on an
///   ill-conditioned core: see the residual.
/// Randomness: none with segment means; otherwise the landmarks, from child "landmarks" of the random key.
/// Cost: 2 (n_q + n_k) d (p + p_v) flops, and for each iteration 8 d^3, or 4 d^2 (d + p_v) for d > 2 p_v; about 22 d^3
///   for pinv; landmark_flops() of the n_k keys where landmarks are not segment means; exact_at_n: exact attention.
///   1 <= d <= min(n_q, n_k).
template <typename T>
Approximation<T> nystromformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                               const NystromformerOptions& options = {});

template <typename T>
Method<T> nystromformer_method();

}  // namespace croquis
