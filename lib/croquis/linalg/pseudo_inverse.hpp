// Spectral pseudo-inverses with a relative cut-off, kept in factors.
#pragma once

#include <armadillo>
#include <optional>

namespace croquis {

/// A^+ = right diag(1/values) left^T, from the singular values above cut-off * largest.
///
/// Kept in factors on purpose: applied right to left the rounding error stays aligned with the small singular
/// directions, where an explicit A^+ would spread it over all entries.
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

/// The pseudo-inverse of a symmetric positive semi-definite matrix. Eigenvalues <= cut-off * largest, negative ones
/// included, count as zero. A zero matrix has rank 0 and pseudo-inverse 0.
/// relative_cutoff in [0, 1); a usual choice is n u times the relative accuracy lost in the entries.
template <typename T>
PseudoInverse<T> pseudo_inverse_psd(const arma::Mat<T>& a, T relative_cutoff);

/// The triangular R^{-1} of A = R^T R, so that A^+ = A^{-1} = R^{-1} R^{-T}, when all eigenvalues are sure to exceed
/// cut-off * largest, by 1/||R^{-1}||_F^2 <= smallest and largest <= ||A||_1; nothing otherwise. A symmetric positive
/// semi-definite. Cost: d^3 flops, a tenth of the eigenvalues' time.
template <typename T>
std::optional<arma::Mat<T>> inverse_root_psd(const arma::Mat<T>& a, T relative_cutoff);

/// The pseudo-inverse of any matrix by its singular values; the cut-off as above.
template <typename T>
PseudoInverse<T> pseudo_inverse(const arma::Mat<T>& a, T relative_cutoff);

}  // namespace croquis
