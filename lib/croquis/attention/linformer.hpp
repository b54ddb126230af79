// Linformer: keys and values projected to d rows.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct LinformerOptions {
  enum class Distribution {
    normal,    ///< N(0, 1/d): the R of Linformer Thm. 1
    code,      ///< N(0, 0.02^2): how the code of Skyformer, Skeinformer and Nystromformer draws it
    uniform,   ///< uniform on (-1/sqrt(d), 1/sqrt(d))
    segments,  ///< means of d segments of consecutive tokens, not random; E = F
  };
  Distribution distribution = Distribution::normal;
  bool shared = false;  ///< F = E

  /// N(0, 0.02^2), E = F.
  static LinformerOptions code();
};

/// E (d x n) of a distribution, for n keys, 1 <= d <= n.
/// Randomness: E_ji is entry i of the random key's child j: the normals of GaussianSketch, or the uniforms of its
///   words.
template <typename T>
LinearOperator<T> linformer_projection(LinformerOptions::Distribution distribution, arma::uword n, arma::uword d,
                                       const Key& draw_key);

/// O~ = P~ (F V), P~ = softmax(Q (E K)^T / sqrt(p)), n_q x d, E and F in R^{d x n_k} (Linformer Eq. 7).
/// Guarantees: P~ is row-stochastic over d columns, but P~ F, which stands for B, is not: rows sum to 1 with segments
///   alone, which are also exact for d = n_k. E and F are learnt in the paper. Drawn at random they give no
///   approximation of B V: the softmax is taken after the projection, where E[S S^T] = I is of no use.
///   `linformer-unreduced` is the form that the paper's theorem is about.
/// Randomness: E from draw_key.child("E"), F from draw_key.child("F").
/// Cost: 2 (n_q + n_k) d (p + p_v) flops, without the part of n_k with segments; 2 n_k d numbers for E and F.
/// 1 <= d <= n_k.
template <typename T>
Approximation<T> linformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                           const LinformerOptions& options = {});

template <typename T>
Method<T> linformer_method();

}  // namespace croquis
