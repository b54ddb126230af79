// Landmarks as means of consecutive tokens.
#pragma once

#include <armadillo>

namespace croquis {

/// d x p means of d segments of consecutive rows of X (n x p), any 1 <= d <= n: the first n mod d segments are one
/// row longer (Nystromformer Sec. 3.2 takes n a multiple of d).
template <typename T>
arma::Mat<T> segment_means(const arma::Mat<T>& x, arma::uword d);

}  // namespace croquis
