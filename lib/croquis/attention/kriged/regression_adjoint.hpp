// The adjoint of the regression of the kriged coreset.
#pragma once

#include <croquis/attention/kriged/plan.hpp>

namespace croquis {

/// Derivatives of <E, W> for W = KrigedPlan::regression(), s x N, with respect to the weights Y of the cells in the
/// exact rows (N x s) and the cells' squares.
struct RegressionAdjoint {
  arma::mat cell_weights;
  arma::vec squares;
};

/// The ridge is a power of ten, which is held constant, times the mean eigenvalue, which is not. As in the forward
/// pass, the mean eigenvalue is at least that of uniform weights, the sum of the squares divided by n_k^2. With L = (Y
/// diag(squares) Y^T + ridge I)^-1, F = diag(squares) E and H = -L Y F L: dY = L F^T + (H + H^T) Y diag(squares), d
/// squares_c = E_c.(Y^T L)_c + y_c^T H y_c, d ridge = trace H.
/// Cost: 8 N^2 s + 4 N^3 flops.
template <typename T>
RegressionAdjoint regression_adjoint(const KrigedPlan<T>& plan, arma::uword n_k, const arma::Mat<T>& cotangent);

}  // namespace croquis
