// Norms of a matrix from a random sample of its rows, and the ratio of two such norms with a confidence interval.
#pragma once

#include <armadillo>
#include <croquis/stats/intervals.hpp>

namespace croquis {

/// A norm of an n-row matrix, estimated from R of its rows.
struct SampledNorm {
  arma::uword n = 0;
  double value = 0;       ///< the estimate
  double log_spread = 0;  ///< the norm is between value exp(-log_spread) and value exp(log_spread), on average
  /// The contribution of each sampled row to the square of the norm, divided by their mean; all 0 if the mean is 0. For
  /// the spectral norm, contributions are those that cross-fitting finds.
  arma::vec shares;
};

/// The number of folds of the cross-fitting. Neighbouring rows of the sample belong to different folds.
inline constexpr arma::uword kNormFolds = 10;

/// ||A|| from a sample without repetition (R x p, in the order of A).
/// Source: K-fold cross-fitting, as in Stone (1974) and for eigenvalues in Lam (2016, Ann. Stat. 44); the geometric
///   mean below is ours. With M = A^T A / n and its estimate M_S from the sample, let P be the largest eigenvalue of
///   M_S, and C the mean over the sampled rows a of (u^T a)^2, where u is the leading eigenvector of the rows outside
///   the fold of a. A share R / n of M is known, so L = (R/n) P + (1 - R/n) C. The estimate is n^(1/2) (P L)^(1/4).
/// Guarantees: E P >= ||M||, since the largest eigenvalue is convex (Jensen), and C <= P. A direction that is not the
///   best one gives less than the norm, so L is below ||M|| on average, up to the difference between the directions of
///   nine tenths of the sample and of all of it. The biases of P and of L are opposite and equal to first order in 1/R
///   where the leading eigenvalue is separated, and the geometric mean has neither. R = n gives ||A||, to rounding,
///   and log_spread = 0. No overflow.
/// Throws: std::invalid_argument unless 2 kNormFolds <= R <= n, std::runtime_error if the eigenvalue solver fails.
/// Cost: R p^2 flops and kNormFolds + 1 eigenvalue problems of size p.
SampledNorm sampled_spectral_norm(const arma::mat& rows, arma::uword n);

/// ||A||_F: (n/R) sum ||a||^2 is an unbiased estimate of its square. log_spread = 0. Throws as sampled_spectral_norm.
SampledNorm sampled_frobenius_norm(const arma::mat& rows, arma::uword n);

struct SampledRatio {
  double value = 0;   ///< NaN if the denominator is 0
  Interval interval;  ///< contains the value; a point if R = n
  /// The number of rows that the interval rests on, R / kurtosis of what single rows contribute: R/3 for normal
  /// contributions, and near 1 where one row decides. 0 where all rows contribute the same.
  double effective_rows = 0;
};

/// The ratio of two norms that are estimated from the same rows.
/// Interval: on the logarithm, value exp(+- (t s + b)). s^2 = (1 - R/n) / R times the variance of the halved difference
///   of the two shares of a row (the delta method for a ratio, with the finite-population correction); with shares from
///   cross-fitting, no row is judged by a direction that it has pulled to itself. t is Student's quantile with
///   R / (2 (kurtosis - 1)) degrees of freedom, between 1 and R - 1: a few large contributions say little about the
///   variance. (Satterthwaite's number is four times that, but the kurtosis of a sample is too small where it is
///   large.) b is half the sum of the two log_spread. 1/2 and 1/4 were chosen by measured coverage:
///   experiments/rows-coverage.
/// Guarantees: asymptotic in R. Rows that carry the variance and are so few (about n/R) that the sample may have none
///   of them are not allowed for, and no sample that misses them can tell.
/// Throws: std::invalid_argument unless both norms are of one sample.
SampledRatio sampled_ratio(const SampledNorm& numerator, const SampledNorm& denominator, double alpha);

}  // namespace croquis
