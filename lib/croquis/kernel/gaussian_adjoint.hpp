// The adjoint of products with the Gaussian kernel.
#pragma once

#include <armadillo>
#include <croquis/kernel/gaussian.hpp>

namespace croquis {

/// Derivatives with respect to the points as they are given, before scale and centre, and to Z. The centre is held
/// constant; the kernel does not depend on it.
template <typename T>
struct GaussianAdjoint {
  arma::Mat<T> x, y, z;
};

/// The derivatives of <G, K Z>, the K Z of gaussian_product, for K_ij = exp(-||x_i - y_j||^2 / 2) (a x b), Z (b x c)
/// and a cotangent G (a x c). With D = K o (G Z^T), where o is the entrywise product: dx_i = scale sum_j d_ij (y_j -
/// x_i), dy_j = scale sum_i d_ij (x_i - y_j), dZ = K^T G. K is recomputed in blocks.
/// Throws: std::invalid_argument unless X and Y have one dimension, scale and centre, and for a Z or G of another size.
/// Cost: 2 a b (2 c + 3 p) flops and a b exponentials; memory O((a + b) (p + c)).
template <typename T>
GaussianAdjoint<T> gaussian_adjoint(const CentredPoints<T>& x, const CentredPoints<T>& y, const arma::Mat<T>& z,
                                    const arma::Mat<T>& cotangent);

/// The derivatives of <E, K> with respect to the given rows (a x p) of one set of points with the kernel matrix K (a x
/// a). The diagonal is constant.
/// Throws: std::invalid_argument for a kernel or cotangent of another size.
/// Cost: 2 a^2 p flops.
template <typename T>
arma::Mat<T> gaussian_kernel_adjoint(const CentredPoints<T>& x, const arma::Mat<T>& kernel,
                                     const arma::Mat<T>& cotangent);

}  // namespace croquis
