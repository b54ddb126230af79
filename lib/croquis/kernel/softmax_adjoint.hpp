// The adjoint of softmax products.
#pragma once

#include <armadillo>

namespace croquis {

template <typename T>
struct SoftmaxAdjoint {
  arma::Mat<T> q, k, x;  ///< with the shapes of what they are derivatives by
};

/// The derivatives of <G, Y> by Q, K and X for Y = softmax(Q K^T / sqrt(p) + 1 l^T) X, G (a x c): what softmax_product
/// computes, l held constant.
/// With P the softmax and delta_i = g_i.y_i: D = P o (G X^T - delta 1^T), dQ = D K / sqrt(p), dK = D^T Q / sqrt(p), dX
/// = P^T G. P is computed again in blocks. Cost: a call of softmax_product for the log-sum-exp and Y, then 2 a b (2 c +
/// 3 p) flops and a b exponentials; memory O((a + b) (p + c)).
template <typename T>
SoftmaxAdjoint<T> softmax_adjoint(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& x,
                                  const arma::Mat<T>& cotangent, const arma::Col<T>& log_weights = {});

/// The cotangent of the scores S for that of their softmax by rows, P (a x b): P o (dP - rows' sums of P o dP).
template <typename T>
arma::Mat<T> softmax_rows_adjoint(const arma::Mat<T>& weights, const arma::Mat<T>& cotangent);

}  // namespace croquis
