// What a sketch is.
#pragma once

#include <armadillo>
#include <concepts>

namespace croquis {

/// A random matrix S (n x d) with E[S S^T] = I_n: a description (sizes, distribution, key), cheap to copy, applied on
/// the fly. Entry (i, j) depends on the key and (i, j) alone.
///   left(M)   = S^T M   (n x k -> d x k)
///   right(M)  = M S     (k x n -> k x d)
///   expand(M) = S M     (d x k -> n x k)
///   dense()   = S, for tests
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
