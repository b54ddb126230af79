// The Gaussian kernel and its blocks.
#pragma once

#include <armadillo>
#include <croquis/kernel/streamed_extra.hpp>

namespace croquis {

/// K_ij = exp(-||x_i - y_j||^2 / 2), a x b, for points in the rows of X (a x p) and Y (b x p).
/// Guarantees: entries in [0, 1]. Exponents come from one product, x_i.y_j - ||x_i||^2/2 - ||y_j||^2/2, with absolute
///   error of order p u max(||x||^2, ||y||^2), and are cut at 0: centre the points first (the kernel does not change).
/// Cost: 2 a b p flops, a b exponentials.
template <typename T>
arma::Mat<T> gaussian_kernel(const arma::Mat<T>& x, const arma::Mat<T>& y);

/// The kernel matrix of one set of points: symmetric, with an exact unit diagonal.
template <typename T>
arma::Mat<T> gaussian_kernel(const arma::Mat<T>& x);

/// The points scale x_i - centre for the rows of X, moved in blocks when they are used.
template <typename T>
struct MovedPoints {
  const arma::Mat<T>& x;
  T scale = 1;
  const arma::Row<T>* centre = nullptr;  ///< nullptr: 0
};

/// K Z (a x c) for the same K and Z (b x c), without K in memory: streamed_product().
template <typename T>
arma::Mat<T> gaussian_product(const MovedPoints<T>& x, const MovedPoints<T>& y, const arma::Mat<T>& z,
                              const StreamedExtra<T>& extra = {});
template <typename T>
arma::Mat<T> gaussian_product(const arma::Mat<T>& x, const arma::Mat<T>& y, const arma::Mat<T>& z,
                              const StreamedExtra<T>& extra = {}) {
  return gaussian_product<T>(MovedPoints<T>{x}, MovedPoints<T>{y}, z, extra);
}

}  // namespace croquis
