// What a sketch is.
#pragma once

#include <armadillo>
#include <concepts>
#include <croquis/core/matrix_layout.hpp>

namespace croquis {

/// A random matrix S (n x d) with E[S S^T] = I_n. The object is a description (sizes, distribution, random key): it is
/// cheap to copy, and products with S are computed on the fly. Entry (i, j) depends only on the description, i and j,
/// and not on what else is computed, in which order or by how many threads.
///   left(M)   = S^T M   (n x k -> d x k)
///   right(M)  = M S     (k x n -> k x d)
///   expand(M) = S M     (d x k -> n x k)
///   dense()   = S (n x d), for tests
/// Throws: std::invalid_argument for a factor M of the wrong size.
template <typename S, typename T>
concept Sketch = std::copyable<S> && requires(const S& s, const arma::Mat<T>& m) {
  { s.rows() } -> std::convertible_to<arma::uword>;
  { s.cols() } -> std::convertible_to<arma::uword>;
  { s.left(m) } -> std::convertible_to<arma::Mat<T>>;
  { s.right(m) } -> std::convertible_to<arma::Mat<T>>;
  { s.expand(m) } -> std::convertible_to<arma::Mat<T>>;
  { s.template dense<T>() } -> std::convertible_to<arma::Mat<T>>;
};

}  // namespace croquis
