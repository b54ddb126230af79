// Pilot sampling: a few exact rows of B tell which columns matter.
#pragma once

#include <armadillo>
#include <croquis/random/key.hpp>

namespace croquis {

template <typename T>
struct Pilot {
  arma::uvec rows;      ///< J: d_0 uniform rows, with replacement
  arma::Mat<T> output;  ///< B_J V, d_0 x p_v, B = softmax(Q K^T / sqrt(p)): exact attention, where it is asked for
  arma::Col<T>
      weights;  ///< (sum_{j in J} b_ji^2)^{1/2} ||V_i||: the probabilities of Skeinformer Eq. 5, times a constant
};

/// d_0 >= 1 rows drawn from the random key. Cost: 2 n d_0 p flops, with the output 2 n d_0 (p + p_v), n d_0
/// exponentials; memory n d_0 while it runs.
template <typename T>
Pilot<T> pilot_sample(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& v, arma::uword d_0,
                      const Key& draw_key, bool with_output = false);

}  // namespace croquis
