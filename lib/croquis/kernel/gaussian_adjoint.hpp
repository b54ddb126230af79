// The adjoint of products with the Gaussian kernel.
#pragma once

#include <armadillo>
#include <croquis/kernel/gaussian.hpp>

namespace croquis {

/// Derivatives by the points as they are given, before scale and centre, and by Z. The kernel does not change with its
/// centre, which is held constant.
template <typename T>
struct GaussianAdjoint {
  arma::Mat<T> x, y, z;
};

/// The derivatives of <G, K Z> for K_ij = exp(-||x_i - y_j||^2 / 2) (a x b), Z (b x c) and G (a x c): what
/// gaussian_product computes. With D = K o (G Z^T): dx_i = scale sum_j d_ij (y_j - x_i), dy_j = scale sum_i d_ij (x_i -
/// y_j), dZ = K^T G. K is computed again in blocks.
/// Cost: 2 a b (2 c + 3 p) flops and a b exponentials; memory O((a + b) (p + c)).
template <typename T>
GaussianAdjoint<T> gaussian_adjoint(const CentredPoints<T>& x, const CentredPoints<T>& y, const arma::Mat<T>& z,
                                    const arma::Mat<T>& cotangent);

/// The derivatives of <E, K> by the given rows (a x p) of one set of points with the kernel matrix K (a x a). The
/// diagonal is constant. Cost: 2 a^2 p flops.
template <typename T>
arma::Mat<T> gaussian_kernel_adjoint(const CentredPoints<T>& x, const arma::Mat<T>& kernel,
                                     const arma::Mat<T>& cotangent);

}  // namespace croquis
