// The Nystrom method on the PSD lift of a kernel matrix between queries and keys (Skyformer Sec. 4.2).
#pragma once

#include <armadillo>
#include <croquis/kernel/kernel_matrix.hpp>
#include <memory>

namespace croquis {

/// The 2n points (Q; K) / p^{1/4} of a Gaussian kernel, moved to their common mean: the lift M of the kernelized
/// scores C is their kernel matrix, and C its upper right block. Point i < n is query i, point n + j is key j.
/// Cheap to copy.
template <typename T>
class LiftedPoints {
 public:
  LiftedPoints(const arma::Mat<T>& q, const arma::Mat<T>& k);

  arma::uword n() const { return points_->queries.n_rows; }
  const arma::Mat<T>& queries() const { return points_->queries; }
  const arma::Mat<T>& keys() const { return points_->keys; }
  /// Rows `indices` (each < 2n) of the stacked points.
  arma::Mat<T> points(const arma::uvec& indices) const;
  /// The lift itself, 2n x 2n, by blocks.
  KernelMatrix<T> kernel() const;
  /// max ||x||^2: kernel entries are accurate to about u times this.
  T largest_squared_norm() const { return points_->largest_squared_norm; }

 private:
  struct Points {
    arma::Mat<T> queries, keys;
    T largest_squared_norm;
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

/// Blocks for landmarks at `indices`, duplicates allowed. Cost: 4 n d p + 2 d^2 p flops, 2 n d + d^2 exponentials.
template <typename T>
NystromBlocks<T> nystrom_blocks(const LiftedPoints<T>& lift, const arma::uvec& indices);

/// Relative cut-off for the core's pseudo-inverse: d u (1 + max ||x||^2), the accuracy of its entries.
template <typename T>
T core_cutoff(const LiftedPoints<T>& lift, arma::uword d);

}  // namespace croquis
