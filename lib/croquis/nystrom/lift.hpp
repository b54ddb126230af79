// The Nystrom method on the PSD lift of a kernel matrix between queries and keys (Skyformer Sec. 4.2).
#pragma once

#include <armadillo>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/kernel/kernel_matrix.hpp>
#include <memory>
#include <mutex>

namespace croquis {

/// The 2n points (Q; K) / p^{1/4} of a Gaussian kernel, centred about their common mean. Their kernel matrix is the
/// lift M (2n x 2n) of the kernelized scores C, and C is its upper right block. Point i < n is query i, and point n + j
/// is key j. The object is cheap to copy. Kernels and products centre the points in blocks. Thread-safe.
template <typename T>
class LiftedPoints {
 public:
  LiftedPoints(arma::Mat<T> q, arma::Mat<T> k);
  /// The same without copies of Q and K.
  LiftedPoints(std::shared_ptr<const arma::Mat<T>> q, std::shared_ptr<const arma::Mat<T>> k);

  arma::uword n() const { return points_->q->n_rows; }
  MovedPoints<T> moved_queries() const { return moved(*points_->q); }
  MovedPoints<T> moved_keys() const { return moved(*points_->k); }
  /// Rows `indices` (each < 2n) of (Q; K) as they are given, neither scaled nor centred; and the centred points of such
  /// rows, which must outlive the result.
  arma::Mat<T> given(const arma::uvec& indices) const;
  MovedPoints<T> moved(const arma::Mat<T>& given) const { return {given, points_->scale, &points_->centre}; }
  /// The same rows, scaled and centred.
  arma::Mat<T> points(const arma::uvec& indices) const;
  /// The lift itself (2n x 2n), by blocks.
  KernelMatrix<T> kernel() const;
  /// max ||x||^2. Kernel entries are accurate to about u times this, and at worst to about 128 u.
  T largest_squared_norm() const;

 private:
  struct Points {
    std::shared_ptr<const arma::Mat<T>> q, k;
    T scale = 1;
    arma::Row<T> centre;  // of the scaled points
    mutable std::once_flag norm_once;
    mutable T largest_squared_norm = 0;
  };
  std::shared_ptr<const Points> points_;
};

/// The three blocks of a Nystrom approximation of the lift: C~ = left W^+ right^T, with W = core.
template <typename T>
struct NystromBlocks {
  arma::Mat<T> left;   ///< kappa(queries, landmarks), n x d
  arma::Mat<T> core;   ///< kappa(landmarks, landmarks), d x d, unit diagonal
  arma::Mat<T> right;  ///< kappa(keys, landmarks), n x d
};

/// The blocks for landmarks at `indices` (each < 2n), which may contain duplicates.
/// Cost: 4 n d p + 2 d^2 p flops and 2 n d + d^2 exponentials.
template <typename T>
NystromBlocks<T> nystrom_blocks(const LiftedPoints<T>& lift, const arma::uvec& indices);

/// The relative cut-off for the pseudo-inverse of the core, d u (1 + min(max ||x||^2, 128)), which is the accuracy of
/// its entries.
template <typename T>
T core_cutoff(const LiftedPoints<T>& lift, arma::uword d);

}  // namespace croquis
