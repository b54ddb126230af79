// Rows of a matrix that are the same.
#pragma once

#include <armadillo>

namespace croquis {

struct EqualRows {
  arma::uvec first;  ///< the first row of each kind, in their order
  arma::uvec kind;   ///< of every row, its place in `first`
};

/// Which rows of X (n x p) are equal, entry by entry; 0 and -0 are. Cost: n log n comparisons of two rows.
template <typename T>
EqualRows equal_rows(const arma::Mat<T>& x);

}  // namespace croquis
