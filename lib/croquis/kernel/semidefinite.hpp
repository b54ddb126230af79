// Kernel matrices from files or callers: a check that they are symmetric and positive semi-definite up to rounding.
#pragma once

#include <armadillo>
#include <croquis/kernel/kernel_matrix.hpp>
#include <string>

namespace croquis {

/// The unit roundoff u of the entries: 2^-24 if all of them are numbers of single precision and not all are integers
/// (the matrix was computed in single precision), otherwise 2^-53.
double unit_of(const arma::mat& matrix);

/// Why a matrix G (n x n, finite) is not symmetric positive semi-definite, such as "is 3 x 4, not square", to follow
/// its name in a message; empty if it is. Rounding is tolerated: entries (i, j) and (j, i) may differ by n u max
/// |g_ij|, and the smallest eigenvalue may be -n u ||G||, with u = unit_of(G). A zero matrix is refused too.
/// Cost: n^3 / 3 flops if G is positive definite up to rounding; otherwise all eigenvalues are computed. Memory: two
///   copies of G.
/// Throws: std::invalid_argument if there is not enough memory (require_memory()), std::runtime_error if the eigenvalue
///   solver fails.
std::string semidefinite_defect(const arma::mat& matrix);

/// The kernel matrix of a G without semidefinite_defect(), which the caller has checked. G is made exactly symmetric,
/// diagonal entries below 0 become 0, and G is divided by the power of two at or below its largest entry, which changes
/// no relative error.
/// Throws: std::invalid_argument unless G is square and not zero.
KernelMatrix<double> semidefinite_kernel_matrix(const arma::mat& matrix);

}  // namespace croquis
