// The Gaussian kernel and its blocks.
#pragma once

#include <algorithm>
#include <armadillo>
#include <croquis/core/serial_blas.hpp>
#include <croquis/kernel/direct_exponents.hpp>
#include <croquis/kernel/streamed_extra.hpp>

namespace croquis {

/// The centred points scale x_i - centre for the rows x_i of X (n x p). They are scaled and centred in blocks, when
/// they are used.
template <typename T>
struct CentredPoints {
  const arma::Mat<T>& x;
  T scale = 1;
  const arma::Row<T>* centre = nullptr;  ///< p numbers; nullptr means 0

  T centre_norm() const {
    const SerialBlas serial;
    return centre ? arma::norm(*centre) : T(0);
  }
};

/// max ||scale x_i - centre||^2.
template <typename T>
T largest_squared_norm(const CentredPoints<T>& points);

/// K_ij = exp(-||x_i - y_j||^2 / 2) (a x b), for points with the same scale and centre in the rows of X (a x p) and Y
/// (b x p).
/// Guarantees: entries are in [0, 1]. Exponents are computed by one product, x_i.y_j - ||x_i||^2/2 - ||y_j||^2/2,
///   limited to at most 0, or from differences of the given points where the product would lose too much
///   (DirectExponents, with w_ij). So the error of an entry is at most about p u min(w_ij, 128), whatever the norms
///   are; it is usually without the factor p, because rounding errors partly cancel.
/// Cost: 2 a b p flops and a b exponentials; for points far from their centre 3 a b p flops more, which takes three
///   times as long.
/// Throws: std::invalid_argument unless X and Y have one dimension, one scale and one centre (the same row).
template <typename T>
arma::Mat<T> gaussian_kernel(const CentredPoints<T>& x, const CentredPoints<T>& y);
template <typename T>
arma::Mat<T> gaussian_kernel(const arma::Mat<T>& x, const arma::Mat<T>& y) {
  return gaussian_kernel<T>(CentredPoints<T>{x}, CentredPoints<T>{y});
}

/// The kernel matrix of one set of points (a x a). It is symmetric, and its diagonal is exactly 1.
template <typename T>
arma::Mat<T> gaussian_kernel(const CentredPoints<T>& x);
template <typename T>
arma::Mat<T> gaussian_kernel(const arma::Mat<T>& x) {
  return gaussian_kernel<T>(CentredPoints<T>{x});
}

/// An estimate, not a bound, of the error of a kernel entry in units of u, for points with this largest squared norm
/// about their centre. It leaves out the factor p and what a distant centre adds to w_ij.
template <typename T>
T gaussian_entry_error(T largest_squared_norm) {
  return 1 + std::min(largest_squared_norm, kProductRounding<T>);
}

/// K Z (a x c) for the same K and for Z (b x c), by streamed_product(), without storing K.
/// Cost: that of gaussian_kernel, and 2 a b c flops.
/// Throws: std::invalid_argument as gaussian_kernel, and unless Z has b rows.
template <typename T>
arma::Mat<T> gaussian_product(const CentredPoints<T>& x, const CentredPoints<T>& y, const arma::Mat<T>& z,
                              const StreamedExtra<T>& extra = {});
template <typename T>
arma::Mat<T> gaussian_product(const arma::Mat<T>& x, const arma::Mat<T>& y, const arma::Mat<T>& z,
                              const StreamedExtra<T>& extra = {}) {
  return gaussian_product<T>(CentredPoints<T>{x}, CentredPoints<T>{y}, z, extra);
}

}  // namespace croquis
