// Errors of an approximation against the exact output.
#pragma once

#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>

namespace croquis {

/// Errors of O~ against O. Relative errors are divided by the same norm of O, and are NaN if O = 0.
struct OutputErrors {
  double spectral_abs = 0, spectral_rel = 0;    ///< ||O - O~||
  double frobenius_abs = 0, frobenius_rel = 0;  ///< ||O - O~||_F
  double max_abs = 0;                           ///< max |O_ij - O~_ij|
};

/// An exact output O (n x p_v) with its norms, which are computed once for all comparisons.
class OutputReference {
 public:
  /// Throws std::runtime_error if `exact` has NaN or infinity.
  explicit OutputReference(arma::mat exact);

  /// Throws std::runtime_error if `approximate` has NaN or infinity, and std::invalid_argument if the sizes differ.
  /// Cost: O(n p_v^2) flops.
  OutputErrors compare(const arma::mat& approximate) const;
  double spectral() const { return spectral_; }
  const arma::mat& exact() const { return exact_; }

 private:
  arma::mat exact_;
  double spectral_ = 0, frobenius_ = 0;
};

/// Errors of a score matrix B~ against B (or C). The relative error is NaN if B = 0.
struct ScoreErrors {
  double spectral_abs = 0, spectral_rel = 0;  ///< ||B - B~||, and the same divided by ||B||
};

/// The exact scores of a target as an operator (n_q x n_k), with their norm, which is computed once for all
/// comparisons. No n_q x n_k matrix is stored.
/// Guarantees: norms are computed by the Golub-Kahan-Lanczos method until the residual is 1e-4 of the value, or for 300
///   steps. The result is never above the norm. After 300 steps at n = 4096 it is within 0.1 % of the norm with
///   probability 1 - 1e-9 (spectral_norm of an operator). A float operator is applied in float, so a norm of B - B~
///   below about 1e-7 ||B|| is rounding.
/// Randomness: the start vectors, normals of the random keys.
/// Cost: two products with B and two with B~ for each step.
class ScoreReference {
 public:
  ScoreReference(const Problem<double>& problem, Target target, const Key& draw_key);

  /// Throws std::invalid_argument if the sizes differ, and std::runtime_error if `approximate` gives NaN or infinity.
  template <typename T>
  ScoreErrors compare(const LinearOperator<T>& approximate, const Key& draw_key) const;
  double spectral() const { return spectral_; }

 private:
  LinearOperator<double> exact_;
  double spectral_;
};

/// max_i |(B~ 1)_i - 1|: how far the rows of the scores are from summing to 1; NaN if one of the sums is NaN. Cost: one
/// product with a vector.
template <typename T>
double row_sum_deviation(const LinearOperator<T>& scores);

/// The same for an approximation that has scores. If it provides row_sums, these are used.
template <typename T>
double row_sum_deviation(const Approximation<T>& approximation);

/// min_i D~_ii / D_ii: the smallest estimated row sum as a multiple of the true one. If all row sums are exact it is 1.
/// A value <= 0 means that the normalisation of a row is lost. NaN if one of the estimates is NaN. A quotient that
/// overflows is infinite. Throws std::invalid_argument unless there are as many estimates, scales and true row sums.
template <typename T>
double smallest_denominator(const Denominators<T>& estimated, const arma::vec& log_row_sums);

}  // namespace croquis
