// Nystromformer: segment-mean landmarks and an iterative inverse.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/linalg/iterative_inverse.hpp>
#include <croquis/sampling/landmarks.hpp>
#include <optional>

namespace croquis {

struct NystromformerOptions {
  enum class Inverse { iterative, pinv };
  Inverse inverse = Inverse::iterative;               ///< pinv: by singular values, relative cut-off d u
  int iterations = 6;                                 ///< of the iterative inverse; the paper uses 6
  InverseStart start = InverseStart::transpose_both;  ///< of the iterative inverse
  bool exact_at_n = false;                            ///< d = n is exact attention, without landmarks
  /// Without a value: segment means, as the paper. With one: rows J of Q and K, J chosen by the policy on the Gaussian
  /// kernel matrix of the keys / p^{1/4}.
  std::optional<LandmarkPolicy> landmarks;
  arma::uvec given;  ///< for LandmarkPolicy::given

  /// What the authors' code does: Z_0 = A^T / max column sum (over one matrix; the code's default takes the maximum
  /// over the batch and all heads), exact attention for d = n. It takes n a multiple of d; here any n has segment
  /// means.
  static NystromformerOptions code();
};

/// O~ = F Z G V with F = softmax(Q K_d^T), Z ~ softmax(Q_d K_d^T)^+, G = softmax(Q_d K^T), all over sqrt(p)
/// (Nystromformer Alg. 1, without its optional convolution); Q_d, K_d are d segment means of each, or d rows of Q and
/// K, the same tokens, which takes n_q = n_k. Guarantees: exact for d = n_q = n_k with the exact inverse (Lemma 2).
/// Rows of F Z G sum to 1 only when Z is the exact
///   inverse. No bound for d < n; six iterations act as a spectral filter on an ill-conditioned core: see the residual.
/// Randomness: none with segment means; else the rows, child "landmarks" of the random key.
/// Cost: 2 (n_q + n_k) d (p + p_v) flops, and 8 d^3 an iteration or about 22 d^3 for pinv. 1 <= d <= min(n_q, n_k).
template <typename T>
Approximation<T> nystromformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                               const NystromformerOptions& options = {});

template <typename T>
Method<T> nystromformer_method();

}  // namespace croquis
