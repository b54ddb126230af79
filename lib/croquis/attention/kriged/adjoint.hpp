// The adjoint of the kriged coreset.
#pragma once

#include <croquis/attention/gradient.hpp>
#include <croquis/attention/kriged/operator.hpp>
#include <memory>

namespace croquis {

/// The adjoint of kriged_approximation(). It holds constant the trees, the plan, the keys that queries attend to one by
/// one, the queries with exact rows, and the power of ten of the ridge. It differentiates the importance of the keys,
/// and so the means of the cells; the rows of the landmarks; the regression and its residuals; and the edge of the box
/// at which a row that would leave the box is stopped.
/// Cost: about three times what the forward pass takes for queries and exact rows; memory of O((n_q + n_k) (N + p +
///   p_v)) numbers for N exact rows, as the forward pass.
template <typename T>
Adjoint<T> kriged_adjoint(std::shared_ptr<const KrigedModel<T>> model);

}  // namespace croquis
