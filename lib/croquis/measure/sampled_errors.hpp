// Errors of an approximation from a random sample of the output's rows.
#pragma once

#include <croquis/attention/exact.hpp>
#include <croquis/attention/problem.hpp>
#include <croquis/measure/errors.hpp>
#include <croquis/measure/sampled_norm.hpp>
#include <croquis/random/key.hpp>
#include <croquis/stats/intervals.hpp>

namespace croquis {

/// Estimated errors, and confidence intervals for the relative ones, from `rows` of the n rows.
struct SampledErrors {
  OutputErrors errors;  ///< max_abs is that of the sampled rows, a lower bound
  Interval spectral_rel, frobenius_rel;
  /// The effective number of rows of the intervals (SampledRatio). Below 4, one or two rows dominate: the interval is
  /// wide (its ends differ by a factor of two and more), and similar rows may well be missing in the sample.
  double spectral_effective_rows = 0, frobenius_effective_rows = 0;
  arma::uword rows = 0, n = 0;
};

/// R exact rows of the output, chosen uniformly without replacement, as a reference for many comparisons, for inputs so
/// long that n^2 scores would take too long.
///
/// Guarantees: the square of frobenius_abs is unbiased. spectral_abs is the estimate of sampled_spectral_norm, whose
///   biases of first order in 1/R cancel. Relative errors divide by the same estimates for O, from the same rows. R = n
///   gives the errors themselves. The intervals, those of sampled_ratio, contain the estimates, shrink with sqrt(1 -
///   R/n), and are points for R = n. The measured coverage of the 95 % intervals is in docs/results.md. They are
///   asymptotic in R: if about 3 n/R rows or fewer carry the error, a sample can miss them without any sign of it: m
///   rows with probability exp(-m R/n).
/// Randomness: the rows, from the random key.
/// Cost: 2 R n_k (p + p_v) flops once; R p_v^2 flops and kNormFolds + 1 eigenvalue problems of size p_v for each
///   comparison.
class SampledReference {
 public:
  static constexpr arma::uword kFewestRows = 2 * kNormFolds;
  static constexpr double kAlpha = 0.05;  ///< 1 - kAlpha is the confidence of the intervals

  /// n is the number of queries. Rows that are rounding alone count as 0 (as_reference). Throws std::invalid_argument
  /// unless kFewestRows <= count <= n.
  SampledReference(const Problem<double>& problem, Target target, arma::uword count, const Key& draw_key);

  /// The same from exact rows that have already been computed: `exact` at rows = draw_rows(n, count, draw_key).
  SampledReference(arma::uword n, arma::uvec rows, ExactAttention<double> exact);
  /// `count` of the rows 0, ..., n - 1, ascending, as the first constructor draws them.
  static arma::uvec draw_rows(arma::uword n, arma::uword count, const Key& draw_key);

  const arma::uvec& rows() const { return rows_; }
  const arma::mat& exact() const { return exact_; }                ///< the sampled rows of O, R x p_v
  const arma::vec& log_row_sums() const { return log_row_sums_; }  ///< of the sampled rows

  /// `approximate` has all n rows (n x p_v). Throws as OutputReference::compare.
  SampledErrors compare(const arma::mat& approximate) const;
  /// `approximate` has only the sampled rows (R x p_v).
  SampledErrors compare_rows(const arma::mat& approximate) const;

 private:
  arma::uword n_;
  arma::uvec rows_;
  arma::mat exact_;
  arma::vec log_row_sums_;
  SampledNorm spectral_, frobenius_;  // of the exact output
};

}  // namespace croquis
