// Attention by its definition, row by row in long double, and what rounding may do to it.
#pragma once

#include <cmath>
#include <croquis/attention/method.hpp>
#include <vector>

#include "support/dense.hpp"

/// q_i.k_j / sqrt(p).
Dense logits_of(const Dense& q, const Dense& k);

/// Every row less its largest entry, exponentiated, divided by its sum.
Dense softmax_of(const Dense& logits);

/// log of sum_j exp(logits_ij).
std::vector<long double> log_sums_of(const Dense& logits);

/// exp(-||x_i - y_j||^2 / 2), from the differences.
Dense gaussian_of(const Dense& x, const Dense& y);

/// B or C.
Dense scores_of(const Dense& q, const Dense& k, croquis::Target target);

/// Largest relative error of an entry of B computed in T, for n keys of width p, with s = max ||q_i|| ||k_j|| /
/// sqrt(p).
///   A logit: p products and sums and the scaling of q and of k, (p + 6) u s. Less the row maximum, which is at most
///   2 s away: 2 u s. The exponential, within 2 ulp: 4 u. The sum of n positive terms: n u. Streaming rescales the sum
///   once a block of 512 keys, by factors whose exponents add up to 2 s at most: 2 u s + (n / 512 + 1) 3 u.
///   An entry is a quotient of two such numbers: twice the whole.
template <typename T>
double softmax_error(double n, double p, double s) {
  return 2 * ((p + 10) * s + 4 + n + 3 * (n / 512 + 1)) * unit<T>();
}

/// Largest relative error of an entry of exp(-||x - y||^2 / 2) computed in T for points of width p with norms at most r
/// that are scaled, moved to a common centre (norms at most 2 r), and whose distances come from x.y - |x|^2/2 -
/// |y|^2/2:
///   scaling, a common factor off by 3 u: 12 u r^2; rounding of the points, 3 u r each over a distance of 2 r: 12 u
///   r^2; three inner products of p terms with norms at most 2 r: 8 p u r^2, their sum: 24 u r^2; the exponential: 4 u.
template <typename T>
double gaussian_error(double p, double r) {
  return ((8 * p + 48) * r * r + 4) * unit<T>();
}

/// Largest error, in spectral norm, of L W^+ R^T computed in T for blocks of one PSD matrix M = (L; ...)(...): `entry`
/// the relative error of an entry, `frobenius` the Frobenius norm of the larger block of columns, l >= ||M||, m > 0 the
/// smallest eigenvalue of W that is kept, d landmarks.
///   With delta the rounding of the columns K and of W and its decomposition: ||K W^+ W^+ K^T|| <= l / m and
///   ||W^+ K^T|| <= sqrt(l / m), so that (K + dK) (W + dW)^+ (K + dK)^T is off by delta (1 + sqrt(l / m))^2 and by
///   smaller terms, taken as once more.
template <typename T>
double nystrom_error(double entry, double frobenius, double l, double m, double d) {
  return 2 * (entry * frobenius + 10 * d * unit<T>() * l) * std::pow(1 + std::sqrt(l / m), 2);
}

/// max ||q_i|| ||k_j|| / sqrt(p) of a problem.
template <typename T>
double largest_logit(const croquis::Problem<T>& problem) {
  return largest_row(problem.Q()) * largest_row(problem.K()) / std::sqrt(static_cast<double>(problem.p()));
}

/// max ||x|| over the points (Q; K) / p^(1/4).
template <typename T>
double largest_point(const croquis::Problem<T>& problem) {
  return std::max(largest_row(problem.Q()), largest_row(problem.K())) /
         std::pow(static_cast<double>(problem.p()), 0.25);
}

/// Rows `indices` of a.
Dense rows_of(const Dense& a, const arma::uvec& indices);

/// The n_q + n_k points (Q; K) / p^(1/4).
template <typename T>
Dense stacked_points(const croquis::Problem<T>& problem) {
  return std::pow(static_cast<long double>(problem.p()), -0.25L) * Dense(arma::join_cols(problem.Q(), problem.K()));
}

/// An identity of the interface: O~ = B~ V, and apply_transposed is the transpose of apply. Returns the larger of the
/// two gaps, max |B~ V - O~| / max_i sum_j |b_ij| / max |v| and max |B~ - (B~^T)^T| / max |b_ij|.
template <typename T>
double interface_gap(const croquis::Approximation<T>& approximation, const croquis::Problem<T>& problem) {
  const croquis::LinearOperator<T>& scores = approximation.scores.value();
  const Dense b = scores.dense();
  const Dense bt = scores.apply_transposed(arma::Mat<T>(scores.rows, scores.rows, arma::fill::eye));
  const double size = largest_row_sum(b), value = static_cast<double>(largest_entry_of(problem.V()));
  const double output = distance(b * problem.V(), approximation.output);
  const double transpose = distance(b, transposed(bt));
  if (!(size > 0) || !(value > 0)) return std::max(output, transpose);
  return std::max(output / (size * value), transpose / static_cast<double>(largest_entry_of(b)));
}
