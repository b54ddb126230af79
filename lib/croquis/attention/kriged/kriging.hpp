// Ridge regression of residuals on kernel weights, with the ridge chosen by leave-one-out errors in closed form.
#pragma once

#include <armadillo>

namespace croquis {

/// Values of the ridge that are tried: powers of ten from 1e-6 to 100 times the mean eigenvalue by two decades, then
/// two steps of refinement around the best.
constexpr int kRidgesTried = 9;

/// The minimiser of sum_r ||x_r B - y_r||^2 + ridge ||B||_F^2 is B = X^T (X X^T + ridge I)^-1 Y: "kriging" is the name
/// that spatial statistics has for it, with covariance X X^T and noise `ridge`.
struct Kriging {
  double ridge = 0;     ///< infinite where no regression has a clearly smaller leave-one-out error than B = 0
  arma::mat inverse;    ///< (X X^T + ridge I)^-1, N x N; empty where the ridge is infinite
  arma::mat residuals;  ///< leave-one-out residuals e_r, N x c
};

/// Chooses the ridge with the smallest sum_r weight_r ||e_r||^2, where e_r = y_r - x_r B_{-r}, and B_{-r} is fitted
/// without row r. With a = (X X^T + ridge I)^-1 Y and h the diagonal of that inverse, e_r = a_r / h_r. If the mean
/// eigenvalue of X X^T is less than `smallest`, the ridges are multiples of `smallest` instead, so that rows that are
/// nearly zero are not blown up.
/// Cost: 2 N^2 (s + (kRidgesTried + 1) c) + 9 N^3 flops for X (N x s) and Y (N x c). Throws std::runtime_error where
/// the eigenvalues of X X^T cannot be computed.
Kriging krige(const arma::mat& x, const arma::mat& y, const arma::vec& weights, double smallest = 0);

}  // namespace croquis
