// The adjoint of softmax products.
#pragma once

#include <armadillo>

namespace croquis {

template <typename T>
struct SoftmaxAdjoint {
  arma::Mat<T> q, k, x;  ///< with respect to Q, K and X, and of their shapes
};

/// The derivatives of <G, Y> with respect to Q, K and X, for the Y = softmax(Q K^T / sqrt(p) + 1 l^T) X of
/// softmax_product and a cotangent G (a x c). l is held constant. With P the softmax and delta_i = g_i.y_i: D = P o (G
/// X^T - delta 1^T), dQ = D K / sqrt(p), dK = D^T Q / sqrt(p), dX = P^T G, where o is the entrywise product. P is
/// recomputed in blocks.
/// Cost: a call of softmax_product for the log-sum-exp and Y, then 2 a b (2 c + 3 p) flops and a b exponentials; memory
///   O((a + b) (p + c)).
template <typename T>
SoftmaxAdjoint<T> softmax_adjoint(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& x,
                                  const arma::Mat<T>& cotangent, const arma::Col<T>& log_weights = {});

/// The cotangent of the scores S, from the cotangent dP of P, their softmax by rows (a x b): P o (dP - r 1^T), where r
/// are the row sums of P o dP. Throws std::invalid_argument unless P and dP are of one size.
template <typename T>
arma::Mat<T> softmax_rows_adjoint(const arma::Mat<T>& weights, const arma::Mat<T>& cotangent);

}  // namespace croquis
