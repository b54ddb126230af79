// Rows of a matrix that are the same.
#pragma once

#include <armadillo>

namespace croquis {

struct EqualRows {
  arma::uvec first;  ///< for each set of equal rows the index of the first one, ascending
  arma::uvec kind;   ///< for every row the place of its set in `first`
};

/// The sets of rows of X (n x p) that are equal entry by entry; 0 equals -0. Cost: n log n comparisons of two rows.
template <typename T>
EqualRows equal_rows(const arma::Mat<T>& x);

}  // namespace croquis
