// Kernel matrices of points, for the kernels with a bandwidth that Gaussian processes and kernel methods use.
#pragma once

#include <armadillo>
#include <croquis/kernel/kernel_matrix.hpp>
#include <string>
#include <vector>

namespace croquis {

/// Kernels of two points x and y, with bandwidth H (scikit-learn's length_scale).
enum class PointKernel {
  gaussian,  ///< exp(-r^2 / 2), r = ||x - y||_2 / H
  laplace,   ///< exp(-||x - y||_1 / H), the sum of absolute values
  matern32,  ///< (1 + sqrt(3) r) exp(-sqrt(3) r), r = ||x - y||_2 / H
  matern52,  ///< (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r), r = ||x - y||_2 / H
};

/// The names are gaussian, laplace, matern32 and matern52. point_kernel throws std::invalid_argument for any other
/// name.
const std::vector<std::string>& point_kernel_names();
PointKernel point_kernel(const std::string& name);

inline constexpr double kSmallestBandwidth = 1e-100, kLargestBandwidth = 1e100;

/// k(x_i, x_j) for the points in the rows of X (n x p), by blocks.
/// Guarantees: entries are in [0, 1], 1 on the diagonal. Distances are sums over differences of the given points, so
///   entries are accurate to about p u wherever the points lie; the Gaussian ones as gaussian_kernel().
/// Cost of a block of a x b: about 3 a b p flops and a b exponentials.
/// Throws: std::invalid_argument without points, for points that are not finite, and unless kSmallestBandwidth <=
///   bandwidth <= kLargestBandwidth. X / bandwidth must have squares that do not overflow.
KernelMatrix<double> point_kernel_matrix(arma::mat x, PointKernel kernel, double bandwidth);

}  // namespace croquis
