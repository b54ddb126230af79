// Rows of unit length.
#pragma once

#include <armadillo>

namespace croquis {

/// x_i / ||x_i|| for every row; a zero row stays zero. No overflow or underflow: a row is scaled by its largest entry
/// first.
template <typename T>
arma::Mat<T> unit_rows(arma::Mat<T> x);

}  // namespace croquis
