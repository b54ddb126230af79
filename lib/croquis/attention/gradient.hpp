// The adjoint of attention: from the derivative of a loss with respect to the output to those with respect to queries,
// keys, values and bias.
#pragma once

#include <armadillo>
#include <croquis/attention/problem.hpp>
#include <functional>

namespace croquis {

/// The derivatives of a loss with respect to the entries of a problem, for its derivative G with respect to the output:
/// the vector-Jacobian product <G, dO> = <q, dQ> + <k, dK> + <v, dV> + <bias, db>. Shapes are those of Q(), K() and
/// V(), without padding, and of position().bias: empty if the problem has no bias, zeros if the target does not use it.
template <typename T>
struct Gradient {
  arma::Mat<T> q, k, v;
  arma::Col<T> bias;
};

/// G (n_q x p_v, a row for every unpadded query) -> the gradient. Nothing is computed before it is called. It may be
/// called several times, and may outlive the problem and the approximation.
/// Throws: std::invalid_argument for a G of another shape.
template <typename T>
using Adjoint = std::function<Gradient<T>(const arma::Mat<T>& cotangent)>;

/// Wraps `gradient` as an Adjoint for outputs of this problem: G is checked, BLAS runs on one thread, and members that
/// `gradient` leaves empty become zeros.
template <typename T>
Adjoint<T> adjoint_of(const Problem<T>& problem, Adjoint<T> gradient);

/// Extends the gradient of a problem with a length to its n_q queries and n_k keys, padding included: zero rows below,
/// and a bias with zeros on both sides (in one dimension: images have no padding).
template <typename T>
Gradient<T> with_padding(Gradient<T> gradient, arma::uword n_q, arma::uword n_k);

}  // namespace croquis
