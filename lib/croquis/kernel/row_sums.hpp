// Row sums of exponentials, in two parts.
#pragma once

#include <armadillo>

namespace croquis {

/// The sums of exp(s_ij) over each row, exp(maxima_i) sums_i. A weight, exp(s_ij - maxima_i) / sums_i, needs both
/// parts: beside a score of 1/u the logarithm of a sum, as log 2 of two equal keys, is nothing.
template <typename T>
struct RowSums {
  arma::Col<T> maxima;  ///< the largest score of each row; 0 for Gaussian kernels, whose exponents are at most 0
  arma::Col<T> sums;    ///< of exp(s_ij - maxima_i) over j

  arma::Col<T> logarithms() const { return maxima + arma::log(sums); }
};

/// Those of a matrix whose rows are not divided, such as a Gaussian kernel.
template <typename T>
RowSums<T> no_row_sums(arma::uword rows) {
  return {arma::Col<T>(rows, arma::fill::zeros), arma::Col<T>(rows, arma::fill::ones)};
}

}  // namespace croquis
