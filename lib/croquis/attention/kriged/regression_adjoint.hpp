// The adjoint of the regression of the kriged coreset.
#pragma once

#include <croquis/attention/kriged/plan.hpp>

namespace croquis {

/// Derivatives of <E, W Z> for W = KrigedPlan::regression(), s x N, and Z = KrigedPlan::residual, N x c, with respect
/// to Z, the weights Y of the cells in the exact rows (N x s) and the cells' squares g. That of a square of 0, whose
/// cell has no values, is 0.
struct RegressionAdjoint {
  arma::mat residual;
  arma::mat cell_weights;
  arma::vec squares;
};

/// The ridge is a power of ten, which is held constant, times the mean eigenvalue, which is not. As in the forward
/// pass, the mean eigenvalue is at least that of uniform weights, the sum of the squares divided by n_k^2. With X = Y
/// diag(g)^1/2, L = (X X^T + ridge I)^-1, A = L Z, F = diag(g)^1/2 E and R = F - X^T dZ: dZ = L X F, dX = A R^T - dZ
/// (X^T A)^T, dg_c = R_c.(X^T A)_c / g_c, d ridge = -<A, dZ>. All of it is computed from the singular values of X. The
/// ridge may be 1e-8 of the largest eigenvalue of X X^T, and rounding of that matrix, divided by the ridge, would reach
/// the derivatives where few eigenvalues matter; and that of E Z^T, the derivative by W, would be divided twice.
/// Cost: about 20 N^3 + 8 N^2 s + 8 N s c flops. Throws std::runtime_error where there are no singular values.
template <typename T>
RegressionAdjoint regression_adjoint(const KrigedPlan<T>& plan, arma::uword n_k, const arma::Mat<T>& cotangent);

}  // namespace croquis
