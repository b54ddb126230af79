// Landmarks that are means of consecutive tokens.
#pragma once

#include <armadillo>

namespace croquis {

/// The means (d x p) of d segments of consecutive rows of X (n x p), for any 1 <= d <= n. The first n mod d segments
/// are one row longer. (Nystromformer, "Landmarks selection", assumes that n is a multiple of d.)
/// Cost: one pass over X.
/// Throws: std::invalid_argument unless 1 <= d <= n.
template <typename T>
arma::Mat<T> segment_means(const arma::Mat<T>& x, arma::uword d);

/// The transpose of segment_means: every token of segment s gets row s of X (d x p) divided by the length of the
/// segment (n x p). Throws std::invalid_argument unless 1 <= d <= n.
template <typename T>
arma::Mat<T> spread_segments(const arma::Mat<T>& x, arma::uword n);

}  // namespace croquis
