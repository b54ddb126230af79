// The adjoint of attention: what a loss's derivative by the output says of its derivatives by queries, keys, values and
// bias.
#pragma once

#include <armadillo>
#include <croquis/attention/problem.hpp>
#include <functional>

namespace croquis {

/// The derivatives of a loss by the numbers of a problem, for its derivative G by the output: the vector-Jacobian
/// product <G, dO> = <q, dQ> + <k, dK> + <v, dV> + <bias, db>. Shapes are those of Q(), K() and V(), without padding,
/// and of position().bias: empty where the problem has no bias, zeros where the target does not take it.
template <typename T>
struct Gradient {
  arma::Mat<T> q, k, v;
  arma::Col<T> bias;
};

/// G (n_q x p_v, a row for every unpadded query) -> the gradient. Nothing is computed before it is called; it may be
/// called often, and outlive the problem and the approximation. Throws std::invalid_argument for a G of another shape.
template <typename T>
using Adjoint = std::function<Gradient<T>(const arma::Mat<T>& cotangent)>;

/// `gradient` as an Adjoint of outputs of this problem: with the check of G, BLAS on one thread, and zeros for members
/// that it leaves empty.
template <typename T>
Adjoint<T> adjoint_of(const Problem<T>& problem, Adjoint<T> gradient);

/// The gradient of a problem of n_q queries and n_k keys, padding included, that was made with a length: rows of zeros
/// below, and a bias with zeros on both sides (of one dimension: images have no padding).
template <typename T>
Gradient<T> with_padding(Gradient<T> gradient, arma::uword n_q, arma::uword n_k);

}  // namespace croquis
