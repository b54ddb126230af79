// The adjoints of the iterative inverse and of the pseudo-inverses: from the cotangent of the inverse to that of the
// matrix.
#pragma once

#include <armadillo>
#include <croquis/linalg/iterative_inverse.hpp>

namespace croquis {

/// The derivatives of <E, Z> with respect to N, for the Z that iterative_inverse(N, options) returns, through its steps
/// and its start. If several columns or rows have the largest sum, the start takes the first of them.
/// Cost: the steps again, and 22 d^3 flops for each step (8 d^3 in the forward pass); memory for one Z for each step.
/// Throws: std::invalid_argument unless N is square and E has its size; as inverse_start.
template <typename T>
arma::Mat<T> iterative_inverse_adjoint(const arma::Mat<T>& n, const InverseIteration& options,
                                       const arma::Mat<T>& cotangent);

/// The derivatives of <E, A^+>, E = left right^T (both d x c), with respect to a symmetric A (d x d), for the
/// pseudo-inverse of pseudo_inverse_psd: the Daleckii-Krein form U (F o (U^T E U)) U^T, where l_a are the eigenvalues,
/// F_ab = (f(l_a) - f(l_b)) / (l_a - l_b) with f(l) = 1/l above the cut-off and 0 below, and F_ab = f'(l_a) for equal
/// eigenvalues. E stands for its symmetric part, and the result is symmetric: the derivatives with respect to A_ab and
/// A_ba are one half of the effect of changing both.
/// Guarantees: exact while no eigenvalue crosses the cut-off. (The formula for a constant rank differs: it takes the
///   eigenvalues below the cut-off for zeros.)
/// Rounding: U^T left and U^T right are small in the directions of small eigenvalues where left and right come from
///   kernels of the same points. E formed first would have rounding of one size in all directions, which l_a l_b
///   divides; hence two factors.
/// Cost: about 9 d^3 flops for the eigenvectors and 4 d^3 + 6 d^2 c for the products.
/// Throws: std::invalid_argument for sizes that do not fit, std::runtime_error if the eigenvalue solver fails.
template <typename T>
arma::Mat<T> pseudo_inverse_psd_adjoint(const arma::Mat<T>& a, T relative_cutoff, const arma::Mat<T>& left,
                                        const arma::Mat<T>& right);

/// The same for any square A (d x d) and pseudo_inverse, by singular values s_a. With E' = U^T E^T V, the symmetric
/// part of the pair (a, b) has the factor (f(s_a) - f(s_b)) / (s_a - s_b), and the antisymmetric part (f(s_a) + f(s_b))
/// / (s_a + s_b).
template <typename T>
arma::Mat<T> pseudo_inverse_adjoint(const arma::Mat<T>& a, T relative_cutoff, const arma::Mat<T>& left,
                                    const arma::Mat<T>& right);

}  // namespace croquis
