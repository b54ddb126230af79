// Linformer: keys and values projected to d rows.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct LinformerOptions {
  enum class Distribution {
    normal,    ///< N(0, 1/d): the R of Linformer Thm. 1
    code,      ///< N(0, 0.02^2), as in the code of Skyformer, Skeinformer and Nystromformer
    uniform,   ///< uniform on (-1/sqrt(d), 1/sqrt(d))
    segments,  ///< means of d segments of consecutive tokens; not random, so E = F
  };
  Distribution distribution = Distribution::normal;
  bool shared = false;  ///< F = E

  /// N(0, 0.02^2), E = F.
  static LinformerOptions code();
};

/// The projection E (d x n) of a distribution, for n keys, 1 <= d <= n.
/// Randomness: row j of E is drawn from the key's child j: the normals of GaussianSketch, other draws in float, or
///   uniform numbers from its words.
template <typename T>
LinearOperator<T> linformer_projection(LinformerOptions::Distribution distribution, arma::uword n, arma::uword d,
                                       const Key& draw_key);

/// O~ = P~ (F V) with P~ = softmax(Q (E K)^T / sqrt(p)) (n_q x d), E and F in R^{d x n_k} (Linformer Eq. 7).
/// Guarantees: the rows of P~ sum to 1, but those of P~ F, which takes the place of B, do so with segments only, which
///   are also exact for d = n_k. In the paper E and F are learnt. Drawn at random they give no approximation of B V:
///   the softmax is taken after the projection, where E[S S^T] = I does not help. The paper's theorem is about the form
///   `linformer-unreduced`.
/// Randomness: E from draw_key.child("E"), F from draw_key.child("F").
/// Cost: 2 (n_q + n_k) d (p + p_v) flops, with segments 2 n_q d (p + p_v) + n_k (p + p_v); memory 2 n_k d numbers for E
///   and F. 1 <= d <= n_k.
template <typename T>
Approximation<T> linformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                           const LinformerOptions& options = {});

template <typename T>
Method<T> linformer_method();

}  // namespace croquis
