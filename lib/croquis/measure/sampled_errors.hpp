// Errors of an approximation from a random sample of the output's rows.
#pragma once

#include <croquis/attention/exact.hpp>
#include <croquis/attention/problem.hpp>
#include <croquis/measure/errors.hpp>
#include <croquis/random/key.hpp>
#include <croquis/stats/intervals.hpp>
#include <vector>

namespace croquis {

/// Estimated errors, and confidence intervals for the relative ones.
struct SampledErrors {
  OutputErrors errors;  ///< max_abs is that of the sampled rows, a lower bound
  Interval spectral_rel, frobenius_rel;
};

/// R exact rows of the output, chosen uniformly without repetition, for many comparisons. It is meant for n at which
/// n^2 scores take too long.
///
/// Guarantees: with rows e_i of O - O~, ||O - O~||_F^2 is estimated by (n/R) sum ||e_i||^2 and ||O - O~||^2 by the
///   largest eigenvalue of (n/R) sum e_i e_i^T; relative errors divide by the same estimates of O, from the same rows.
///   The second is biased upwards by about p_v times the largest row over R: O(1/R).
/// Intervals: Student's of the pseudo-values of a jackknife over kGroups groups of the sample. Asymptotic in R; a few
///   rows that have most of the error, fewer than some n/R, can be missed altogether.
/// Randomness: the rows, from the random key. Cost: 2 R n_k (p + p_v) flops once; (kGroups + 1) eigenvalue problems of
///   size p_v a comparison.
class SampledReference {
 public:
  static constexpr arma::uword kGroups = 20;
  static constexpr double kAlpha = 0.05;  ///< 1 - kAlpha is the confidence of the intervals

  /// n is the number of queries. Throws std::invalid_argument unless kGroups <= count <= n.
  SampledReference(const Problem<double>& problem, Target target, arma::uword count, const Key& draw_key);

  /// The same from exact rows that have already been computed: `exact` at draw_rows(n, count, draw_key).
  SampledReference(arma::uword n, arma::uvec rows, ExactAttention<double> exact);
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
  std::vector<arma::mat> exact_grams_;  // O_g^T O_g of every group of rows
};

}  // namespace croquis
