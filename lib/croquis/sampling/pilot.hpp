// Pilot sampling: column probabilities from a few exact rows of B.
#pragma once

#include <armadillo>
#include <croquis/random/key.hpp>

namespace croquis {

template <typename T>
struct Pilot {
  /// J: d_0 uniform rows, drawn with replacement.
  arma::uvec rows;
  /// B_J V (d_0 x p_v) with B = softmax(Q K^T / sqrt(p)): exact attention of these rows, if it was requested.
  arma::Mat<T> output;
  /// (sum_{j in J} b_ji^2)^{1/2} ||V_i||: the probabilities of Skeinformer Eq. 5, times a constant.
  arma::Col<T> weights;
};

/// For Q and K (n x p), V (n x p_v) and d_0 >= 1 rows.
/// Randomness: the rows, from the random key.
/// Cost: 2 n d_0 p flops, with the output 2 n d_0 (p + p_v), and n d_0 exponentials; memory for n d_0 numbers during
///   the call.
template <typename T>
Pilot<T> pilot_sample(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& v, arma::uword d_0,
                      const Key& draw_key, bool with_output = false);

}  // namespace croquis
