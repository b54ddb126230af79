// Golub-Kahan-Lanczos bidiagonalisation: the Krylov space of A^T A, step by step.
#pragma once

#include <armadillo>

namespace croquis {

/// A V_k = U_k B_k and A^T U_k = V_k B_k^T + super_k v_{k+1} e_k^T for an m x n matrix A, with B_k (k x k) upper
/// bidiagonal and orthonormal columns in U_k (m x k) and V_k (n x k). The caller computes the two products of a step,
/// so that several starting vectors can share one pass over A:
///
///     while (!space.full()) {
///       space.set_left(A.apply(space.right()));
///       space.set_right(A.apply_transposed(space.left()));
///     }
///
/// Guarantees: every vector is orthogonalised twice against all previous ones, so the bases are orthonormal up to
///   rounding.
/// Cost: O((m + n) k) flops for step k, in addition to the products; memory (m + n) max_steps.
template <typename T>
class Bidiagonalisation {
 public:
  /// For an m x n matrix, starting from `start` (n numbers), with at most `max_steps` steps. Throws
  /// std::invalid_argument unless the start is finite and not zero, and max_steps >= 1.
  Bidiagonalisation(arma::uword m, const arma::Col<T>& start, arma::uword max_steps);

  const arma::Col<T>& right() const { return v_; }  ///< v_{k+1}
  void set_left(arma::Col<T> a_v);                  ///< a_v = A v_{k+1}
  const arma::Col<T>& left() const { return u_; }   ///< u_{k+1}
  void set_right(arma::Col<T> at_u);                ///< at_u = A^T u_{k+1}; completes the step

  arma::uword steps() const { return steps_; }
  bool full() const { return steps_ == diagonal_.n_elem; }
  /// super_k. It is zero, up to rounding, if the Krylov space is invariant; the next step then needs restart().
  double last() const { return super_(steps_ - 1); }
  /// Whether super_k is only rounding compared with the largest entry of B_k, which is at most ||A||.
  bool invariant() const;
  /// Continues from another direction: `direction` (n numbers) less its component in the space. Returns false if
  /// nothing is left of it, or if all steps are taken.
  bool restart(arma::Col<T> direction);

  /// B_k (k x k), or with `extended` k x (k + 1), where the last column is super_k e_k.
  arma::mat bidiagonal(bool extended = false) const;
  const arma::Mat<T>& right_basis() const { return right_; }  ///< its first steps() columns

 private:
  arma::Mat<T> left_, right_;
  arma::vec diagonal_, super_;
  arma::Col<T> v_, u_;
  arma::uword steps_ = 0;
};

}  // namespace croquis
