// The adjoints of iterative and spectral inverses: the cotangent of a matrix for that of its inverse.
#pragma once

#include <armadillo>
#include <croquis/linalg/iterative_inverse.hpp>

namespace croquis {

/// The derivatives of <E, Z> by N for the Z that iterative_inverse(N, options) returns, through its steps and its
/// start. Where several columns or rows have the largest sum, the start takes the first of them.
/// Cost: the steps again, then 22 d^3 flops a step against 8 d^3; memory for a Z a step.
template <typename T>
arma::Mat<T> iterative_inverse_adjoint(const arma::Mat<T>& n, const InverseIteration& options,
                                       const arma::Mat<T>& cotangent);

/// The derivatives of <E, A^+> by a symmetric A, for the pseudo-inverse of pseudo_inverse_psd, eigenvalues cut off
/// included: the Daleckii-Krein form U (F o (U^T E U)) U^T with F_ab = (f(l_a) - f(l_b)) / (l_a - l_b), f(l) = 1/l
/// above the cut-off and 0 below, F = f' where eigenvalues are equal. The result is symmetric: derivatives by A_ab and
/// A_ba are one half of the effect of changing both. Guarantees: exact while no eigenvalue crosses the cut-off. The
/// formula for a constant rank is another one, which
///   takes eigenvalues that are cut off for zeros.
/// Cost: about 9 d^3 flops for the eigenvectors and 8 d^3.
template <typename T>
arma::Mat<T> pseudo_inverse_psd_adjoint(const arma::Mat<T>& a, T relative_cutoff, const arma::Mat<T>& cotangent);

/// The same for any square A (d x d) and pseudo_inverse, by singular values. With E' = U^T E^T V, the symmetric part of
/// a pair (a, b) has the factor (f(s_a) - f(s_b)) / (s_a - s_b), the antisymmetric part (f(s_a) + f(s_b)) / (s_a +
/// s_b).
template <typename T>
arma::Mat<T> pseudo_inverse_adjoint(const arma::Mat<T>& a, T relative_cutoff, const arma::Mat<T>& cotangent);

}  // namespace croquis
