// Pilot sampling: a few exact rows of B tell which columns matter.
#pragma once

#include <armadillo>
#include <croquis/core/random.hpp>

namespace croquis {

template <typename T>
struct Pilot {
  arma::uvec rows;      ///< J: d_0 uniform rows, with replacement
  arma::Mat<T> scores;  ///< rows J of B = softmax(Q K^T / sqrt(p)), transposed: n x d_0
  arma::Col<T>
      weights;  ///< (sum_{j in J} b_ji^2)^{1/2} ||V_i||: the probabilities of Skeinformer Eq. 5, times a constant
};

/// d_0 >= 1 rows drawn from the stream. Cost: 2 n d_0 p flops, n d_0 exponentials.
template <typename T>
Pilot<T> pilot_sample(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& v, arma::uword d_0,
                      const Stream& stream);

}  // namespace croquis
