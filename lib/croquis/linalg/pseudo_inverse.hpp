// Spectral pseudo-inverses with a relative cut-off, kept in factors.
#pragma once

#include <armadillo>
#include <optional>

namespace croquis {

/// A^+ = right diag(1/values) left^T for A (m x n), from the singular values above cut-off * largest.
///
/// A^+ is not multiplied out. If the factors are applied from right to left, the rounding error stays aligned with the
/// small singular directions. An explicit A^+ would spread it over all entries.
template <typename T>
struct PseudoInverse {
  arma::Mat<T> left, right;  ///< m x r and n x r, orthonormal columns
  arma::Col<T> values;       ///< the r singular values kept, descending
  T largest = 0;             ///< largest singular value of A
  arma::uword rank() const { return values.n_elem; }

  /// A^+ X, n x k. Cost: 2 r (m + n) k flops.
  arma::Mat<T> apply(const arma::Mat<T>& x) const;
  /// (A^+)^T X, m x k.
  arma::Mat<T> apply_transposed(const arma::Mat<T>& x) const;
};

/// The pseudo-inverse of a symmetric positive semi-definite matrix (d x d). Eigenvalues <= cut-off * largest, including
/// negative ones, are treated as zero. A zero matrix has rank 0 and pseudo-inverse 0. relative_cutoff is in [0, 1); a
/// usual choice is d u times the relative accuracy lost in the entries.
/// Cost: about 9 d^3 flops.
/// Throws: std::invalid_argument for a matrix that is not square, and for another cut-off; std::runtime_error if the
///   eigenvalue solver fails. Symmetry is not checked: the upper triangle is used.
template <typename T>
PseudoInverse<T> pseudo_inverse_psd(const arma::Mat<T>& a, T relative_cutoff);

/// The triangular R^{-1} of A = R^T R, so that A^+ = A^{-1} = R^{-1} R^{-T}, for a symmetric positive semi-definite A
/// (d x d). A result is returned only if all eigenvalues certainly exceed cut-off * largest. This is decided by the
/// bounds 1/||R^{-1}||_F^2 <= smallest eigenvalue and largest eigenvalue <= ||A||_1.
/// Cost: d^3 flops, a tenth of the time of an eigenvalue decomposition.
template <typename T>
std::optional<arma::Mat<T>> inverse_root_psd(const arma::Mat<T>& a, T relative_cutoff);

/// The pseudo-inverse of any matrix, by its singular values. The cut-off is as above.
/// Cost: about 22 d^3 flops for a d x d matrix.
/// Throws: std::invalid_argument for another cut-off, std::runtime_error if the singular value solver fails.
template <typename T>
PseudoInverse<T> pseudo_inverse(const arma::Mat<T>& a, T relative_cutoff);

}  // namespace croquis
