// The iterative inverse of a matrix times another matrix, by fewer products than the inverse itself takes.
#pragma once

#include <croquis/linalg/iterative_inverse.hpp>

namespace croquis {

template <typename T>
struct IterativeSolution {
  arma::Mat<T> solution;  ///< Z X
  arma::Col<T> rounding;  ///< of the size of the rounding error of the last column of Z X; empty without columns
  double residual = 0;    ///< ||I - N Z||_F
  int iterations = 0;     ///< steps taken
};

/// Z X for the Z of iterative_inverse(N, options) and an X (d x c). All factors of Z but Z_0 are polynomials of W = N
/// Z_0, so a step M <- (13 M - 15 W M + W^2 (7 M - W M)) / 4 advances both M = W and M = X: two products of W and two
/// of X, in place of four of W. Z_0 comes last. Where 2 c > d, Z itself is about as cheap and is computed.
/// Accuracy: W is not computed again from N, so a rounding error of W along a small singular direction grows with it,
///   by 13/4 in each step. On softmax matrices with condition numbers from 1 to 10^8 the error of the result was 2 to
///   15 times that of iterative_inverse, and in float at most 4e-4 of its norm.
/// Rounding: for the last column x, after the steps that make W_s of W and x_s of x, `rounding` is Z_0 (W_s x - W x_s),
///   or Z W x - Z_0 N Z x where Z is computed. Without rounding errors both are zero, since W and x are multiplied by
///   the same polynomials of W. With rounding errors, if x = N y has little along small singular directions, they have
///   the size of the error of Z x, which the same steps cause. This is an observation and no theorem: in 1092 solutions
///   near singular cores, in float, the median of the ratio to the error was between 0.5 and 3.
/// Cost: 2 d^2 (d + c) flops, and twice as many for each step; for a symmetric N, of which only blocks of 64 columns
///   down to the diagonal are computed, (d + 64) / (2 d) of the terms with d^3, or all of them for d <= 64. Where Z is
///   computed, as iterative_inverse, and 2 d^2 c.
/// Throws: std::invalid_argument unless N is square, X has d rows and the options are >= 0; std::runtime_error if W is
///   no longer finite, and as inverse_start and require_no_growth.
template <typename T>
IterativeSolution<T> iterative_solve(const arma::Mat<T>& n, const arma::Mat<T>& x, const InverseIteration& options);

/// The leading terms of the flops of iterative_solve() for all steps.
double iterative_solve_flops(double d, double c, const InverseIteration& options);

}  // namespace croquis
