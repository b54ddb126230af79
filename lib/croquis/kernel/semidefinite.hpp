// Matrices of others as kernel matrices: symmetric and positive semi-definite to rounding, or why not.
#pragma once

#include <armadillo>
#include <croquis/kernel/kernel_matrix.hpp>
#include <string>

namespace croquis {

/// The unit roundoff of the numbers of a matrix: 2^-24 where all of them are single precision numbers and not all are
/// whole (a matrix that was computed in single precision), else 2^-53.
double unit_of(const arma::mat& matrix);

/// Why a matrix of finite numbers is not symmetric positive semi-definite, "is 3 x 4, not square", for a message after
/// its name; empty if it is. Entries (i, j) and (j, i) may differ by n u max |g_ij|, and the smallest eigenvalue may be
/// -n u ||G||, with u = unit_of(G): more is not rounding. A zero matrix is refused too.
/// Cost: n^3 / 3 flops for a matrix that is positive definite to rounding; for others its eigenvalues. Two copies of G.
/// Throws: std::invalid_argument by require_memory(), std::runtime_error if the eigenvalue solver fails.
std::string semidefinite_defect(const arma::mat& matrix);

/// A matrix without semidefinite_defect(), of which this does not check more than stored_kernel_matrix() does: made
/// exactly symmetric, and divided by the power of two at or below its largest entry, which no relative error sees.
KernelMatrix<double> semidefinite_kernel_matrix(const arma::mat& matrix);

}  // namespace croquis
