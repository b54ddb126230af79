// The iterative inverse of a matrix times another matrix, by fewer products than the inverse itself takes.
#pragma once

#include <croquis/linalg/iterative_inverse.hpp>

namespace croquis {

template <typename T>
struct IterativeSolution {
  arma::Mat<T> solution;  ///< Z X
  arma::Col<T> rounding;  ///< as large as rounding makes the error of the last column of Z X; empty without columns
  double residual = 0;    ///< ||I - N Z||_F
  int iterations = 0;     ///< steps taken
};

/// Z X for the Z of iterative_inverse(N, options) and an X (d x c). All factors of Z but Z_0 are polynomials of W = N
/// Z_0, so a step M <- (13 M - 15 W M + W^2 (7 M - W M)) / 4 advances both M = W and M = X: two products of W and two
/// of X, in place of four of W. Z_0 comes last. Where 2 c > d, Z itself is about as cheap and is computed. Accuracy: W
/// is not computed again from N, so a rounding error of W along a small singular direction grows with it, by
///   13/4 a step. On softmax matrices with condition numbers from 1 to 10^8 the result was off by 2 to 15 times as much
///   as by iterative_inverse: at most 4e-4 of its norm in float.
/// Rounding: for the last column x, after the steps that make W_s of W and x_s of x, `rounding` is Z_0 (W_s x - W x_s),
///   or Z W x - Z_0 N Z x where Z is computed. Without rounding both are zero, since W and x are multiplied by the same
///   polynomials of W. With it they have the size of the error of Z x, which the same steps make, where x = N y has
///   little along small singular directions. This was only tried: in 1092 solutions near singular cores, in float, the
///   median of their ratio to the error was between .5 and 3.
/// Cost: 2 d^2 (d + c) flops, and twice as many for each step; for a symmetric N, of which only blocks of 64 columns
///   down to the diagonal are computed, (d + 64) / (2 d) of the terms with d^3, or all of them for d <= 64. Where Z is
///   computed, as iterative_inverse, and 2 d^2 c.
/// Throws: std::runtime_error if W is no longer finite, and as require_no_growth.
template <typename T>
IterativeSolution<T> iterative_solve(const arma::Mat<T>& n, const arma::Mat<T>& x, const InverseIteration& options);

/// Its flops for all steps, leading terms.
double iterative_solve_flops(double d, double c, const InverseIteration& options);

}  // namespace croquis
