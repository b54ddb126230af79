// Golub-Kahan-Lanczos bidiagonalisation: the Krylov space of A^T A, step by step.
#pragma once

#include <armadillo>

namespace croquis {

/// A V_k = U_k B_k and A^T U_k = V_k B_k^T + super_k v_{k+1} e_k^T, with B_k upper bidiagonal and orthonormal columns
/// in U_k and V_k. The caller forms the two products of a step, so that several starts can share the passes over A:
///
///     while (!space.full()) { space.take_left(A.apply(space.right()));
///     space.take_right(A.apply_transposed(space.left())); }
///
/// Guarantees: every vector is orthogonalised twice against all before it, so the bases are orthonormal to rounding.
/// Cost: O((m + n) k) flops for step k, beside the products.
template <typename T>
class Bidiagonalisation {
 public:
  /// For an m x n matrix, from `start` (n numbers, not zero), with at most `most_steps` steps.
  Bidiagonalisation(arma::uword m, const arma::Col<T>& start, arma::uword most_steps);

  const arma::Col<T>& right() const { return v_; }  ///< v_{k+1}
  void take_left(arma::Col<T> a_v);                 ///< A v_{k+1}
  const arma::Col<T>& left() const { return u_; }   ///< u_{k+1}
  void take_right(arma::Col<T> at_u);               ///< A^T u_{k+1}: ends the step

  arma::uword steps() const { return steps_; }
  bool full() const { return steps_ == diagonal_.n_elem; }
  /// super_k: zero, up to rounding, when the space is invariant. The next step needs restart() then.
  double last() const { return super_(steps_ - 1); }
  /// super_k is rounding beside the largest entry of B_k, itself at most ||A||.
  bool invariant() const;
  /// Goes on from another direction: `direction` less its part in the space. False when nothing is left of it.
  bool restart(arma::Col<T> direction);

  /// B_k, k x k; with `extended` k x (k + 1), whose last column is super_k e_k.
  arma::mat bidiagonal(bool extended = false) const;
  const arma::Mat<T>& left_basis() const { return left_; }    ///< the first steps() columns count
  const arma::Mat<T>& right_basis() const { return right_; }  ///< the same

 private:
  arma::Mat<T> left_, right_;
  arma::vec diagonal_, super_;
  arma::Col<T> v_, u_;
  arma::uword steps_ = 0;
};

}  // namespace croquis
