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

/// For Q (n_q x p), K (n_k x p), V (n_k x p_v) and d_0 >= 1 rows.
/// Randomness: the rows are sample_with_replacement on draw_key.
/// Cost: 2 n_k d_0 p flops, with the output 2 n_k d_0 (p + p_v), and n_k d_0 exponentials; memory for n_k d_0 numbers
///   during the call.
/// Throws: std::invalid_argument for sizes that do not fit, and for d_0 = 0.
template <typename T>
Pilot<T> pilot_sample(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& v, arma::uword d_0,
                      const Key& draw_key, bool with_output = false);

}  // namespace croquis
