// Errors of an approximation against the exact output.
#pragma once

#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>

namespace croquis {

/// Errors of O~ against O. Relative ones divide by the same norm of O, and are NaN when O = 0.
struct OutputErrors {
  double spectral_abs = 0, spectral_rel = 0;    ///< ||O - O~||
  double frobenius_abs = 0, frobenius_rel = 0;  ///< ||O - O~||_F
  double max_abs = 0;                           ///< max |O_ij - O~_ij|
};

/// The norms of an exact output, taken once for many comparisons.
class OutputReference {
 public:
  explicit OutputReference(arma::mat exact);

  /// Throws std::runtime_error when `approximate` has NaN or Inf, std::invalid_argument when sizes differ.
  OutputErrors compare(const arma::mat& approximate) const;
  double spectral() const { return spectral_; }

 private:
  arma::mat exact_;
  double spectral_, frobenius_;
};

/// max_i |(B~ 1)_i - 1|: how far the rows of the scores are from summing to 1. One product with a vector.
template <typename T>
double row_sum_deviation(const LinearOperator<T>& scores);

/// min_i D~_ii / D_ii: the smallest estimated row sum as a multiple of the true one. 1 is exact, and a value <= 0 a
/// row whose normalisation is lost.
template <typename T>
double smallest_denominator(const Denominators<T>& estimated, const arma::vec& log_row_sums);

}  // namespace croquis
